"""What an attack returns: estimates, and how sure the attacker is of each. The truth is looked up later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.belief import CountNoise
    from discreet.attacks.scoring import Score

CERTAIN = 1 - 1e-9
"""Confidence from which on an attacker is certain: the law of noise leaves no other count."""


class Truth(Protocol):
    """The true counts, for scoring alone."""

    @property
    def noise(self) -> CountNoise:
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
class Finding:
    """Estimates of one kind.

    Attributes:
        attack: the name of the attack.
        variant: which of its ways, "" if it has one.
        subject: what is estimated, in words, as in "counts".
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
        rerun: whether success is predicted by repeating the attack on simulated releases instead.
        sampled: whether target cells alone were estimated (`attacks.targets`).
        answers: whether estimates are answers, 1 for yes, and no counts that have a size.
        needs_other: whether the truth of a second release is needed to score it.
        sentence: what was learnt in one sentence, given the score, where the general one does not do.
        method: what was done, in a sentence.
        assumptions: what must be true for the confidence to hold.
        cut_off: what was left out, "" if nothing was.
    """

    attack: str
    subject: str
    estimate: Ints
    confidence: Floats
    actual: Callable[[Truth], Ints]
    variant: str = ""
    naive: Ints | None = None
    groups: tuple[str, ...] = ()
    group_of: NDArray[np.signedinteger] | None = None
    cells: tuple[tuple[str, Ints], ...] = ()
    unknown_of: Ints | None = None
    predicted: Mapping[str, float] = field(default_factory=dict)
    class_chances: Floats | None = None
    rerun: bool = False
    sampled: bool = False
    answers: bool = False
    needs_other: bool = False
    sentence: Callable[[Score], str] | None = None
    method: str = ""
    assumptions: tuple[str, ...] = field(default=())
    cut_off: str = ""

    @property
    def name(self) -> str:
        """Return attack and variant."""
        return f"{self.attack}: {self.variant}" if self.variant else self.attack

    @property
    def certain(self) -> Flags:
        """Return which estimates the attacker is certain of."""
        return self.confidence >= CERTAIN
