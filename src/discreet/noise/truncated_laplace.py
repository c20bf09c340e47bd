"""Two-sided geometric noise cut at a bound: the truncated Laplace law of Rinott and others on whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from discreet.noise.distribution import Table, TabulatedNoise
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.parameters import parameter, positive, positive_whole
from discreet.noise.truncated import Truncated


@dataclass(frozen=True, kw_only=True)
class TruncatedLaplace(TabulatedNoise):
    """P(x) proportional to exp(-epsilon |x|) on -E..E.

    A count and its neighbour differ by a factor of at most exp(epsilon), but for the outermost value:
    delta(epsilon) = P(E).
    """

    name: ClassVar[str] = "truncated-laplace"
    epsilon: float = parameter(
        "ε", domain=positive, typical=(0.5, 1.5), power=-1, meaning="fall of the log-probability by a step"
    )
    bound: int = parameter("E", domain=positive_whole, typical=(5, 12), power=1, meaning="largest absolute noise")

    @cached_property
    def table(self) -> Table:
        """Return the law without the cut, cut."""
        return Truncated(TwoSidedGeometric(epsilon=self.epsilon), self.bound).table

    @property
    def variance(self) -> float:
        """Return the variance of the cut law."""
        return self.table.variance
