"""Two-sided geometric noise (discrete Laplace), the distribution of strict differential privacy on counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.arrays import whole
from discreet.noise.distribution import DISTRIBUTIONS, Noise
from discreet.noise.exact_samplers import exact_geometric
from discreet.noise.parameters import parameter, positive
from discreet.noise.random_bits import SYSTEM_BITS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Floats, Ints
    from discreet.noise.random_bits import BitSource


@DISTRIBUTIONS.register("geometric")
@dataclass(frozen=True, kw_only=True)
class TwoSidedGeometric(Noise):
    """Whole-number noise with P(x) = (1 - q) / (1 + q) q^|x|, q = exp(-epsilon / sensitivity).

    The two-tailed geometric distribution of Bach (2020), with sensitivity 1. Variance 2 q / (1 - q)^2.
    """

    name: ClassVar[str] = "geometric"
    epsilon: float = parameter(
        "ε", domain=positive, typical=(0.1, 3.0), power=-1, meaning="privacy budget of one count"
    )
    sensitivity: float = parameter(
        "Δ", domain=positive, typical=(1.0, 2.0), power=1, meaning="change of a count by one person", default=1
    )

    @property
    def rate(self) -> float:
        """Return epsilon / sensitivity, the decrease of the log-probability per step."""
        return self.epsilon / self.sensitivity

    def log_pmf(self, x: ArrayLike) -> Floats:
        """Return log P(X = x) = log tanh(rate / 2) - rate |x|."""
        log_zero = math.log(-math.expm1(-self.rate)) - math.log1p(math.exp(-self.rate))
        probability: Floats = log_zero - self.rate * np.abs(whole(x, "x"))
        return probability

    def cdf(self, x: ArrayLike) -> Floats:
        """Return q^-x / (1 + q) below 0 and 1 - q^(x + 1) / (1 + q) from 0 on."""
        value = whole(x, "x")
        q = math.exp(-self.rate)
        tail = np.exp(-self.rate * np.where(value < 0, -value, value + 1)) / (1 + q)
        return np.where(value < 0, tail, 1 - tail)

    @property
    def variance(self) -> float:
        """Return 2 q / (1 - q)^2."""
        return 2 * math.exp(-self.rate) / math.expm1(-self.rate) ** 2

    def sample_exact(self, size: int, bits: BitSource = SYSTEM_BITS) -> Ints:
        """Return draws from the exact distribution by rational arithmetic: the slow path for audits."""
        rate = Fraction(self.epsilon) / Fraction(self.sensitivity)
        return np.array([exact_geometric(rate, bits) for _ in range(size)], dtype=np.int64)
