"""What a law of noise is expected to do to the counts of a release, whichever draw it got.

One release is one draw. For every true count n and its law P(x | n) the means over all draws are exact sums:

    E d1 = E|y - n|,   E d2 = E|y - n| / n,   P(y <= 0),   with y = n + x, or max(n + x, 0) where nothing is negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import NothingToCountError
from discreet.results import Result

if TYPE_CHECKING:
    from discreet.accuracy.count_pairs import PairTimes
    from discreet.arrays import Floats, Ints
    from discreet.noise.by_count import LawByCount


@dataclass(frozen=True)
class Expected:
    """Means over all draws of the noise, of counts above 0.

    Attributes:
        absolute: of the distance to the true count.
        relative: of that distance as a share of the true count.
        vanished: of the share that is published as 0 or less.
        made_up: of the share of empty cells that is published above 0.
    """

    absolute: float
    relative: float
    vanished: float
    made_up: float

    def results(self) -> list[Result]:
        """Return the three means."""
        counts = "cells with a true count of 0 are left out"
        return [
            Result(
                name="expected_absolute_distance",
                equation="mean over true > 0 of E|published - true|",
                value=self.absolute,
                unit="persons",
                sentence=f"Over all draws of the noise a count above 0 is {self.absolute:.2f} off on average, "
                f"{self.relative:.1%} of the true count, and {self.vanished:.1%} of them vanish.",
                assumptions=(counts,),
            ),
            Result(
                name="expected_relative_distance",
                equation="mean over true > 0 of E|published - true| / true",
                value=self.relative,
                unit="1",
                sentence=f"As a share of the true count that is {self.relative:.1%}.",
                assumptions=(counts,),
            ),
            Result(
                name="expected_vanished",
                equation="mean over true > 0 of P(published <= 0)",
                value=self.vanished,
                unit="1",
                sentence=f"{self.vanished:.1%} of the counts above 0 are expected to be published as 0 or less.",
                assumptions=(counts,),
            ),
            Result(
                name="expected_made_up",
                equation="P(published > 0 | true = 0)",
                value=self.made_up,
                unit="1",
                sentence=f"{self.made_up:.1%} of the empty cells are expected to be published above 0.",
            ),
        ]


def expected(found: PairTimes, law: LawByCount) -> Expected:
    """Return what a law does on average to true counts above 0.

    >>> from discreet.noise.by_count import by_count
    >>> from discreet.noise.uniform import Uniform
    >>> from discreet.accuracy.count_pairs import pair_times
    >>> expected(pair_times([1, 4], [1, 4]), by_count(Uniform(bound=1))).vanished
    0.16666666666666666
    """
    occupied = found.occupied
    if not occupied.cells:
        raise NothingToCountError("No cell has a true count above 0, so nothing is expected of any.")
    counts, place = np.unique(occupied.true, return_inverse=True)
    weight = np.bincount(place, occupied.times) / occupied.cells
    distance, gone = _distance(law, counts), _vanishing(law, counts)
    made_up = float(law.laws[0][law.reach + 1 :].sum())
    return Expected(float(weight @ distance), float(weight @ (distance / counts)), float(weight @ gone), made_up)


def _distance(law: LawByCount, counts: Ints) -> Floats:
    """Return E|y - n| of every true count."""
    size = np.abs(np.arange(-law.reach, law.reach + 1))
    whole = np.stack([row @ size for row in law.laws])[law.rows(counts)]
    if not law.non_negative:
        return whole
    # Where n + x would be below 0 the distance is n instead of |x|.
    beyond = np.stack([np.cumsum(row * size) for row in law.laws])[law.rows(counts), _below(law, counts)]
    chance = np.stack([np.cumsum(row) for row in law.laws])[law.rows(counts), _below(law, counts)]
    cut = counts < law.reach
    return whole + np.where(cut, counts * chance - beyond, 0.0)


def _vanishing(law: LawByCount, counts: Ints) -> Floats:
    """Return P(y <= 0) = P(x <= -n) of every true count."""
    until = np.stack([np.cumsum(row) for row in law.laws])
    chance = until[law.rows(counts), np.clip(law.reach - counts, 0, None)]
    return np.where(counts <= law.reach, chance, 0.0)


def _below(law: LawByCount, counts: Ints) -> Ints:
    """Return the place of the largest noise that leads below 0."""
    return np.clip(law.reach - counts - 1, 0, None)
