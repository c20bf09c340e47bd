"""Truncated noise: any distribution truncated at a bound, and the smallest bound for a requested (epsilon, delta).

The truncated two-sided geometric distribution is the truncated Laplace distribution of Rinott and others on the
integers; the truncated Gaussian is a discrete Gaussian truncated at a bound. Rinott, O'Keefe, Shlomo and Skinner,
"Confidentiality and Differential Privacy in the Dissemination of Frequency Tables" (2018), call the probability of the
outermost value delta: beyond it a count and its neighbour can be distinguished with certainty. The guarantee is for one
count, for one person more or less, and only where every count has this distribution, zeros included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.distribution import DISTRIBUTIONS, Noise, ProbabilityTable, TabulatedNoise
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.parameters import parameter, positive, positive_whole

if TYPE_CHECKING:
    from collections.abc import Callable


@DISTRIBUTIONS.register("truncated")
@dataclass(frozen=True)
class Truncated(TabulatedNoise):
    """A distribution conditional on an absolute value of at most the bound: P(x) / P(|X| <= E)."""

    name: ClassVar[str] = "truncated"
    law: Noise
    bound: int = parameter("E", domain=positive_whole, typical=(2, 20), power=1, meaning="largest absolute noise")

    @cached_property
    def table(self) -> ProbabilityTable:
        """Return the truncated distribution, normalised in the logarithm."""
        values = np.arange(-self.bound, self.bound + 1)
        log_weight = self.law.log_pmf(values)
        log_weight = log_weight - log_weight.max()
        return ProbabilityTable(values, log_weight - np.log(np.exp(log_weight).sum()))

    @property
    def variance(self) -> float:
        """Return the variance of the cut law."""
        return self.table.variance


@DISTRIBUTIONS.register("truncated-gaussian")
@dataclass(frozen=True, kw_only=True)
class TruncatedGaussian(TabulatedNoise):
    """P(x) proportional to exp(-x^2 / (2 sigma^2)) on -E..E: maximum entropy, with the parameter sigma instead of V.

    The probabilities of a count and its neighbour differ by a factor of at most exp(epsilon), with epsilon =
    (2 E - 1) / (2 sigma^2), except for the outermost value: delta(epsilon) = P(E).
    """

    name: ClassVar[str] = "truncated-gaussian"
    sigma: float = parameter(
        "σ", domain=positive, typical=(1.0, 5.0), power=1, meaning="standard deviation before truncation"
    )
    bound: int = parameter("E", domain=positive_whole, typical=(5, 12), power=1, meaning="largest absolute noise")

    @cached_property
    def table(self) -> ProbabilityTable:
        """Return the law without the cut, cut."""
        return Truncated(DiscreteGaussian(sigma=self.sigma), self.bound).table

    @property
    def variance(self) -> float:
        """Return the variance of the cut law."""
        return self.table.variance


@DISTRIBUTIONS.register("truncated-laplace")
@dataclass(frozen=True, kw_only=True)
class TruncatedLaplace(TabulatedNoise):
    """P(x) proportional to exp(-epsilon |x|) on -E..E.

    The probabilities of a count and its neighbour differ by a factor of at most exp(epsilon), except for the outermost
    value: delta(epsilon) = P(E).
    """

    name: ClassVar[str] = "truncated-laplace"
    epsilon: float = parameter(
        "ε", domain=positive, typical=(0.5, 1.5), power=-1, meaning="decrease of the log-probability per step"
    )
    bound: int = parameter("E", domain=positive_whole, typical=(5, 12), power=1, meaning="largest absolute noise")

    @cached_property
    def table(self) -> ProbabilityTable:
        """Return the law without the cut, cut."""
        return Truncated(TwoSidedGeometric(epsilon=self.epsilon), self.bound).table

    @property
    def variance(self) -> float:
        """Return the variance of the cut law."""
        return self.table.variance


_Law = TypeVar("_Law", TruncatedLaplace, TruncatedGaussian)

WIDEST_BOUND = 1 << 20
"""Largest bound of the search."""


def truncated_laplace_for(epsilon: float, delta: float) -> TruncatedLaplace:
    """Return the truncated Laplace distribution with P(E) <= delta for the smallest E.

    >>> truncated_laplace_for(0.5, 8e-3).bound, truncated_laplace_for(1.5, 2e-5).bound
    (7, 7)
    """
    return _smallest(lambda bound: TruncatedLaplace(epsilon=epsilon, bound=bound), epsilon, delta)


def truncated_gaussian_for(epsilon: float, delta: float) -> TruncatedGaussian:
    """Return the truncated Gaussian distribution with P(E) <= delta for the smallest E.

    Its sigma^2 is (2 E - 1) / (2 epsilon).

    >>> truncated_gaussian_for(0.5, 8e-3).bound, truncated_gaussian_for(1.5, 2e-5).bound
    (10, 12)
    """

    def law(bound: int) -> TruncatedGaussian:
        return TruncatedGaussian(sigma=math.sqrt((2 * bound - 1) / (2 * epsilon)), bound=bound)

    return _smallest(law, epsilon, delta)


PROMISED: dict[str, Callable[[float, float], Noise]] = {
    TruncatedLaplace.name: truncated_laplace_for,
    TruncatedGaussian.name: truncated_gaussian_for,
}
"""The distributions that can be given by epsilon and delta."""


def _smallest(law: Callable[[int], _Law], epsilon: float, delta: float) -> _Law:
    """Return the distribution with the smallest bound at which the outermost probability is at most delta."""
    for name, value, allowed in (("epsilon", epsilon, 0 < epsilon < math.inf), ("delta", delta, 0 < delta < 1)):
        if not allowed:
            words = "a positive number" if name == "epsilon" else "above 0 and below 1"
            raise ParameterError.outside(
                "truncated noise", name, value, words, "0.5 to 1.5" if name == "epsilon" else ""
            )
    high = 1
    while law(high).pmf(high) > delta:
        high *= 2
        if high > WIDEST_BOUND:
            raise ParameterError(
                f"No bound up to {WIDEST_BOUND} gives epsilon {epsilon:g} with delta {delta:g}. Choose larger values.",
                parameter="delta",
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if law(middle).pmf(middle) <= delta else (middle, high)
    return law(high)
