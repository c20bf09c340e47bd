"""How likely noise distorts a count by more than a share of it, and how often that happens among many counts.

For a true count n and noise x the relative error is |x| / n. The paper's section on demographics at high geographic
detail takes the continuous Laplace law, Pr(|x| > E) = exp(-epsilon E); its equation is printed as -exp(epsilon E).
Here the chance comes from the very law of each count, summed from the far end so that rare events keep their digits.
The tail of an unbounded law is cut where one value has a probability below 1e-12 (`noise.by_count`).
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
    from discreet.noise.by_count import LawByCount
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable import PTable

RELATIVE = (0.2, 0.5, 1.0)
"""The relative errors of the paper."""
TINY = 1e-9
"""A product of share and count this near to a whole number is that number."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Chances that a count is published too high, and too low."""

    up: Floats
    down: Floats

    @property
    def either(self) -> Floats:
        """Return the chance of one or the other."""
        return self.up + self.down

    def together(self) -> Sides:
        """Return the chances that all counts along the first axis go the same way, for independent noises."""
        return Sides(self.up.prod(axis=0), self.down.prod(axis=0))


@dataclass(frozen=True, eq=False)
class Tails:
    """The chances of large noise.

    Attributes:
        law: the noise by true count.
        up: by row of the law, P(x >= k) for k = 0, 1, .., reach + 1.
        down: the same for P(x <= -k).
    """

    law: LawByCount
    up: Floats
    down: Floats

    @classmethod
    def of(cls, law: LawByCount) -> Tails:
        """Sum up the law from both ends."""
        table = np.stack(law.laws)
        end = np.zeros((len(table), 1))
        above, below = table[:, law.reach :], table[:, law.reach :: -1]
        up, down = (np.cumsum(side[:, ::-1], axis=1)[:, ::-1] for side in (above, below))
        return cls(law, np.hstack([up, end]), np.hstack([down, end]))

    def reaching(self, counts: Ints, error: Ints) -> Sides:
        """Return the chances of an error of at least so many persons, one or more."""
        row = self.law.rows(counts)
        place = np.minimum(error, self.law.reach + 1)
        down = self.down[row, place]
        if self.law.non_negative:
            # Nothing below 0 is published, so no count falls by more than itself.
            down = np.where(error > counts, 0.0, down)
        return Sides(self.up[row, place], down)

    def beyond(self, counts: Ints, relative: float) -> Sides:
        """Return the chances of a relative error above a share.

        >>> from discreet.noise.by_count import by_count
        >>> tails = Tails.of(by_count(TwoSidedGeometric(epsilon=0.1)))
        >>> round(float(tails.beyond(np.array([80]), 0.5).either[0]), 4)
        0.0174
        """
        return self.reaching(counts, more_than(counts, relative))

    def at_least(self, counts: Ints, relative: float) -> Sides:
        """Return the chances of a relative error of a share or more."""
        return self.reaching(counts, no_less_than(counts, relative))

    def lost(self, counts: Ints) -> Floats:
        """Return the chance that a count above 0 is published as 0 or less."""
        return self.at_least(counts, 1.0).down


def more_than(counts: Ints, relative: float) -> Ints:
    """Return the smallest error, in persons, that is above a share of each count."""
    _check_share(relative)
    error: Ints = np.floor(relative * counts + TINY).astype(np.int64) + 1
    return error


def no_less_than(counts: Ints, relative: float) -> Ints:
    """Return the smallest error, in persons, that is a share of each count or more."""
    _check_share(relative)
    error: Ints = np.maximum(np.ceil(relative * counts - TINY).astype(np.int64), 1)
    return error


def reached(true: Ints, published: Ints, error: Ints) -> tuple[Flags, Flags]:
    """Return which counts were published at least so many persons too high, and which too low."""
    noise = published - true
    return noise >= error, noise <= -error


def continuous_tail(noise: PTable | Noise | LawByCount, error: Floats) -> Floats | None:
    """Return the paper's Pr(|x| > E) = exp(-epsilon E) for a Laplace law or its discrete kin, None for others.

    >>> continuous_tail(TwoSidedGeometric(epsilon=0.1), np.array([40.0])).round(4).tolist()
    [0.0183]
    """
    if isinstance(noise, TwoSidedGeometric):
        return np.exp(-noise.rate * error)
    return np.exp(-error / noise.scale) if isinstance(noise, Laplace) else None


@dataclass(frozen=True)
class Number:
    """How many of many independent events are expected to happen, and the standard error of that number."""

    expected: float
    standard_error: float

    @classmethod
    def of(cls, chances: Floats) -> Number:
        """Return the sum of the chances, and the root of the sum of their Bernoulli variances p (1 - p)."""
        return cls(float(chances.sum()), math.sqrt(max(float((chances * (1 - chances)).sum()), 0.0)))


def _check_share(relative: float) -> None:
    if not 0 < relative < math.inf:
        raise ParameterError.outside("relative error", "relative", relative, "a positive number", "0.2, 0.5 or 1")
