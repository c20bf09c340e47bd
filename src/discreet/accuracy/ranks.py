"""Rank changes of areas: who reads a list of areas by size sees some of them in another place.

The rank of an area is that of its count among all areas, the largest first; areas of one size share the mean of
their ranks. The correlation is Spearman's: that of the ranks before and after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Floats, Ints

NEARLY = 0.9999
FEWEST = 2
"""Areas that can be put in an order."""


@dataclass(frozen=True)
class RankChanges:
    """How areas moved in the list by size.

    Attributes:
        areas: how many areas have persons, true or published.
        moved: how many of them have another rank.
        mean: the mean number of places that these moved.
        largest: the largest number of places.
        worst: the area that moved most.
        correlation: Spearman's, of true and published counts.
    """

    areas: int
    moved: int
    mean: float
    largest: float
    worst: str
    correlation: float

    def results(self) -> list[Result]:
        """Return the share of areas that moved, and how far."""
        if not self.moved:
            return [self._still()]
        alike = "areas of one size share the mean of their ranks, so that noise which separates them moves them"
        return [
            Result(
                name="areas_moved",
                value=self.moved / self.areas,
                unit="1",
                sentence=f"{self.moved:,} of {self.areas:,} areas have another place in the list by size; "
                f"these moved {self.mean:.1f} places on average.",
                assumptions=(alike, "areas without persons are left out"),
                equation="share of areas with rank(published) != rank(true)",
            ),
            Result(
                name="largest_rank_change",
                value=self.largest,
                unit="places",
                sentence=f"{self.worst} moved most: {self.largest:g} places of {self.areas:,}.",
                worst=self.worst,
                assumptions=(alike,),
                equation="max |rank(published) - rank(true)|",
            ),
            Result(
                name="rank_correlation",
                value=self.correlation,
                unit="1",
                sentence=f"The rank correlation of areas before and after is {_told(self.correlation)}.",
                assumptions=(alike,),
                equation="Spearman's correlation of true and published counts",
            ),
        ]

    def _still(self) -> Result:
        return Result(
            name="areas_moved",
            value=0.0,
            unit="1",
            sentence=f"All {self.areas:,} areas keep their place in the list by size.",
            assumptions=("areas without persons are left out",),
            equation="share of areas with rank(published) != rank(true)",
        )


def rank_changes(areas: Sequence[str], true: Ints, published: Ints) -> RankChanges | None:
    """Return how areas moved; None where fewer than two have persons."""
    there = (true > 0) | (published > 0)
    if there.sum() < FEWEST:
        return None
    before, after = (_ranks(counts[there]) for counts in (true, published))
    moves = np.abs(after - before)
    most = int(moves.argmax())
    names = [name for name, is_there in zip(areas, there.tolist(), strict=True) if is_there]
    return RankChanges(
        areas=len(names),
        moved=int((moves > 0).sum()),
        mean=float(moves[moves > 0].mean()) if moves.any() else 0.0,
        largest=float(moves.max()),
        worst=names[most],
        correlation=_correlation(before, after),
    )


def _told(correlation: float) -> str:
    return "above 0.9999" if correlation > NEARLY else f"{correlation:.4f}"


def _ranks(counts: Ints) -> Floats:
    """Return the rank of every count, the largest first; equal ones have the mean of their ranks."""
    _, place, times = np.unique(-counts, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    found: Floats = (last - (times - 1) / 2)[place]
    return found


def _correlation(before: Floats, after: Floats) -> float:
    """Return the correlation of ranks; areas that are all of one size are in the same order, whatever comes."""
    if before.std() == 0 or after.std() == 0:
        return float(before.std() == after.std())
    return float(np.corrcoef(before, after)[0, 1])
