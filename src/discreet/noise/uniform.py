"""Uniform noise on the whole numbers from -E to E."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.arrays import whole
from discreet.noise.distribution import DISTRIBUTIONS, Noise
from discreet.noise.parameters import parameter, positive_whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Floats


@DISTRIBUTIONS.register("uniform")
@dataclass(frozen=True, kw_only=True)
class Uniform(Noise):
    """Every whole number from -E to E with probability 1 / (2E + 1); variance E (E + 1) / 3."""

    name: ClassVar[str] = "uniform"
    bound: int = parameter("E", domain=positive_whole, typical=(1, 10), power=1, meaning="largest absolute noise")

    def log_pmf(self, x: ArrayLike) -> Floats:
        """Return -log(2E + 1) inside the bound."""
        inside = np.abs(whole(x, "x")) <= self.bound
        return np.where(inside, -math.log(2 * self.bound + 1), -np.inf)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return the share of the values up to x."""
        below = np.clip(whole(x, "x") + self.bound + 1, 0, 2 * self.bound + 1)
        probability: Floats = below / (2 * self.bound + 1)
        return probability

    @property
    def variance(self) -> float:
        """Return E (E + 1) / 3."""
        return self.bound * (self.bound + 1) / 3
