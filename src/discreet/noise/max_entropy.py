"""The maximum-entropy distribution on -E..E with a given variance: the generic noise of the cell key method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.distribution import DISTRIBUTIONS, ProbabilityTable, TabulatedNoise
from discreet.noise.dual import RowProblem, solve
from discreet.noise.parameters import parameter, positive, positive_whole

ROUNDING = 1e-9
"""Relative tolerance on a computed variance."""


@DISTRIBUTIONS.register("max-entropy")
@dataclass(frozen=True, kw_only=True)
class MaxEntropy(TabulatedNoise):
    """P(x) proportional to exp(-lambda x^2) on -E..E, lambda set so that the variance is V.

    The least informative distribution with this variance and bound: a discrete Gaussian
    truncated at E. V above E (E + 1) / 3, the variance of uniform noise, makes lambda negative.
    """

    name: ClassVar[str] = "max-entropy"
    variance: float = parameter("V", domain=positive, typical=(0.5, 4.0), power=2, meaning="noise variance")
    bound: int = parameter("E", domain=positive_whole, typical=(2, 10), power=1, meaning="largest absolute noise")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variance >= self.bound**2:
            raise ParameterError.outside(
                "MaxEntropy", "variance", self.variance, f"below the square of the bound, {self.bound**2}"
            )

    @cached_property
    def table(self) -> ProbabilityTable:
        """Return the distribution (cached)."""
        values = np.arange(-self.bound, self.bound + 1)
        (row,) = solve([RowProblem(values, self.variance, equality=True)])
        return ProbabilityTable(values, row.log_probability)

    @property
    def lam(self) -> float:
        """Return lambda, the decrease of the log-probability from 0 to 1."""
        centre = self.bound
        return float(self.table.log_probability[centre] - self.table.log_probability[centre + 1])


def check_room(variance: float, bound: int) -> None:
    """Raise ParameterError if a variance is larger than a bound allows, that of uniform noise."""
    largest = bound * (bound + 1) / 3
    if variance > largest * (1 + ROUNDING):
        enough = math.ceil((math.sqrt(1 + 12 * variance) - 1) / 2 - ROUNDING)
        raise ParameterError(
            f"A bound of {bound} allows a variance of at most {largest:.3g}, not {variance:g}. Give a smaller variance,"
            f" or a bound of at least {enough}.",
            parameter="variance",
        )
