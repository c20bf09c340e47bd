"""What the noise does to small and to large counts: published beside true counts by classes of the true count.

The noise of a cell hardly depends on its count, so what it does is a question of size. The classes: 1-2, which rules
of disclosure control protect (a threshold of 3 is the usual one); 3-9, where a bound of 5 is as large as the count;
then steps of a factor of 5, with the noise of a census, of a standard deviation of 1 to 3, at tens (10-49), at a few
(50-249) and at about one percent and less (250 and more) of the count. An empty cell is a class of its own where its
count may change. The thresholds of the relative error |y - n| / n, 20, 50 and 100 %, are those of the paper (section
"Demographics at high geographic detail"); an error of just 20 % is not above it.
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
    from discreet.accuracy.count_pairs import PairTimes

STARTS = (1, 3, 10, 50, 250)
"""The smallest true count of each class; the last one is open."""
LEVELS = (0.05, 0.5, 0.95)
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


def by_size(found: PairTimes) -> BySize:
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


def _of_class(part: PairTimes, low: int, high: int | None) -> SizeClass:
    cells, (noise, times) = part.cells, part.by_noise
    mean = int(noise @ times) / cells
    error = np.abs(part.noise)
    return SizeClass(
        low,
        high,
        cells,
        math.sqrt(float((noise - mean) ** 2 @ times) / cells),
        part.among(part.noise == 0) / cells,
        tuple(ranked(noise, times).quantiles(LEVELS)),
        tuple(ranked(part.noise / part.true, part.times).quantiles(LEVELS)) if low else (),
        # In whole numbers, so that an error of just the threshold is not above it.
        {percent: part.among(100 * error > percent * part.true) / cells for percent in THRESHOLDS} if low else {},
    )
