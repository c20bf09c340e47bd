"""How far published counts are from true ones, cell by cell: the three distances of the R package cellKey.

For a true count n and a published count y

    d1 = |y - n|,   d2 = |y - n| / n,   d3 = |sqrt(y) - sqrt(n)|.

d1 is what one user notices, d2 what a rate inherits, d3 lies between them: noise counts less the larger the count,
but a lost single person counts as 1. They are those of cellKey's `ck_cnt_measures`, which takes them from the
project "Harmonised protection of census data in the ESS" (Eurostat, 2017), with two differences. Cells with a true
count of 0 are left out unless asked for; cellKey leaves out those published as 0, and with them every count that was
lost. And d2 of a true 0 does not exist, so such a cell is never in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.count_pairs import ranked
from discreet.errors import NothingToCountError
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.accuracy.count_pairs import PairTimes
    from discreet.arrays import Floats, Ints

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
ABSOLUTE_CUTS = (0, 1, 2, 3, 4, 5, 10, 15, 20, 50, 100)
RELATIVE_CUTS = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 1)


@dataclass(frozen=True)
class Distance:
    """How one distance is spread over cells.

    Attributes:
        cells: the number of cells.
        mean: the mean.
        quantiles: by level, from 0 (the smallest) to 1 (the largest).
        within: by cut point, the share of cells whose distance is at most that.
    """

    cells: int
    mean: float
    quantiles: dict[float, float]
    within: dict[float, float]

    @property
    def median(self) -> float:
        """Return the distance that half of the cells do not exceed."""
        return self.quantiles[0.5]

    @property
    def largest(self) -> float:
        """Return the largest distance."""
        return self.quantiles[1.0]


@dataclass(frozen=True)
class Distances:
    """The three distances, and how often which noise was added.

    Attributes:
        absolute: d1.
        relative: d2, of cells with a true count above 0.
        root: d3.
        noise: the number of cells by published minus true count, all cells.
        zeros: whether cells with a true count of 0 are in d1 and d3.
        negatives: the number of cells in d3 that are published below 0.
    """

    absolute: Distance
    relative: Distance
    root: Distance
    noise: dict[int, int]
    zeros: bool
    negatives: int

    @property
    def largest(self) -> int:
        """Return the largest distance of any cell, empty ones among them."""
        return max((abs(noise) for noise in self.noise), default=0)

    def results(self) -> list[Result]:
        """Return the mean of each distance, with its spread in the sentence."""
        d1, d2, d3 = self.absolute, self.relative, self.root
        above = "cells with a true count of 0 are left out"
        which = "cells with a true count of 0 are among them" if self.zeros else above
        root = f"{self.negatives:,} published below 0 are taken as 0 under the root"
        counts = "counts" if self.zeros else "counts above 0"
        return [
            Result(
                name="mean_absolute_distance",
                equation="mean of d1 = |published - true|",
                value=d1.mean,
                unit="persons",
                sentence=f"{d1.cells:,} {counts} are published {d1.mean:.2f} away from the true one on average, half "
                f"of them at most {d1.median:g}, 19 of 20 at most {d1.quantiles[0.95]:g}.",
                assumptions=(which,),
            ),
            Result(
                name="largest_distance",
                equation="max of d1 = |published - true|, empty cells among them",
                value=float(self.largest),
                unit="persons",
                sentence=f"No cell, empty or not, is further away than {self.largest}.",
            ),
            Result(
                name="unchanged_counts",
                equation="share of published = true among true > 0",
                value=d2.within[0],
                unit="1",
                sentence=f"{d2.within[0]:.1%} of the counts above 0 are published as they are.",
                assumptions=(above,),
            ),
            Result(
                name="mean_relative_distance",
                equation="mean of d2 = |published - true| / true",
                value=d2.mean,
                unit="1",
                sentence=f"Relative to the true count that is {d2.mean:.1%} on average; {d2.within[0.1]:.1%} of counts "
                f"above 0 are within 10% of the true one and {d2.within[0.5]:.1%} within 50%.",
                assumptions=(above,),
            ),
            Result(
                name="mean_root_distance",
                equation="mean of d3 = |sqrt(published) - sqrt(true)|",
                value=d3.mean,
                unit="root of persons",
                sentence=f"Square roots of published and true counts differ by {d3.mean:.3f} on average; 19 of 20 "
                f"differ by at most {d3.quantiles[0.95]:.3f}, all by at most {d3.largest:.3f}.",
                assumptions=(which, *([root] if self.negatives else [])),
            ),
        ]


def distances(found: PairTimes, *, zeros: bool = False) -> Distances:
    """Return the three distances of published counts.

    Args:
        found: true and published counts.
        zeros: whether cells with a true count of 0 are part of the absolute and the root distance.

    >>> from discreet.accuracy.count_pairs import pair_times
    >>> spread = distances(pair_times([4, 4, 0], [1, 4, 0]))
    >>> spread.absolute.mean, spread.relative.mean, spread.root.mean
    (1.5, 0.375, 0.5)
    """
    occupied = found.occupied
    if not occupied.cells:
        raise NothingToCountError(
            "No cell has a true count above 0, so there is no distance to measure. See that the true counts are those "
            "of these tables."
        )
    measured = found if zeros else occupied
    noise, cells = measured.by_noise
    root = np.abs(np.sqrt(np.maximum(measured.published, 0)) - np.sqrt(measured.true))
    return Distances(
        _spread(np.abs(noise), cells, ABSOLUTE_CUTS),
        _spread(np.abs(occupied.noise) / occupied.true, occupied.times, RELATIVE_CUTS),
        _spread(root, measured.times, RELATIVE_CUTS),
        dict(zip(*(each.tolist() for each in found.by_noise), strict=True)),
        zeros,
        measured.among(measured.published < 0),
    )


def _spread(distance: Ints | Floats, times: Ints, cuts: Sequence[float]) -> Distance:
    cells, order = int(times.sum()), ranked(distance, times)
    return Distance(
        cells,
        float(distance @ times) / cells,
        dict(zip(LEVELS, order.quantiles(LEVELS), strict=True)),
        dict(zip(cuts, order.within(cuts), strict=True)),
    )
