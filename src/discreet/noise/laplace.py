"""Laplace noise, rounded to whole counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.arrays import whole
from discreet.noise.distribution import DISTRIBUTIONS, Noise
from discreet.noise.parameters import parameter, positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Floats


@DISTRIBUTIONS.register("laplace")
@dataclass(frozen=True, kw_only=True)
class Laplace(Noise):
    """The Laplace distribution with density exp(-|y|/b) / 2b, rounded to the nearest whole number.

    P(0) = 1 - exp(-1/2b) and P(x) = exp(-|x|/b) sinh(1/2b) elsewhere. Rounding a
    differentially private number keeps the guarantee: b = sensitivity / epsilon.
    The continuous distribution has variance 2 b^2; the rounded one is slightly wider.
    """

    name: ClassVar[str] = "laplace"
    scale: float = parameter("b", domain=positive, typical=(1.0, 40.0), power=1, meaning="scale")

    def log_pmf(self, x: ArrayLike) -> Floats:
        """Return log P(X = x) from the closed form."""
        size = np.abs(whole(x, "x"))
        half = 0.5 / self.scale
        # log sinh(h) = h + log(1 - e^(-2h)) - log 2 neither overflows nor cancels.
        log_sinh = half + math.log(-math.expm1(-2 * half)) - math.log(2)
        zero = math.log(-math.expm1(-half))
        return np.where(size == 0, zero, log_sinh - size / self.scale)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x): the continuous distribution function at x + 1/2."""
        edge = whole(x, "x") + 0.5
        tail = 0.5 * np.exp(-np.abs(edge) / self.scale)
        probability: Floats = np.where(edge < 0, tail, 1 - tail)
        return probability

    @property
    def variance(self) -> float:
        """Return 2 sinh(1/2b) q (1 + q) / (1 - q)^3 with q = exp(-1/b)."""
        q = math.exp(-1 / self.scale)
        # sinh(1/2b) = (1 - q) / (2 sqrt q) cancels one factor of the denominator.
        return math.sqrt(q) * (1 + q) / math.expm1(-1 / self.scale) ** 2
