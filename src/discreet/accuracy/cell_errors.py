"""Errors of published counts, cell by cell: distances, errors by size of the true count, and lost counts.

For a true count n and a published count y

    d1 = |y - n|,   d2 = |y - n| / n,   d3 = |sqrt(y) - sqrt(n)|.

d1 is the error of one count, d2 the error that a rate inherits. d3 lies between them: noise matters less the larger the
count, but a lost singleton cell counts as 1. The distances are those of `ck_cnt_measures` in the R package cellKey,
which takes them from the project "Harmonised protection of census data in the ESS" (Eurostat, 2017), with two
differences. Cells with a true count of 0 are excluded by default; cellKey excludes those published as 0, and with them
every lost count. d2 does not exist for a true count of 0, so such a cell is always excluded from it.

The noise of a cell hardly depends on its count, so its relative effect depends on size. The classes of true counts are
1-2, which rules of disclosure control protect (usual threshold: 3); 3-9, where a bound of 5 is as large as the count;
then steps of a factor of 5. Census noise, with a standard deviation of 1 to 3, is up to tens of percent of a count of
10-49, a few percent of 50-249, and about one percent or less of 250 and more. Empty cells are a separate class if any
of them is published as non-zero. The thresholds of the relative error |y - n| / n, 20, 50 and 100 %, are those of the
paper (section "Demographics at high geographic detail"); an error of exactly 20 % is not above it.

A false zero is a count above 0 that is published as 0. A false positive is an empty cell that is published above 0. In
cellKey (`false_zero`, `false_nonzero`), an empty cell published below 0 is also a false non-zero. Here negative counts
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
"""The smallest true count of each class; the last class is unbounded."""
QUANTILES = (0.05, 0.5, 0.95)
THRESHOLDS = (20, 50, 100)
"""Thresholds of the relative error in percent."""


@dataclass(frozen=True)
class SizeClass:
    """The cells with a true count in one class.

    Attributes:
        low: the smallest true count of the class.
        high: the largest true count of the class; None if unbounded.
        cells: the number of cells.
        deviation: the standard deviation of the noise.
        unchanged: the share of cells without noise.
        noise: the quantiles of published minus true count at 5, 50 and 95 percent.
        relative: the same quantiles of the noise divided by the true count; empty for empty cells.
        above: the share of cells with a larger relative error, by threshold in percent; empty for empty cells.
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
        """Return the class in words, e.g. `counts of 3 to 9`."""
        if self.high == 0:
            return "empty cells"
        return f"counts of {self.low} or more" if self.high is None else f"counts of {self.low} to {self.high}"

    def result(self) -> Result:
        """Return the share of relative errors above 50 percent, or of empty cells published as non-zero."""
        low, _, high = (f"{noise:+g}" if noise else "0" for noise in self.noise)
        cells = f"{self.cells:,} {'cell' if self.cells == 1 else 'cells'}"
        first = (
            f"{self.words.capitalize()} ({cells}): {self.unchanged:.1%} are unchanged; 90% have noise from {low} to "
            f"{high}; standard deviation {self.deviation:.2f}"
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
            sentence=f"{first}; the relative error exceeds {errors} of the cells.",
        )


@dataclass(frozen=True)
class BySize:
    """The non-empty classes, by increasing true count."""

    classes: tuple[SizeClass, ...]

    def share_above(self, count: int, percent: int) -> float | None:
        """Return the share of relative errors above a percentage among counts of at least `count`; None without any."""
        large = [each for each in self.classes if each.low >= count]
        cells = sum(each.cells for each in large)
        return sum(each.cells * each.above[percent] for each in large) / cells if cells else None

    def results(self) -> list[Result]:
        """Return one result per class."""
        return [each.result() for each in self.classes]


