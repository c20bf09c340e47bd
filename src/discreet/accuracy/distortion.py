"""Expected distortion of counts: the probability of a relative error above a share, summed by size.

For a true count n and noise x the relative error is |x| / n. The paper's section on demographics at high geographic
detail uses the continuous Laplace distribution, Pr(|x| > E) = exp(-epsilon E); its equation is printed as
-exp(epsilon E). Here the probability comes from the exact noise distribution of each count, summed from the tail so
that rare events keep their digits. Unbounded tails are cut where one value has a probability below 1e-12
(`noise.by_count`).

Sizes are in bins of 20 below 500 and one bin from there on. For comparison with the exact sum, the paper's binned
estimate sets every count of a bin to its upper limit. Smaller counts have larger relative errors, so the estimate is
too low, apart from the effect of its continuous distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace

if TYPE_CHECKING:
    from discreet.arrays import Flags, Floats, Ints
    from discreet.noise.by_count import AnyLaw, TransitionMatrix

RELATIVE = (0.2, 0.5, 1.0)
"""The relative errors of the paper."""
TINY = 1e-9
"""The distance below which a product of share and count is treated as a whole number."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Probabilities that a count is published too high and too low."""

    up: Floats
    down: Floats

    @property
    def either(self) -> Floats:
        """Return the probability of either."""
        return self.up + self.down

    def together(self) -> Sides:
        """Return the probabilities that all counts along the first axis deviate alike, for independent noise."""
        return Sides(self.up.prod(axis=0), self.down.prod(axis=0))


@dataclass(frozen=True, eq=False)
class Tails:
    """The tail probabilities of the noise.

    Attributes:
        law: the noise distribution by true count.
        up: P(x >= k) for k = 0, 1, .., reach + 1, by row of the distribution.
        down: P(x <= -k) likewise.
    """

    law: TransitionMatrix
    up: Floats
    down: Floats

    @classmethod
    def of(cls, law: TransitionMatrix) -> Tails:
        """Return the cumulative sums of a distribution from both ends."""
        table = np.stack(law.laws)
        end = np.zeros((len(table), 1))
        above, below = table[:, law.reach :], table[:, law.reach :: -1]
        up, down = (np.cumsum(side[:, ::-1], axis=1)[:, ::-1] for side in (above, below))
        return cls(law, np.hstack([up, end]), np.hstack([down, end]))

    def reaching(self, counts: Ints, error: Ints) -> Sides:
        """Return the probabilities of an absolute error of at least `error` persons (1 or more)."""
        row = self.law.rows(counts)
        place = np.minimum(error, self.law.reach + 1)
        down = self.down[row, place]
        if self.law.non_negative:
            # Without negative counts, no count decreases by more than itself.
            down = np.where(error > counts, 0.0, down)
        return Sides(self.up[row, place], down)

    def beyond(self, counts: Ints, relative: float) -> Sides:
        """Return the probabilities of a relative error above a share.

        >>> from discreet.noise.by_count import transition_matrix
        >>> tails = Tails.of(transition_matrix(TwoSidedGeometric(epsilon=0.1)))
        >>> round(float(tails.beyond(np.array([80]), 0.5).either[0]), 4)
        0.0174
        """
        return self.reaching(counts, more_than(counts, relative))

    def at_least(self, counts: Ints, relative: float) -> Sides:
        """Return the probabilities of a relative error of at least a share."""
        return self.reaching(counts, no_less_than(counts, relative))

    def lost(self, counts: Ints) -> Floats:
        """Return the probability that a count above 0 is lost, i.e. published as 0 or less."""
        return self.at_least(counts, 1.0).down


def more_than(counts: Ints, relative: float) -> Ints:
    """Return the smallest error in persons above a share of each count."""
    _check_share(relative)
    error: Ints = np.floor(relative * counts + TINY).astype(np.int64) + 1
    return error


