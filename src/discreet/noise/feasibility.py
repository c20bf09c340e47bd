"""Whether a p-table can exist, decided before it is solved, with the row and the way out named.

A row is feasible when a law with every probability positive (or above the floor)
meets its constraints: some change must lead down and some up, and the variance
asked for must lie above the least and, with equality, below the largest variance
that the row can have.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InfeasibleError

if TYPE_CHECKING:
    from discreet.noise.dual import RowProblem
    from discreet.noise.settings import PTableSettings


def check_feasible(settings: PTableSettings) -> None:
    """Raise InfeasibleError for the first row that no law satisfies."""
    for count, problem in settings.row_problems().items():
        if problem.values[0] >= 0 or problem.values[-1] <= 0:
            raise _one_sided(settings, count)
        limits = variance_limits(problem)
        if limits is None:
            raise _no_law(settings, count)
        low, high = limits
        if problem.variance <= low:
            raise _too_small(settings, count, low)
        if problem.equality and problem.variance >= high:
            raise _too_large(settings, count, high)


def variance_limits(problem: RowProblem) -> tuple[float, float] | None:
    """Return the least and the largest variance of a row with mean 0, or None if it has no law at all.

    Without further constraints the extremes sit on two values: on those next to
    0 (or on 0 itself), variance |a| b for the values a < 0 < b, and on the outermost.
    """
    values = problem.values
    if not problem.plain:
        return _limits_by_linear_program(problem)
    # Next to 0 the least variance is |a| b; where 0 itself is allowed it is 0.
    low = 0.0 if (values == 0).any() else float(-values[values < 0].max() * values[values > 0].min())
    return low, float(-values[0] * values[-1])


def _limits_by_linear_program(problem: RowProblem) -> tuple[float, float] | None:
    """Return the limits of sum v^2 p where floor, stay or monotone are asked for."""
    from scipy.optimize import linprog

    values = problem.values.astype(float)
    size, zero = len(values), int(np.searchsorted(values, 0))
    stays = zero < size and values[zero] == 0
    bounds = [(problem.floor, 1.0)] * size
    if stays:
        bounds[zero] = (max(problem.floor, problem.stay), 1.0)
    rises = zero if problem.monotone and stays else 0
    falling = np.zeros((rises, size))
    falling[np.arange(rises), np.arange(rises)] = 1
    falling[np.arange(rises), np.arange(rises) + 1] = -1
    limits = []
    for sign in (1, -1):
        found = linprog(
            sign * values**2,
            A_ub=falling if rises else None,
            b_ub=np.zeros(rises) if rises else None,
            A_eq=np.stack([np.ones(size), values]),
            b_eq=[1, 0],
            bounds=bounds,
        )
        if found.fun is None:
            return None
        limits.append(sign * float(found.fun))
    return limits[0], limits[1]


def _one_sided(settings: PTableSettings, count: int) -> InfeasibleError:
    return InfeasibleError.in_row(
        count,
        f"With threshold {settings.threshold} and bound {settings.bound} a count of {count} can only stay or rise, "
        "so its noise cannot average 0.",
        f"Use a bound of at least {settings.threshold + 1}, or a threshold of at most {settings.bound - 1}.",
    )


def _no_law(settings: PTableSettings, count: int) -> InfeasibleError:
    return InfeasibleError.in_row(
        count,
        f"No law with mean 0 gives every change of a count of {count} a probability of at least "
        f"{settings.floor:g} and no change at least {settings.stay:g}.",
        "Use a smaller floor or stay.",
    )


def _too_small(settings: PTableSettings, count: int, low: float) -> InfeasibleError:
    least = max(_least_variance(problem) for problem in settings.row_problems().values())
    if settings.threshold and count <= settings.threshold:
        why = f"a count of {count} must become 0 or {settings.threshold + 1} and more"
        way_out = f", or a threshold of at most {settings.threshold - 1}"
    else:
        why = f"every change has a probability of at least {settings.floor:g}"
        way_out = ", or a smaller floor"
    return InfeasibleError.in_row(
        count,
        f"Because {why}, its variance is above {low:g}; {settings.variance:g} was asked for.",
        f"The smallest feasible variance is just above {least:g}: use a larger one{way_out}.",
    )


def _least_variance(problem: RowProblem) -> float:
    limits = variance_limits(problem)
    return limits[0] if limits else math.inf


def _too_large(settings: PTableSettings, count: int, high: float) -> InfeasibleError:
    values = settings.changes(count)
    asked = " with the stay, floor or monotone shape asked for" if not settings.row_problems()[count].plain else ""
    largest = min(limits[1] for p in settings.row_problems().values() if (limits := variance_limits(p)))
    # Row 1 falls by 1 at most, so its variance is below the bound: a bound above V always serves.
    larger_bound = max(settings.threshold + 1, math.floor(settings.variance) + 1)
    way_out = "" if asked else f" or a bound of at least {larger_bound}"
    return InfeasibleError.in_row(
        count,
        f"A count of {count} falls by at most {-values[0]} and rises by at most {values[-1]}, so{asked} its variance "
        f"stays below {high:g}; exactly {settings.variance:g} was asked for.",
        f"Use a variance below {largest:g}{way_out}, or ask for the variance as an upper limit (without equality).",
    )