def by_size(found: CountPairs) -> BySize:
    """Return the errors by class of the true count.

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
            "No cell has a true count above 0 or noise on an empty cell, so errors by size are undefined. Check that "
            "the true counts belong to these tables."
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
        # In whole numbers, so that an error equal to the threshold is not above it.
        {percent: part.among(100 * error > percent * part.true) / cells for percent in THRESHOLDS} if low else {},
    )


LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
ABSOLUTE_CUTS = (0, 1, 2, 3, 4, 5, 10, 15, 20, 50, 100)
RELATIVE_CUTS = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 1)


@dataclass(frozen=True)
class Distance:
    """The distribution of one distance over cells.

    Attributes:
        cells: the number of cells.
        mean: the mean.
        quantiles: the quantiles by level, from 0 (minimum) to 1 (maximum).
        within: the share of cells whose distance is at most a cut point, by cut point.
    """

    cells: int
    mean: float
    quantiles: dict[float, float]
    within: dict[float, float]

    @property
    def median(self) -> float:
        """Return the median distance."""
        return self.quantiles[0.5]

    @property
    def largest(self) -> float:
        """Return the largest distance."""
        return self.quantiles[1.0]


@dataclass(frozen=True)
class Distances:
    """The three distances and the frequencies of the noise.

    Attributes:
        absolute: d1.
        relative: d2, of cells with a true count above 0.
        root: d3.
        noise: the number of cells by published minus true count, over all cells.
        zeros: whether d1 and d3 include cells with a true count of 0.
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
        """Return the largest distance of any cell, including empty cells."""
        return max((abs(noise) for noise in self.noise), default=0)

    def results(self) -> list[Result]:
        """Return the mean of each distance; the sentence states its quantiles."""
        d1, d2, d3 = self.absolute, self.relative, self.root
        above = "cells with a true count of 0 are excluded"
        which = "cells with a true count of 0 are included" if self.zeros else above
        root = f"{self.negatives:,} negative published counts are set to 0 under the root"
        counts = "counts" if self.zeros else "counts above 0"
        return [
            Result(
                name="mean_absolute_distance",
                equation="mean of d1 = |published - true|",
                value=d1.mean,
                unit="persons",
                sentence=f"The mean absolute error of {d1.cells:,} {counts} is {d1.mean:.2f}; the median is "
                f"{d1.median:g} and the 95% quantile {d1.quantiles[0.95]:g}.",
                assumptions=(which,),
            ),
            Result(
                name="largest_distance",
                equation="max of d1 = |published - true|, including empty cells",
                value=float(self.largest),
                unit="persons",
                sentence=f"The largest absolute error of all cells, including empty cells, is {self.largest}.",
            ),
            Result(
                name="unchanged_counts",
                equation="share of published = true among true > 0",
                value=d2.within[0],
                unit="1",
                sentence=f"{d2.within[0]:.1%} of the counts above 0 are published unchanged.",
                assumptions=(above,),
            ),
            Result(
                name="mean_relative_distance",
                equation="mean of d2 = |published - true| / true",
                value=d2.mean,
                unit="1",
                sentence=f"The mean relative error is {d2.mean:.1%}; {d2.within[0.1]:.1%} of counts above 0 are within "
                f"10% of the true count and {d2.within[0.5]:.1%} within 50%.",
                assumptions=(above,),
            ),
            Result(
                name="mean_root_distance",
                equation="mean of d3 = |sqrt(published) - sqrt(true)|",
                value=d3.mean,
                unit="root of persons",
                sentence=f"The mean difference of the square roots of published and true counts is {d3.mean:.3f}; the "
                f"95% quantile is {d3.quantiles[0.95]:.3f}, the maximum {d3.largest:.3f}.",
                assumptions=(which, *([root] if self.negatives else [])),
            ),
        ]


