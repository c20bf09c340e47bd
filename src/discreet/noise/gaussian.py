"""Gaussian noise, rounded to whole counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.arrays import whole
from discreet.noise.distribution import DISTRIBUTIONS, Noise
from discreet.noise.parameters import parameter, positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Floats


@DISTRIBUTIONS.register("gaussian")
@dataclass(frozen=True, kw_only=True)
class Gaussian(Noise):
    """The normal distribution N(0, sigma^2), rounded to the nearest whole number.

    P(x) = Phi((x + 1/2) / sigma) - Phi((x - 1/2) / sigma). The continuous distribution has
    variance sigma^2; rounding adds about 1/12.
    """

    name: ClassVar[str] = "gaussian"
    sigma: float = parameter(
        "σ", domain=positive, typical=(1.0, 40.0), power=1, meaning="standard deviation before rounding"
    )

    def log_pmf(self, x: ArrayLike) -> Floats:
        """Return log P(X = x) as the difference of two tails on the side with small tails."""
        from scipy.special import log_ndtr

        size = np.abs(whole(x, "x"))
        near = log_ndtr(-(size - 0.5) / self.sigma)
        far = log_ndtr(-(size + 0.5) / self.sigma)
        # log(e^near - e^far) without leaving the logarithm: the tails underflow first.
        probability: Floats = near + np.log(-np.expm1(far - near))
        return probability

    def cdf(self, x: ArrayLike) -> Floats:
        """Return Phi((x + 1/2) / sigma)."""
        from scipy.special import ndtr

        probability: Floats = ndtr((whole(x, "x") + 0.5) / self.sigma)
        return probability

    @property
    def variance(self) -> float:
        """Return the sum of x^2 P(x), to double precision."""
        x = np.arange(1, self.reach(1e-300) + 1)
        return float(2 * (x**2 @ self.pmf(x)))
