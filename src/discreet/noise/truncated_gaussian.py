"""Discrete Gaussian noise cut at a bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.distribution import Table, TabulatedNoise
from discreet.noise.parameters import parameter, positive, positive_whole
from discreet.noise.truncated import Truncated


@dataclass(frozen=True, kw_only=True)
class TruncatedGaussian(TabulatedNoise):
    """P(x) proportional to exp(-x^2 / (2 sigma^2)) on -E..E: the maximum-entropy law, told by sigma instead of V.

    A count and its neighbour differ by a factor of at most exp(epsilon), epsilon = (2 E - 1) / (2 sigma^2), but
    for the outermost value: delta(epsilon) = P(E).
    """

    name: ClassVar[str] = "truncated-gaussian"
    sigma: float = parameter(
        "σ", domain=positive, typical=(1.0, 5.0), power=1, meaning="standard deviation before the cut"
    )
    bound: int = parameter("E", domain=positive_whole, typical=(5, 12), power=1, meaning="largest absolute noise")

    @cached_property
    def table(self) -> Table:
        """Return the law without the cut, cut."""
        return Truncated(DiscreteGaussian(sigma=self.sigma), self.bound).table

    @property
    def variance(self) -> float:
        """Return the variance of the cut law."""
        return self.table.variance
