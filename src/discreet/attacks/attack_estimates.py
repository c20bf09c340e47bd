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
"""An attack returns estimates from what an attacker sees; those of users register like ours."""
ATTACKS: Registry[Attack] = Registry("discreet.attacks", "attack")
CERTAIN = 1 - 1e-9
"""Confidence from which on an attacker is certain: the law of noise leaves no other count."""


class Truth(Protocol):
    """The true counts, for scoring alone."""

    @property
    def noise(self) -> AssumedNoise:
        """Return the law of the noise as it really was."""

    @property
    def bound(self) -> float:
        """Return the largest noise that the release could carry."""

    @property
    def other(self) -> Truth:
        """Return the truth of the second release."""

    @property
    def answer(self) -> int:
        """Return the true number of persons that the query interface is about."""

    def counts(self, population: str) -> Ints:
        """Return the true count of every cell, in the order of the published ones."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimateMethod:
    """How estimates of one kind were made, and how they are to be scored.

    Attributes:
        attack: the name of the attack.
        variant: which of its ways, "" if it has one.
        subject: what is estimated, in words, as in "counts".
        method: what was done, in a sentence.
        assumptions: what must be true for the confidence to hold.
        cut_off: what was left out, "" if nothing was.
        sentence: what was learnt in one sentence, given the score, where the general one does not do.
        rerun: whether success is predicted by repeating the attack on simulated releases.
        sampled: whether target cells alone were estimated (`attacks.target_cells`).
        answers: whether estimates are answers, 1 for yes, and no counts that have a size.
        needs_other: whether the truth of a second release is needed to score it.
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
        """Return attack and variant."""
        return f"{self.attack}: {self.variant}" if self.variant else self.attack


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackEstimates(EstimateMethod):
    """Estimates of one kind.

    Attributes:
        estimate: the estimates, whole numbers.
        confidence: the attacker's own probability that each is right.
        actual: looks the true values up.
        naive: what she would have said without the attack; None where she could say nothing.
        groups: names of the statistics or areas the estimates belong to.
        group_of: for every estimate the number of its group.
        cells: the places of the estimated cells by population, in the order of the estimates, where they are cells.
        unknown_of: for every estimate the number of its unknown: rates count cells that are one unknown once.
        predicted: the share that her own model expects to be right, by class of true count (`scoring.CLASSES`).
        class_chances: for every estimate the believed probability of each class, from which `predicted` follows.
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
        """Return which estimates the attacker is certain of."""
        return self.confidence >= CERTAIN


@dataclass(frozen=True, eq=False)
class CellEstimates:
    """What an attack says about cells of one population.

    Attributes:
        view: the population as published.
        places: which cells.
        estimate: their counts, not yet rounded.
        confidence: how sure the attacker is of each.
    """

    view: PopulationCounts
    places: Ints
    estimate: Floats
    confidence: Floats


def nearest_possible(estimate: Floats, published: Floats, noise: AssumedNoise) -> Ints:
    """Return the nearest whole counts that the published ones allow.

    No count is negative, none is farther than the bound from what was published and,
    where zeros stay zeros, whatever is published as something else is not empty.
    """
    found = np.rint(estimate).astype(np.int64)
    lowest = np.zeros(len(found), dtype=np.int64)
    if noise.shared != "nothing":
        seen = np.rint(published).astype(np.int64)
        if np.isfinite(noise.bound):
            reach = int(noise.bound)
            # What was negative is published as 0: a count may then be anything up to the bound.
            found = np.clip(found, seen - reach, seen + reach)
        if not noise.zeros_are_noisy:
            lowest = (seen != 0).astype(np.int64)
    return np.maximum(found, lowest)


def cells_finding(sight: AttackerView, parts: Sequence[CellEstimates], **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    """Return the finding of estimates of several populations."""
    several = len(sight.populations) > 1
    groups: list[str] = []
    numbers = []
    for part in parts:
        layout = part.view.layout
        numbers.append(layout.statistic_of[part.places] + len(groups))
        groups += [f"{name} of {layout.name}" if several else name for name in layout.names]

    def actual(truth: Truth) -> Ints:
        return np.concatenate([truth.counts(part.view.layout.name)[part.places] for part in parts])

    return AttackEstimates(
        estimate=_joined([nearest_possible(p.estimate, p.view.published[p.places], sight.noise) for p in parts]),
        confidence=_joined([p.confidence for p in parts]),
        naive=_joined([nearest_possible(s := p.view.published[p.places], s, sight.noise) for p in parts]),
        actual=actual,
        groups=tuple(groups),
        cells=tuple((part.view.layout.name, part.places) for part in parts),
        group_of=_joined(numbers),
        unknown_of=_unknowns(sight, parts),
        **about,
    )


def _unknowns(sight: AttackerView, parts: Sequence[CellEstimates]) -> Ints:
    """Return the number of every estimate's unknown, counted through all populations."""
    found, start = {}, 0
    for joint in sight.units():
        numbers = joint.equations.unknowns
        for view, cells in joint.parts():
            found[view.layout.name] = start + numbers[cells]
        start += int(numbers.max()) + 1
    return _joined([found[part.view.layout.name][part.places] for part in parts])


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
