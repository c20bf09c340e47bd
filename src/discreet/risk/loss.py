"""The privacy loss: how far one published number tells two neighbouring truths apart.

Under the truth P the loss of an outcome y is log P(y) / Q(y), Q being the other
truth; it is infinite where Q cannot produce y. The (epsilon, delta) curve follows
from the law of the loss: delta(epsilon) = E[(1 - e^(epsilon - loss))_+].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.arrays import Floats

RESOLUTION = 1e-13
"""The relative width at which the search for an epsilon ends."""


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """The law of the privacy loss in one direction.

    Attributes:
        losses: the finite losses that occur.
        probabilities: the probability of each.
        infinite: the probability of outcomes that the other truth cannot produce.
        beyond: the probability of outcomes that were not tabulated; counted like
            infinite losses, so that every delta errs upwards by at most this much.
    """

    losses: Floats
    probabilities: Floats
    infinite: float
    beyond: float = 0.0

    @classmethod
    def between(cls, log_p: Floats, log_q: Floats, beyond: float = 0.0) -> PrivacyLoss:
        """Return the loss under P against Q, given log-probabilities of the same outcomes."""
        finite, certain = (log_p > -np.inf) & (log_q > -np.inf), log_q == -np.inf
        infinite = math.fsum(np.exp(log_p[certain]))
        return cls(log_p[finite] - log_q[finite], np.exp(log_p[finite]), infinite, beyond)

    @property
    def floor(self) -> float:
        """Return the delta that no epsilon removes."""
        return self.infinite + self.beyond

    @property
    def largest(self) -> float:
        """Return the largest finite loss, from which epsilon on delta is the floor; -inf if there is none."""
        return float(self.losses.max(initial=-math.inf))

    def excess(self, epsilon: float) -> float:
        """Return delta above the floor, sum of P(loss) (1 - e^(epsilon - loss)) over finite losses above epsilon."""
        above = self.losses > epsilon
        # (1 - e^(epsilon - loss)) cancels badly when epsilon is close to the loss; expm1 keeps the digits.
        return float(-np.expm1(epsilon - self.losses[above]) @ self.probabilities[above])

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta that goes with epsilon."""
        return min(1.0, self.floor + self.excess(epsilon))

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon that goes with delta, infinite if delta is below the floor.

        Found by bisection; the upper end of the last bracket is returned, which errs upwards.
        """
        if delta < self.floor:
            return math.inf
        return falling_root(self.excess, delta - self.floor, 0.0, max(self.largest, 0.0))


def falling_root(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Return the smallest x from low to high at which a falling function is at most the target.

    The function must be at most the target at `high`. The returned x errs upwards
    by at most 1e-13 of its size.
    """
    if function(low) <= target:
        return low
    while high - low > RESOLUTION * max(1.0, abs(high)):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) <= target else (middle, high)
    return high
