"""Estimates that attacks return, with the attacker's confidence in each; true values are added later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from discreet.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attacker_view import AssumedNoise, AttackerView, PopulationCounts
    from discreet.attacks.scoring import Score

Attack: TypeAlias = "Callable[[AttackerView], Sequence[AttackEstimates]]"
"""A function from the attacker's view to estimates. Attacks of users are registered like the built-in ones."""
ATTACKS: Registry[Attack] = Registry("discreet.attacks", "attack")
CERTAIN = 1 - 1e-9
"""Minimum confidence of a certain estimate: the noise distribution excludes every other count."""


class Truth(Protocol):
    """The true counts, used only for scoring."""

    @property
    def noise(self) -> AssumedNoise:
        """Return the actual noise distribution."""

    @property
    def bound(self) -> float:
        """Return the noise bound of the release."""

    @property
    def other(self) -> Truth:
        """Return the true counts of the second release."""

    @property
    def answer(self) -> int:
        """Return the true total behind the query interface."""

    def counts(self, population: str) -> Ints:
        """Return the true count of every cell, in the order of the published cells."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimateMethod:
    """The method of a set of estimates, and how to score them.

    Attributes:
        attack: the name of the attack.
        variant: the variant of the attack; "" if it has only one.
        subject: the estimated quantity in words, e.g. "counts".
        method: the method in words.
        assumptions: the conditions under which the confidence is valid.
        cut_off: the part of the attack that was not completed; "" if it is complete.
        sentence: returns the outcome as a sentence, given the score; None for the general sentence.
        rerun: whether success is predicted by repeating the attack on simulated releases.
        sampled: whether only target cells were estimated (`attacks.target_cells`).
        answers: whether the estimates are yes/no answers (1 for yes) instead of counts.
        needs_other: whether scoring needs the true counts of a second release.
    """

    attack: str
    subject: str
    variant: str = ""
    method: str = ""
    assumptions: tuple[str, ...] = field(default=())
    cut_off: str = ""
    sentence: Callable[[Score], str] | None = None
    rerun: bool = False
    sampled: bool = False
    answers: bool = False
    needs_other: bool = False

    @property
    def name(self) -> str:
        """Return the names of attack and variant."""
        return f"{self.attack}: {self.variant}" if self.variant else self.attack


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackEstimates(EstimateMethod):
    """The estimates of one attack or variant.

    Attributes:
        estimate: the estimates, whole numbers.
        confidence: the attacker's probability that each estimate is correct.
        actual: returns the true values.
        naive: the estimates without the attack; None if there are none.
        groups: names of the statistics or areas the estimates belong to.
        group_of: the group number of every estimate.
        cells: the positions of the estimated cells by population, in the order of the estimates; empty if the
            estimates are not cells.
        unknown_of: the number of the unknown of every estimate; rates count cells with the same unknown once.
        predicted: the share that the attacker's model expects to be correct, by class of true count
            (`scoring.CLASSES`).
        class_chances: the posterior probability of each class for every estimate, from which `predicted` follows.
    """

    estimate: Ints
    confidence: Floats
    actual: Callable[[Truth], Ints]
    naive: Ints | None = None
    groups: tuple[str, ...] = ()
    group_of: NDArray[np.signedinteger] | None = None
    cells: tuple[tuple[str, Ints], ...] = ()
    unknown_of: Ints | None = None
    predicted: Mapping[str, float] = field(default_factory=dict)
    class_chances: Floats | None = None

    @property
    def certain(self) -> Flags:
        """Return which estimates are certain."""
        return self.confidence >= CERTAIN


@dataclass(frozen=True, eq=False)
class CellEstimates:
    """Estimates of an attack for cells of one population.

    Attributes:
        view: the published counts of the population.
        places: the positions of the cells.
        estimate: the estimated counts before rounding.
        confidence: the attacker's probability that each is correct.
    """

    view: PopulationCounts
    places: Ints
    estimate: Floats
    confidence: Floats


def nearest_possible(estimate: Floats, published: Floats, noise: AssumedNoise) -> Ints:
    """Return the nearest whole counts that are feasible given the published ones.

    Counts are non-negative and within the noise bound of the published value. If zeros have no noise, a cell with a
    non-zero published value is not empty.
    """
    found = np.rint(estimate).astype(np.int64)
    lowest = np.zeros(len(found), dtype=np.int64)
    if noise.shared != "nothing":
        seen = np.rint(published).astype(np.int64)
        if np.isfinite(noise.bound):
            reach = int(noise.bound)
            # Negative values are published as 0: the count is then any number up to the bound.
            found = np.clip(found, seen - reach, seen + reach)
        if not noise.zeros_are_noisy:
            lowest = (seen != 0).astype(np.int64)
    return np.maximum(found, lowest)


def cells_finding(attacker: AttackerView, parts: Sequence[CellEstimates], **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    """Return the estimates of several populations as one set."""
    several = len(attacker.populations) > 1
    groups: list[str] = []
    numbers = []
    for part in parts:
        layout = part.view.layout
        numbers.append(layout.statistic_of[part.places] + len(groups))
        groups += [f"{name} of {layout.name}" if several else name for name in layout.names]

    def actual(truth: Truth) -> Ints:
        return np.concatenate([truth.counts(part.view.layout.name)[part.places] for part in parts])

    return AttackEstimates(
        estimate=_joined([nearest_possible(p.estimate, p.view.published[p.places], attacker.noise) for p in parts]),
        confidence=_joined([p.confidence for p in parts]),
        naive=_joined([nearest_possible(s := p.view.published[p.places], s, attacker.noise) for p in parts]),
        actual=actual,
        groups=tuple(groups),
        cells=tuple((part.view.layout.name, part.places) for part in parts),
        group_of=_joined(numbers),
        unknown_of=_unknowns(attacker, parts),
        **about,
    )


def _unknowns(attacker: AttackerView, parts: Sequence[CellEstimates]) -> Ints:
    """Return the number of the unknown of every estimate, numbered across all populations."""
    found, start = {}, 0
    for joint in attacker.units():
        numbers = joint.equations.unknowns
        for view, cells in joint.parts():
            found[view.layout.name] = start + numbers[cells]
        start += int(numbers.max()) + 1
    return _joined([found[part.view.layout.name][part.places] for part in parts])


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
