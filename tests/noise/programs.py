"""Row problems as linear programs: an independent view of what a p-table row may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog

if TYPE_CHECKING:
    from discreet.arrays import Floats
    from discreet.noise.dual import RowProblem


@dataclass(frozen=True, eq=False)
class Polytope:
    """The laws p of a row: less @ p <= at_most, equal @ p = exactly, low <= p <= high."""

    less: Floats
    at_most: Floats
    equal: Floats
    exactly: Floats
    low: Floats
    high: Floats

    def best(self, objective: Floats) -> Floats | None:
        """Return the distribution that maximises objective @ p; None if the row is infeasible."""
        found = linprog(
            -objective,
            A_ub=self.less if len(self.less) else None,
            b_ub=self.at_most if len(self.less) else None,
            A_eq=self.equal,
            b_eq=self.exactly,
            bounds=list(zip(self.low, self.high, strict=True)),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        return None if found.status == 2 else np.asarray(found.x, dtype=np.float64)

    def violation(self, p: Floats) -> float:
        """Return the largest amount by which a law breaks a constraint."""
        broken = [np.abs(self.equal @ p - self.exactly), self.less @ p - self.at_most, self.low - p, p - self.high]
        return float(max(part.max(initial=0.0) for part in broken))


def polytope(problem: RowProblem, *, with_variance: bool = True) -> Polytope:
    """Return the laws that satisfy a row problem, with or without what it asks of the variance."""
    v = problem.values.astype(float)
    less: list[Floats] = []
    at_most: list[float] = []
    equal, exactly = [np.ones_like(v), v], [1.0, 0.0]
    if with_variance and problem.equality:
        equal, exactly = [*equal, v**2], [*exactly, problem.variance]
    elif with_variance:
        less, at_most = [v**2], [problem.variance]
    low, high = np.full(len(v), problem.floor), np.ones(len(v))
    (zero,) = np.nonzero(v == 0)
    low[zero] = max(problem.floor, problem.stay)
    if problem.ceiling is not None:
        high = np.minimum(high, problem.ceiling)
    if problem.monotone and len(zero):
        for left in range(int(zero[0])):
            step = np.zeros(len(v))
            step[left], step[left + 1] = 1, -1
            less.append(step)
            at_most.append(0.0)
    return Polytope(
        np.array(less).reshape(-1, len(v)), np.array(at_most), np.array(equal), np.array(exactly), low, high
    )


def variance_range(problem: RowProblem) -> tuple[float, float] | None:
    """Return the least and the largest variance that the other constraints allow, or None without any law."""
    free = polytope(problem, with_variance=False)
    square = problem.values.astype(float) ** 2
    least, largest = free.best(-square), free.best(square)
    return None if least is None or largest is None else (float(square @ least), float(square @ largest))


def positive_law_exists(problem: RowProblem) -> bool:
    """Return whether a distribution with all probabilities above 0 solves the row: maximise the smallest one."""
    size = len(problem.values)
    if size == 0:
        return False
    laws = polytope(problem)
    raised = Polytope(
        np.vstack(
            [np.hstack([laws.less, np.zeros((len(laws.less), 1))]), np.hstack([-np.eye(size), np.ones((size, 1))])]
        ),
        np.append(laws.at_most, np.zeros(size)),
        np.hstack([laws.equal, np.zeros((len(laws.equal), 1))]),
        laws.exactly,
        np.append(laws.low, 0.0),
        np.append(laws.high, 1.0),
    )
    found = raised.best(np.eye(size + 1)[-1])
    return found is not None and found[-1] > 1e-8
