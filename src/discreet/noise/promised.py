"""Truncated laws with the smallest bound that keeps a promised (epsilon, delta).

Rinott, O'Keefe, Shlomo and Skinner, "Confidentiality and Differential Privacy in the Dissemination of Frequency
Tables" (2018), cut a law at a bound and call the probability of its outermost value delta: beyond it a count and its
neighbour can be told apart for certain. The promise is for one count, for one person more or less, and only where
every count has this law, zeros too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from discreet.errors import ParameterError
from discreet.noise.truncated_gaussian import TruncatedGaussian
from discreet.noise.truncated_laplace import TruncatedLaplace

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.noise.distribution import Noise

_Law = TypeVar("_Law", TruncatedLaplace, TruncatedGaussian)

WIDEST_BOUND = 1 << 20
"""The largest bound that is tried."""


def promised_laplace(epsilon: float, delta: float) -> TruncatedLaplace:
    """Return the truncated Laplace law with P(E) <= delta for the smallest E.

    >>> promised_laplace(0.5, 8e-3).bound, promised_laplace(1.5, 2e-5).bound
    (7, 7)
    """
    return _smallest(lambda bound: TruncatedLaplace(epsilon=epsilon, bound=bound), epsilon, delta)


def promised_gaussian(epsilon: float, delta: float) -> TruncatedGaussian:
    """Return the truncated Gaussian law with P(E) <= delta for the smallest E, where sigma^2 = (2 E - 1) / (2 epsilon).

    >>> promised_gaussian(0.5, 8e-3).bound, promised_gaussian(1.5, 2e-5).bound
    (10, 12)
    """

    def law(bound: int) -> TruncatedGaussian:
        return TruncatedGaussian(sigma=math.sqrt((2 * bound - 1) / (2 * epsilon)), bound=bound)

    return _smallest(law, epsilon, delta)


PROMISED: dict[str, Callable[[float, float], Noise]] = {
    TruncatedLaplace.name: promised_laplace,
    TruncatedGaussian.name: promised_gaussian,
}
"""The laws that can be asked for by epsilon and delta."""


def _smallest(law: Callable[[int], _Law], epsilon: float, delta: float) -> _Law:
    """Return the law with the smallest bound whose outermost probability is at most delta; it falls with the bound."""
    for name, value, allowed in (("epsilon", epsilon, 0 < epsilon < math.inf), ("delta", delta, 0 < delta < 1)):
        if not allowed:
            words = "a positive number" if name == "epsilon" else "above 0 and below 1"
            raise ParameterError.outside("truncated law", name, value, words, "0.5 to 1.5" if name == "epsilon" else "")
    high = 1
    while law(high).pmf(high) > delta:
        high *= 2
        if high > WIDEST_BOUND:
            raise ParameterError(
                f"No bound up to {WIDEST_BOUND} keeps epsilon {epsilon:g} with delta {delta:g}. Choose larger ones.",
                parameter="delta",
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if law(middle).pmf(middle) <= delta else (middle, high)
    return law(high)
