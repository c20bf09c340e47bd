"""Time to solve a p-table, compared with a general solver (SLSQP, as in the R package ptable)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from benchmarks.clock import Figure, cpu_seconds, report
from discreet.noise.ptable import PTable
from discreet.noise.ptable_settings import PTableSettings

if TYPE_CHECKING:
    from discreet.arrays import Floats


def information(p: Floats) -> float:
    """Return sum p log p, the negative entropy."""
    return float(p @ np.log(p))


def information_slope(p: Floats) -> Floats:
    """Return its gradient."""
    slope: Floats = 1 + np.log(p)
    return slope


def by_slsqp(variance: float, bound: int) -> list[object]:
    """Solve every row by SLSQP from the uniform distribution."""
    found: list[object] = []
    for problem in PTableSettings(variance=variance, bound=bound).row_problems().values():
        v = problem.values.astype(np.float64)
        centred = LinearConstraint(np.stack([np.ones_like(v), v]), [1, 0], [1, 0])
        capped = LinearConstraint(v**2, 0, variance)
        found.append(
            minimize(
                information,
                np.full(len(v), 1 / len(v)),
                jac=information_slope,
                method="SLSQP",
                bounds=[(1e-8, 1)] * len(v),
                constraints=[centred, capped],
            )
        )
    return found


def main() -> None:
    """Measure small and large tables, the rounding to keys and the other objective."""
    small = cpu_seconds(lambda: PTable.max_entropy(variance=2, bound=5), runs=101)
    large = cpu_seconds(lambda: PTable.max_entropy(variance=400, bound=100), runs=11)
    figures = [
        Figure("E=5, V=2", small, "SLSQP", cpu_seconds(lambda: by_slsqp(2, 5)), "target: below 1 ms"),
        Figure("E=20, V=10", cpu_seconds(lambda: PTable.max_entropy(variance=10, bound=20), runs=51), "SLSQP",
               cpu_seconds(lambda: by_slsqp(10, 20), runs=1)),
        Figure("E=100, V=400", large, "E=5, V=2", small, "target: below 50 ms"),
        Figure("E=5, V=3, j_s=2, monotone, floor 1e-8",
               cpu_seconds(lambda: PTable.max_entropy(variance=3, bound=5, threshold=2, monotone=True, floor=1e-8)),
               "E=5, V=2", small, "feasibility by linear programs"),
        Figure("E=5, V=2, rounded to 2^32 keys", cpu_seconds(lambda: PTable.max_entropy(variance=2, bound=5).rounded),
               "E=5, V=2", small),
        Figure("E=100, V=400, rounded to 2^32 keys",
               cpu_seconds(lambda: PTable.max_entropy(variance=400, bound=100).rounded, runs=3), "E=100, V=400", large),
        Figure("E=5, V=2, least-disclosure", cpu_seconds(lambda: PTable.least_disclosure(variance=2, bound=5)),
               "E=5, V=2", small),
    ]  # fmt: skip
    report("ptable", figures)


if __name__ == "__main__":
    main()
