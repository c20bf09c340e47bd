"""Discrete Gaussian noise, the distribution of concentrated differential privacy on counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.arrays import whole
from discreet.errors import ParameterError
from discreet.noise.distribution import DISTRIBUTIONS, WIDEST, Noise, ProbabilityTable
from discreet.noise.exact_samplers import exact_discrete_gaussian
from discreet.noise.parameters import parameter, positive
from discreet.noise.random_bits import SYSTEM_BITS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Floats, Ints
    from discreet.noise.random_bits import BitSource


@DISTRIBUTIONS.register("discrete-gaussian")
@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(Noise):
    """Whole-number noise with P(x) proportional to exp(-x^2 / 2 sigma^2); unbounded.

    Its variance is at most sigma^2, and nearly equal to it if sigma is above 1.
    """

    name: ClassVar[str] = "discrete-gaussian"
    sigma: float = parameter("σ", domain=positive, typical=(0.7, 40.0), power=1, meaning="scale of the noise")

    @cached_property
    def _table(self) -> ProbabilityTable:
        if self.sigma > WIDEST:
            raise ParameterError.outside("DiscreteGaussian", "sigma", self.sigma, f"at most {WIDEST} to be tabulated")
        # Beyond 40 sigma the probability is below 1e-347, which a double cannot represent.
        x = np.arange(-int(40 * self.sigma) - 1, int(40 * self.sigma) + 2)
        log_weight = -((x / self.sigma) ** 2) / 2
        return ProbabilityTable(x, log_weight - np.log(np.exp(log_weight).sum()))

    def log_pmf(self, x: ArrayLike) -> Floats:
        """Return log P(X = x)."""
        centre = self._table.log_pmf(np.array(0))
        probability: Floats = centre - (whole(x, "x") / self.sigma) ** 2 / 2
        return probability

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x) by summation from the lower tail."""
        return self._table.cdf(whole(x, "x"))

    @property
    def variance(self) -> float:
        """Return the sum of x^2 P(x)."""
        return self._table.variance

    def sample_exact(self, size: int, bits: BitSource = SYSTEM_BITS) -> Ints:
        """Return draws from the exact distribution by rational arithmetic: the slow path for audits."""
        variance = Fraction(self.sigma) ** 2
        return np.array([exact_discrete_gaussian(variance, bits) for _ in range(size)], dtype=np.int64)