def no_less_than(counts: Ints, relative: float) -> Ints:
    """Return the smallest error in persons of at least a share of each count."""
    _check_share(relative)
    error: Ints = np.maximum(np.ceil(relative * counts - TINY).astype(np.int64), 1)
    return error


def reached(true: Ints, published: Ints, error: Ints) -> tuple[Flags, Flags]:
    """Return which counts are published at least `error` persons too high, and which too low."""
    noise = published - true
    return noise >= error, noise <= -error


def continuous_tail(noise: AnyLaw, error: Floats) -> Floats | None:
    """Return the paper's Pr(|x| > E) = exp(-epsilon E) for Laplace or two-sided geometric noise; None for others.

    >>> continuous_tail(TwoSidedGeometric(epsilon=0.1), np.array([40.0])).round(4).tolist()
    [0.0183]
    """
    if isinstance(noise, TwoSidedGeometric):
        return np.exp(-noise.rate * error)
    return np.exp(-error / noise.scale) if isinstance(noise, Laplace) else None


@dataclass(frozen=True)
class ExpectedNumber:
    """The expected number of independent events that occur, and the standard error of this number."""

    expected: float
    standard_error: float

    @classmethod
    def of(cls, chances: Floats) -> ExpectedNumber:
        """Return the sum of the probabilities, and the root of the sum of their Bernoulli variances p (1 - p)."""
        return cls(float(chances.sum()), math.sqrt(max(float((chances * (1 - chances)).sum()), 0.0)))


def _check_share(relative: float) -> None:
    if not 0 < relative < math.inf:
        raise ParameterError.outside("relative error", "relative", relative, "a positive number", "0.2, 0.5 or 1")


SMALL = 500
"""The upper limit of small sizes."""
WIDTH = 20
"""The width of a bin of sizes."""
BINS = SMALL // WIDTH
LIMITS: Ints = np.arange(1, BINS + 1) * WIDTH
"""The upper limits of the bins of small sizes."""


@dataclass(frozen=True)
class SizeBin:
    """Counts or areas of a range of sizes, and the number of them that are distorted.

    Attributes:
        first: the smallest size.
        last: the largest size; None if unbounded.
        number: the number of counts or areas.
        expected: the expected number of distorted ones.
        standard_error: the standard error of the number in one release.
        up: the expected number published too high.
        binned: the binned estimate; None if unavailable.
        sampled: the number in a simulated or given release; None without a release.
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
        """Return the expected number published too low."""
        return self.expected - self.up


@dataclass(frozen=True)
class Distorted:
    """The numbers distorted by more than a share, by size and in total.

    Attributes:
        relative: the share.
        bins: the sizes 1 to 20, 21 to 40, .., 481 to 499, and 500 or more.
        small: all sizes below 500.
        all: all sizes.
    """

    relative: float
    bins: tuple[SizeBin, ...]
    small: SizeBin
    all: SizeBin


def by_bins(
    relative: float, sizes: Ints, chances: Sides, *, seen: Flags | None = None, at_limits: Floats | None = None
) -> Distorted:
    """Return the numbers of distorted counts or areas by bin, for all small sizes and for all sizes.

    Args:
        relative: the share that is exceeded.
        sizes: the sizes of counts or areas, 1 or more.
        chances: the probability of distortion of each.
        seen: whether each is distorted in a release.
        at_limits: the probability at the upper limit of every bin, for the binned estimate.
    """
    place = np.where(sizes < SMALL, (sizes - 1) // WIDTH, BINS)
    either = chances.either
    number, expected, spread, high = (
        np.bincount(place, values, minlength=BINS + 1)
        for values in (np.ones(len(sizes)), either, either * (1 - either), chances.up)
    )
    sampled = None if seen is None else np.bincount(place[seen], minlength=BINS + 1)
    binned = None if at_limits is None else at_limits * number[:BINS]

    def line(part: slice, first: int, last: int | None) -> SizeBin:
        return SizeBin(
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
