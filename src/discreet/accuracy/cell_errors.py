"""Errors of published counts, cell by cell: distances, errors by size of the true count, and lost counts.

For a true count n and a published count y

    d1 = |y - n|,   d2 = |y - n| / n,   d3 = |sqrt(y) - sqrt(n)|.

d1 is the error of one count, d2 the error that a rate inherits. d3 lies between them: noise matters less the larger the
count, but a lost single person counts as 1. The distances are those of `ck_cnt_measures` in the R package cellKey,
which takes them from the project "Harmonised protection of census data in the ESS" (Eurostat, 2017), with two
differences. Cells with a true count of 0 are excluded by default; cellKey excludes those published as 0, and with them
every lost count. d2 does not exist for a true count of 0, so such a cell is always excluded from it.

The noise of a cell hardly depends on its count, so its effect is a question of size. The classes of true counts: 1-2,
which rules of disclosure control protect (usual threshold: 3); 3-9, where a bound of 5 is as large as the count; then
steps of a factor of 5. Census noise, with a standard deviation of 1 to 3, is up to tens of percent of a count of 10-49,
a few percent of 50-249, and about one percent or less of 250 and more. Empty cells are a class of their own if any of
them is published as non-zero. The thresholds of the relative error |y - n| / n, 20, 50 and 100 %, are those of the
paper (section "Demographics at high geographic detail"); an error of exactly 20 % is not above it.

A false zero is a count above 0 that is published as 0, a false positive an empty cell that is published above 0. In
cellKey (`false_zero`, `false_nonzero`) an empty cell published below 0 is a false non-zero too. Here negative counts
are reported separately.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.count_pairs import ranked
from discreet.errors import NothingToCountError
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.accuracy.count_pairs import CountPairs
    from discreet.arrays import Floats, Ints

STARTS = (1, 3, 10, 50, 250)
"""The smallest true count of each class; the last one is open."""
QUANTILES = (0.05, 0.5, 0.95)
THRESHOLDS = (20, 50, 100)
"""Relative errors in percent."""


@dataclass(frozen=True)
class SizeClass:
    """The cells whose true count lies in one class.

    Attributes:
        low: the smallest true count of the class.
        high: the largest, None if there is no end.
        cells: the number of cells.
        deviation: the standard deviation of the noise.
        unchanged: the share of cells that are published as they are.
        noise: quantiles of published minus true count, at 5, 50 and 95 percent.
        relative: the same quantiles of the noise divided by the true count; none for empty cells.
        above: by threshold in percent, the share of cells with a larger relative error; none for empty cells.
    """

    low: int
    high: int | None
    cells: int
    deviation: float
    unchanged: float
    noise: tuple[float, ...]
    relative: tuple[float, ...]
    above: dict[int, float]

    @property
    def words(self) -> str:
        """Return the class in words, as in `counts of 3 to 9`."""
        if self.high == 0:
            return "empty cells"
        return f"counts of {self.low} or more" if self.high is None else f"counts of {self.low} to {self.high}"

    def result(self) -> Result:
        """Return the share of relative errors above 50 percent, or of empty cells that are not published as 0."""
        low, _, high = (f"{noise:+g}" if noise else "0" for noise in self.noise)
        cells = f"{self.cells:,} {'cell' if self.cells == 1 else 'cells'}"
        first = (
            f"{self.words.capitalize()} ({cells}): {self.unchanged:.1%} are published as they are; 9 of 10 carry noise "
            f"from {low} to {high}, with a standard deviation of {self.deviation:.2f}"
        )
        if self.high == 0:
            return Result(
                name="size_0",
                equation="share of published != 0 among true = 0",
                value=1 - self.unchanged,
                unit="1",
                sentence=f"{first}.",
            )
        errors = ", ".join(f"{percent}% in {share:.1%}" for percent, share in self.above.items())
        until = "or_more" if self.high is None else f"to_{self.high}"
        return Result(
            name=f"size_{self.low}_{until}",
            equation="share of |published - true| / true > 50 % in the class of the true count",
            value=self.above[50],
            unit="1",
            sentence=f"{first}; the relative error exceeds {errors} of them.",
        )


@dataclass(frozen=True)
class BySize:
    """The classes that have cells, by rising true count."""

    classes: tuple[SizeClass, ...]

    def share_above(self, count: int, percent: int) -> float | None:
        """Return the share of relative errors above a percentage among counts from one on; None without any."""
        large = [each for each in self.classes if each.low >= count]
        cells = sum(each.cells for each in large)
        return sum(each.cells * each.above[percent] for each in large) / cells if cells else None

    def results(self) -> list[Result]:
        """Return one result per class."""
        return [each.result() for each in self.classes]


def by_size(found: CountPairs) -> BySize:
    """Return what the noise does by classes of the true count.

    >>> from discreet.accuracy.count_pairs import pair_times
    >>> [(each.words, each.above[20]) for each in by_size(pair_times([10, 10, 300], [13, 12, 300])).classes]
    [('counts of 10 to 49', 0.5), ('counts of 250 or more', 0.0)]
    """
    starts = STARTS if (found.published[found.true == 0] == 0).all() else (0, *STARTS)
    edges = [*np.searchsorted(found.true, starts).tolist(), len(found)]
    highs = [*(start - 1 for start in starts[1:]), None]
    classes = tuple(
        _of_class(found.where(slice(first, last)), low, high)
        for low, high, first, last in zip(starts, highs, edges[:-1], edges[1:], strict=True)
        if last > first
    )
    if not classes:
        raise NothingToCountError(
            "No cell has a true count above 0 or noise on an empty one, so there is nothing to divide by size. See "
            "that the true counts are those of these tables."
        )
    return BySize(classes)


def _of_class(part: CountPairs, low: int, high: int | None) -> SizeClass:
    cells, (noise, times) = part.cells, part.by_noise
    mean = int(noise @ times) / cells
    error = np.abs(part.noise)
    return SizeClass(
        low,
        high,
        cells,
        math.sqrt(float((noise - mean) ** 2 @ times) / cells),
        part.among(part.noise == 0) / cells,
        tuple(ranked(noise, times).quantiles(QUANTILES)),
        tuple(ranked(part.noise / part.true, part.times).quantiles(QUANTILES)) if low else (),
        # In whole numbers, so that an error of just the threshold is not above it.
        {percent: part.among(100 * error > percent * part.true) / cells for percent in THRESHOLDS} if low else {},
    )


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


def distances(found: CountPairs, *, zeros: bool = False) -> Distances:
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


@dataclass(frozen=True)
class LostCounts:
    """Numbers of cells.

    Attributes:
        occupied: true count above 0.
        empty: true count 0.
        published: published as 0, rightly or not.
        false_zeros: true count above 0, published as 0.
        vanished: true count above 0, published as 0 or less.
        false_positives: true count 0, published above 0.
        negatives: published below 0, whatever the true count.
    """

    occupied: int
    empty: int
    published: int
    false_zeros: int
    vanished: int
    false_positives: int
    negatives: int

    @property
    def lost(self) -> float:
        """Return the share of the counts above 0 that are published as 0."""
        return self.false_zeros / max(self.occupied, 1)

    @property
    def gone(self) -> float:
        """Return the share of the counts above 0 that are published as 0 or less."""
        return self.vanished / max(self.occupied, 1)

    @property
    def invented(self) -> float:
        """Return the share of the empty cells that are published above 0."""
        return self.false_positives / max(self.empty, 1)

    @property
    def hiding(self) -> float:
        """Return the share of the published zeros behind which there is somebody."""
        return self.false_zeros / max(self.published, 1)

    @property
    def below_zero(self) -> float:
        """Return the share of all cells that are published below 0."""
        return self.negatives / max(self.occupied + self.empty, 1)

    def results(self) -> list[Result]:
        """Return the shares of false zeros, of published zeros that hide somebody, of false positives, of negatives."""
        complete = "empty cells are all known: a cell that is 0 on both sides is among them"
        return [
            Result(
                name="false_zeros",
                equation="share of published = 0 among true > 0",
                value=self.lost,
                unit="1",
                sentence=f"{self.false_zeros:,} of {self.occupied:,} counts above 0 ({self.lost:.1%}) are published "
                "as 0.",
            ),
            Result(
                name="vanished_counts",
                equation="share of published <= 0 among true > 0",
                value=self.gone,
                unit="1",
                sentence=f"As 0 or less: {self.vanished:,} ({self.gone:.1%}).",
            ),
            Result(
                name="zeros_that_hide_somebody",
                equation="share of true > 0 among published = 0",
                value=self.hiding,
                unit="1",
                sentence=f"Behind {self.hiding:.1%} of the {self.published:,} published zeros there is somebody.",
                assumptions=(complete,),
            ),
            Result(
                name="false_positives",
                equation="share of published > 0 among true = 0",
                value=self.invented,
                unit="1",
                sentence=f"{self.false_positives:,} of {self.empty:,} empty cells ({self.invented:.1%}) are published "
                "above 0.",
                assumptions=(complete,),
            ),
            Result(
                name="negative_counts",
                equation="share of published < 0",
                value=self.below_zero,
                unit="1",
                sentence=f"{self.negatives:,} of all {self.occupied + self.empty:,} cells ({self.below_zero:.1%}) are "
                "published below 0.",
                assumptions=(complete,),
            ),
        ]


def zeros(found: CountPairs) -> LostCounts:
    """Return how many zeros are false, how many counts stand where nobody is, and how many are below 0.

    >>> from discreet.accuracy.count_pairs import pair_times
    >>> found = zeros(pair_times([0, 0, 0, 1, 2, 9, 9], [0, 1, -1, 0, 0, 8, 9]))
    >>> found.lost, found.negatives
    (0.5, 1)
    """
    true, published = found.true, found.published
    return LostCounts(
        occupied=found.among(true > 0),
        empty=found.among(true == 0),
        published=found.among(published == 0),
        false_zeros=found.among((true > 0) & (published == 0)),
        vanished=found.among((true > 0) & (published <= 0)),
        false_positives=found.among((true == 0) & (published > 0)),
        negatives=found.among(published < 0),
    )
