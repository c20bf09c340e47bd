"""A privacy loss that takes equally spaced values, as the sum of many needs it.

Some laws have such a loss: with P(x) proportional to exp(-lambda x^2) it is
-lambda (2x - 1) at x, an odd multiple of lambda; with the two-sided geometric law it
is +-epsilon. Every other loss is rounded to multiples of a step, up and down, and
the truth lies between the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.truncated import Truncated
from discreet.noise.uniform import Uniform

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.noise.distribution import Noise
    from discreet.risk.loss import PrivacyLoss


@dataclass(frozen=True, eq=False)
class SteppedLoss:
    """The law of a loss with the values lowest + k step for some whole k from 0 on.

    Attributes:
        lowest: the smallest finite loss.
        step: the unit of the losses above it.
        k: the finite losses that occur, in steps above the lowest, rising.
        probabilities: the probability of each.
        infinite: the probability of an infinite loss.
    """

    lowest: float
    step: float
    k: Ints
    probabilities: Floats
    infinite: float

    @property
    def largest(self) -> float:
        """Return the largest finite loss, -inf if there is none."""
        return self.lowest + self.step * int(self.k[-1]) if self.k.size else -math.inf

    @classmethod
    def exact(cls, loss: PrivacyLoss, step: float) -> SteppedLoss:
        """Return a loss that is known to have this step."""
        lowest = loss.losses.min(initial=math.inf)
        return cls._joined(lowest, np.rint((loss.losses - lowest) / step), loss, step, loss.floor)

    @classmethod
    def pessimistic(cls, loss: PrivacyLoss, step: float) -> SteppedLoss:
        """Return a loss with every value raised to a multiple of the step: deltas err upwards."""
        multiple = np.ceil(loss.losses / step)
        lowest = multiple.min(initial=math.inf)
        return cls._joined(lowest * step, multiple - lowest, loss, step, loss.floor)

    @classmethod
    def optimistic(cls, loss: PrivacyLoss, step: float) -> SteppedLoss:
        """Return a loss with every value lowered to a multiple of the step: deltas err downwards.

        What was not tabulated is left out.
        """
        multiple = np.floor(loss.losses / step)
        lowest = multiple.min(initial=math.inf)
        return cls._joined(lowest * step, multiple - lowest, loss, step, loss.infinite)

    @classmethod
    def _joined(cls, lowest: float, k: Floats, loss: PrivacyLoss, step: float, infinite: float) -> SteppedLoss:
        """Return the stepped loss with equal values joined and those that never occur left out."""
        values, place = np.unique(k.astype(np.int64), return_inverse=True)
        probabilities = np.bincount(place, loss.probabilities, len(values)).astype(np.float64)
        occurs = probabilities > 0
        return cls(float(lowest), step, values[occurs], probabilities[occurs], infinite)


def spacing(law: Noise, shift: int = 1) -> float | None:
    """Return the distance of neighbouring losses of a law against its shifted copy, or None if it varies.

    With a shift of h the losses are -lambda (2 h x - h^2) for exp(-lambda x^2), and
    (h - 2k) rate for the two-sided geometric law; a uniform law has the loss 0 alone,
    for which any distance serves. Cutting a law changes none of this.
    """
    whole = law.law if isinstance(law, Truncated) else law
    match whole:
        case MaxEntropy():
            # Below the precision of lambda the law is the uniform one.
            return 2 * abs(whole.lam) * shift if abs(whole.lam) > 1e-12 else 1.0
        case DiscreteGaussian():
            return shift / whole.sigma**2
        case TwoSidedGeometric():
            return 2 * whole.rate
        case Uniform():
            return 1.0
        case _:
            return None
