"""Any law cut at a bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet.noise.distribution import Noise, Table, TabulatedNoise
from discreet.noise.parameters import parameter, positive_whole


@dataclass(frozen=True)
class Truncated(TabulatedNoise):
    """A law given that its absolute value is at most the bound: P(x) / P(|X| <= E)."""

    name: ClassVar[str] = "truncated"
    law: Noise
    bound: int = parameter("E", domain=positive_whole, typical=(2, 20), power=1, meaning="largest absolute noise")

    @cached_property
    def table(self) -> Table:
        """Return the cut law, renormalised in the logarithm."""
        values = np.arange(-self.bound, self.bound + 1)
        log_weight = self.law.log_pmf(values)
        log_weight = log_weight - log_weight.max()
        return Table(values, log_weight - np.log(np.exp(log_weight).sum()))

    @property
    def variance(self) -> float:
        """Return the variance of the cut law."""
        return self.table.variance
