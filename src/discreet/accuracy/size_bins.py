"""How many counts or areas are distorted by a share, by size: bins of 20 below 500 and the rest.

Beside the exact sum of chances stands the paper's binned estimate, for which every count of a bin is as large as the
upper limit of the bin; smaller counts are distorted more easily, so it is on the low side but for its continuous law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.accuracy.distortion import Sides
    from discreet.arrays import Flags, Floats, Ints

SMALL = 500
"""Sizes below this are small."""
WIDTH = 20
"""Sizes in one bin."""
BINS = SMALL // WIDTH
LIMITS: Ints = np.arange(1, BINS + 1) * WIDTH
"""The upper limits of the bins of small sizes."""


@dataclass(frozen=True)
class Line:
    """Counts or areas of some sizes, and how many of them are distorted.

    Attributes:
        first: the smallest size.
        last: the largest size, None if there is no limit.
        number: how many there are.
        expected: how many are expected to be distorted.
        standard_error: of the number that one release has.
        up: how many of those expected are published too high.
        binned: the binned estimate, None where there is none.
        sampled: how many a release has, one that was drawn or is there; None without one.
    """

    first: int
    last: int | None
    number: int
    expected: float
    standard_error: float
    up: float
    binned: float | None
    sampled: int | None

    @property
    def down(self) -> float:
        """Return how many of those expected are published too low."""
        return self.expected - self.up


@dataclass(frozen=True)
class Distorted:
    """What is distorted by more than a share, by size and in all.

    Attributes:
        relative: the share.
        bins: sizes 1 to 20, 21 to 40, .., 481 to 499, and 500 or more.
        small: all below 500.
        all: all.
    """

    relative: float
    bins: tuple[Line, ...]
    small: Line
    all: Line


def by_bins(
    relative: float, sizes: Ints, chances: Sides, *, seen: Flags | None = None, at_limits: Floats | None = None
) -> Distorted:
    """Return lines by bins of sizes, for all small ones and for all.

    Args:
        relative: the share that is exceeded.
        sizes: of counts or areas, 1 or more.
        chances: that each is distorted.
        seen: which are, in a release.
        at_limits: the chance at the upper limit of every bin, for the binned estimate.
    """
    place = np.where(sizes < SMALL, (sizes - 1) // WIDTH, BINS)
    either = chances.either
    number, expected, spread, high = (
        np.bincount(place, values, minlength=BINS + 1)
        for values in (np.ones(len(sizes)), either, either * (1 - either), chances.up)
    )
    sampled = None if seen is None else np.bincount(place[seen], minlength=BINS + 1)
    binned = None if at_limits is None else at_limits * number[:BINS]

    def line(part: slice, first: int, last: int | None) -> Line:
        return Line(
            first,
            last,
            int(number[part].sum()),
            float(expected[part].sum()),
            math.sqrt(max(float(spread[part].sum()), 0.0)),
            float(high[part].sum()),
            float(binned[part].sum()) if binned is not None and last is not None else None,
            int(sampled[part].sum()) if sampled is not None else None,
        )

    bins = [line(slice(n, n + 1), n * WIDTH + 1, min((n + 1) * WIDTH, SMALL - 1)) for n in range(BINS)]
    rest = line(slice(BINS, None), SMALL, None)
    return Distorted(relative, (*bins, rest), line(slice(BINS), 1, SMALL - 1), line(slice(None), 1, None))
