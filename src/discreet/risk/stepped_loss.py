"""A privacy loss that takes equally spaced values, as the sum of many needs it.

Some laws have such a loss: with P(x) proportional to exp(-lambda x^2) it is
-lambda (2x - 1) at x, an odd multiple of lambda; with the two-sided geometric law it
is +-epsilon. Every other loss is rounded to multiples of a step, up and down, and
the truth lies between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.noise.arrays import Floats
    from discreet.risk.loss import PrivacyLoss

MOST_POINTS = 2**24
"""The most values of a loss, or of a sum of losses, that are tabulated."""


@dataclass(frozen=True, eq=False)
class SteppedLoss:
    """The law of a loss with the values lowest + k step, k = 0, 1, ..

    Attributes:
        lowest: the smallest finite loss.
        step: the distance of neighbouring losses.
        probabilities: the probability of every k; with `infinite` they sum to 1.
        infinite: the probability of an infinite loss.
    """

    lowest: float
    step: float
    probabilities: Floats
    infinite: float

    @classmethod
    def exact(cls, loss: PrivacyLoss, step: float) -> SteppedLoss:
        """Return a loss that is known to have this step."""
        lowest = float(loss.losses.min()) if loss.losses.size else 0.0
        return cls._at((loss.losses - lowest) / step, lowest, step, loss.probabilities, loss.floor)

    @classmethod
    def pessimistic(cls, loss: PrivacyLoss, step: float) -> SteppedLoss:
        """Return a loss with every value raised to a multiple of the step: deltas err upwards."""
        return cls._multiples(np.ceil(loss.losses / step), step, loss.probabilities, loss.floor)

    @classmethod
    def optimistic(cls, loss: PrivacyLoss, step: float) -> SteppedLoss:
        """Return a loss with every value lowered to a multiple of the step: deltas err downwards.

        What was not tabulated is left out.
        """
        return cls._multiples(np.floor(loss.losses / step), step, loss.probabilities, loss.infinite)

    @classmethod
    def _multiples(cls, multiple: Floats, step: float, probabilities: Floats, infinite: float) -> SteppedLoss:
        lowest = float(multiple.min()) if multiple.size else 0.0
        return cls._at(multiple - lowest, lowest * step, step, probabilities, infinite)

    @classmethod
    def _at(cls, k: Floats, lowest: float, step: float, probabilities: Floats, infinite: float) -> SteppedLoss:
        if k.size and k.max() >= MOST_POINTS:
            raise too_fine(step)
        return cls(lowest, step, np.bincount(np.rint(k).astype(np.int64), probabilities), infinite)


def too_fine(step: float) -> ParameterError:
    """Return the error for a step that needs more points than are tabulated."""
    wanted = f"wide enough to need at most {MOST_POINTS} points"
    return ParameterError.outside("composition", "step", step, wanted)