def distances(found: CountPairs, *, zeros: bool = False) -> Distances:
    """Return the three distances of published counts.

    Args:
        found: true and published counts.
        zeros: whether the absolute and the root distance include cells with a true count of 0.

    >>> from discreet.accuracy.count_pairs import pair_times
    >>> spread = distances(pair_times([4, 4, 0], [1, 4, 0]))
    >>> spread.absolute.mean, spread.relative.mean, spread.root.mean
    (1.5, 0.375, 0.5)
    """
    occupied = found.occupied
    if not occupied.cells:
        raise NothingToCountError(
            "No cell has a true count above 0, so distances are undefined. Check that the true counts belong to these "
            "tables."
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
    """Numbers of lost counts, false zeros, false positives and negative counts.

    Attributes:
        occupied: the number of cells with a true count above 0.
        empty: the number of cells with a true count of 0.
        published: the number of cells published as 0.
        false_zeros: the number of cells with a true count above 0 that are published as 0.
        lost: the number of cells with a true count above 0 that are published as 0 or less.
        false_positives: the number of cells with a true count of 0 that are published above 0.
        negatives: the number of cells published below 0.
    """

    occupied: int
    empty: int
    published: int
    false_zeros: int
    lost: int
    false_positives: int
    negatives: int

    @property
    def false_zero_share(self) -> float:
        """Return the share of counts above 0 that are published as 0."""
        return self.false_zeros / max(self.occupied, 1)

    @property
    def lost_share(self) -> float:
        """Return the share of counts above 0 that are published as 0 or less."""
        return self.lost / max(self.occupied, 1)

    @property
    def false_positive_share(self) -> float:
        """Return the share of empty cells that are published above 0."""
        return self.false_positives / max(self.empty, 1)

    @property
    def positive_zero_share(self) -> float:
        """Return the share of published zeros with a positive true count."""
        return self.false_zeros / max(self.published, 1)

    @property
    def negative_share(self) -> float:
        """Return the share of all cells that are published below 0."""
        return self.negatives / max(self.occupied + self.empty, 1)

    def results(self) -> list[Result]:
        """Return the shares of false zeros, lost counts, positive published zeros, false positives and negatives."""
        complete = "all empty cells are included, also those that are 0 in both the true and the published table"
        return [
            Result(
                name="false_zeros",
                equation="share of published = 0 among true > 0",
                value=self.false_zero_share,
                unit="1",
                sentence=f"False zeros: {self.false_zeros:,} of {self.occupied:,} counts above 0 "
                f"({self.false_zero_share:.1%}) are published as 0.",
            ),
            Result(
                name="lost_counts",
                equation="share of published <= 0 among true > 0",
                value=self.lost_share,
                unit="1",
                sentence=f"Lost counts: {self.lost:,} ({self.lost_share:.1%}) are published as 0 or less.",
            ),
            Result(
                name="positive_published_zeros",
                equation="share of true > 0 among published = 0",
                value=self.positive_zero_share,
                unit="1",
                sentence=f"{self.positive_zero_share:.1%} of the {self.published:,} published zeros have a positive "
                "true count.",
                assumptions=(complete,),
            ),
            Result(
                name="false_positives",
                equation="share of published > 0 among true = 0",
                value=self.false_positive_share,
                unit="1",
                sentence=f"False positives: {self.false_positives:,} of {self.empty:,} empty cells "
                f"({self.false_positive_share:.1%}) are published above 0.",
                assumptions=(complete,),
            ),
            Result(
                name="negative_counts",
                equation="share of published < 0",
                value=self.negative_share,
                unit="1",
                sentence=f"Negative counts: {self.negatives:,} of all {self.occupied + self.empty:,} cells "
                f"({self.negative_share:.1%}) are published below 0.",
                assumptions=(complete,),
            ),
        ]


def zeros(found: CountPairs) -> LostCounts:
    """Return the numbers of false zeros, lost counts, false positives and negative counts.

    >>> from discreet.accuracy.count_pairs import pair_times
    >>> found = zeros(pair_times([0, 0, 0, 1, 2, 9, 9], [0, 1, -1, 0, 0, 8, 9]))
    >>> found.false_zero_share, found.negatives
    (0.5, 1)
    """
    true, published = found.true, found.published
    return LostCounts(
        occupied=found.among(true > 0),
        empty=found.among(true == 0),
        published=found.among(published == 0),
        false_zeros=found.among((true > 0) & (published == 0)),
        lost=found.among((true > 0) & (published <= 0)),
        false_positives=found.among((true == 0) & (published > 0)),
        negatives=found.among(published < 0),
    )
