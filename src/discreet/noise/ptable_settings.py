"""Constraints and objective of a p-table, declared once, and the row problems that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.dual import RowProblem
from discreet.noise.parameters import parameter, parameters, positive_variance, share, table_bound, table_threshold

if TYPE_CHECKING:
    from discreet.arrays import Ints

OBJECTIVES = ("entropy", "least-disclosure")


@dataclass(frozen=True, kw_only=True)
class PTableSettings:
    """The constraints and the objective of a p-table.

    Attributes:
        variance: V, the upper limit of every row's variance, or its value with `equality`.
        bound: E, the largest absolute noise (D in the R package ptable).
        threshold: j_s, the largest positive count that is never published.
        stay: the minimum probability of an unchanged count (pstay in ptable).
        floor: the minimum probability of every allowed change (1e-8 in ptable).
        equality: whether the variance must be exactly V (optim = 4 in ptable).
        monotone: whether probabilities must increase up to a change of 0 (mono in ptable).
        perturb_zeros: whether empty cells have noise too; counts may then become negative.
        objective: `entropy` or `least-disclosure`.
    """

    variance: float = parameter("V", domain=positive_variance, typical=(0.5, 4.0), power=2, meaning="noise variance")
    bound: int = parameter("E", domain=table_bound, typical=(2, 10), power=1, meaning="largest absolute noise")
    threshold: int = parameter(
        "j_s",
        domain=table_threshold,
        typical=(0, 2),
        power=1,
        meaning="largest positive count that is never published",
        default=0,
    )
    stay: float = parameter(
        "p(0)", domain=share, typical=(0.0, 0.5), power=0, meaning="minimum probability of no change", default=0.0
    )
    floor: float = parameter(
        "p_min", domain=share, typical=(0.0, 1e-8), power=0, meaning="minimum probability of every change", default=0.0
    )
    equality: bool = False
    monotone: bool = False
    perturb_zeros: bool = False
    objective: str = "entropy"

    def __post_init__(self) -> None:
        for name, declared in parameters(type(self)).items():
            declared.check("p-table", name, getattr(self, name))
        if self.objective not in OBJECTIVES:
            raise UnknownNameError.among("objective", self.objective, OBJECTIVES)
        extra = [name for name in ("stay", "floor", "monotone") if getattr(self, name)]
        if self.objective == "least-disclosure" and extra:
            raise ParameterError(
                f"p-table: {' and '.join(extra)} cannot be combined with the objective least-disclosure. "
                "Omit one of them.",
                parameter=extra[0],
            )

        if self.objective == "least-disclosure" and self.bound < 2:
            raise ParameterError(
                "p-table: the objective least-disclosure needs a bound of at least 2. With bound 1 the row of true 1s "
                "also applies to all larger counts.",
                parameter="bound",
            )

    @property
    def last_row(self) -> int:
        """Return the count whose row applies to all larger counts: E, or E + j_s + 1 with a threshold."""
        return self.bound if self.threshold == 0 else self.bound + self.threshold + 1

    @property
    def first_row(self) -> int:
        """Return the smallest count with noise."""
        return 0 if self.perturb_zeros else 1

    def changes(self, count: int) -> Ints:
        """Return the allowed changes v of a count: to max(i - E, 0) .. i + E without 1 .. j_s."""
        lowest = count - self.bound if self.perturb_zeros else max(count - self.bound, 0)
        target = np.arange(lowest, count + self.bound + 1)
        return target[(target < 1) | (target > self.threshold)] - count

    def row_problems(self) -> dict[int, RowProblem]:
        """Return the problem of every row with noise, by count."""
        return {
            count: RowProblem(self.changes(count), self.variance, self.equality, self.floor, self.stay, self.monotone)
            for count in range(self.first_row, self.last_row + 1)
        }
