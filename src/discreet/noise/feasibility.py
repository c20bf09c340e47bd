"""Feasibility of a p-table, checked before it is solved; errors name the row and the changes that help.

A row is feasible if a distribution with all probabilities positive (or at least the floor) meets its constraints. Some
changes must be negative and some positive. The requested variance must lie above the minimum and, with equality, below
the maximum variance of the row.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InfeasibleError

if TYPE_CHECKING:
    from discreet.noise.dual import RowProblem
    from discreet.noise.ptable_settings import PTableSettings


def check_feasible(settings: PTableSettings) -> None:
    """Raise InfeasibleError for an infeasible row; rows whose noise cannot have mean 0 are reported first."""
    rows = settings.row_problems()
    for count, problem in rows.items():
        if not _two_sided(problem):
            raise _one_sided(settings, count)
    for count, problem in rows.items():
        limits = variance_limits(problem)
        if limits is None:
            raise _no_distribution(settings, count)
        low, high = limits
        if problem.variance <= low:
            raise _too_small(settings, count, low)
        if problem.equality and problem.variance >= high:
            raise _too_large(settings, count, high)


def _two_sided(problem: RowProblem) -> bool:
    return len(problem.values) > 0 and bool(problem.values[0] < 0 < problem.values[-1])


def variance_limits(problem: RowProblem) -> tuple[float, float] | None:
    """Return the minimum and the maximum variance of a row with mean 0; None if no distribution exists.

    Without further constraints the extremes are attained on two values: the minimum
    |a| b on the values a < 0 < b next to 0 (or on 0 itself), the maximum on the outermost.
    """
    values = problem.values
    if not problem.plain:
        return _limits_by_linear_program(problem)
    # The minimum variance is |a| b for the values next to 0; if 0 itself is allowed it is 0.
    low = 0.0 if (values == 0).any() else float(-values[values < 0].max() * values[values > 0].min())
    return low, float(-values[0] * values[-1])


def _limits_by_linear_program(problem: RowProblem) -> tuple[float, float] | None:
    """Return the limits of sum v^2 p under constraints on floor, stay or monotone."""
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
    changes = settings.changes(count).tolist()
    moves = [
        word
        for word, able in (
            ("stay unchanged", 0 in changes),
            ("decrease", min(changes) < 0),
            ("increase", max(changes) > 0),
        )
        if able
    ]
    return InfeasibleError.in_row(
        count,
        f"With threshold {settings.threshold} and bound {settings.bound} a count of {count} can only "
        f"{' or '.join(moves)}, so that its noise cannot have mean 0.",
        _ways_out(settings),
    )


def _no_distribution(settings: PTableSettings, count: int) -> InfeasibleError:
    return InfeasibleError.in_row(
        count,
        f"No distribution with mean 0 gives every change of a count of {count} a probability of at least "
        f"{settings.floor:g} and an unchanged count at least {settings.stay:g}.",
        _ways_out(settings),
    )


def _too_small(settings: PTableSettings, count: int, low: float) -> InfeasibleError:
    if settings.threshold and count <= settings.threshold:
        why = f"a count of {count} must become 0 or at least {settings.threshold + 1}"
    else:
        why = f"every change has a probability of at least {settings.floor:g}"
    return InfeasibleError.in_row(
        count,
        f"Because {why}, its variance is above {low:g}. The requested variance is {settings.variance:g}.",
        _ways_out(settings),
    )


def _too_large(settings: PTableSettings, count: int, high: float) -> InfeasibleError:
    values = settings.changes(count)
    shape = "" if _plain(settings) else " with the requested stay, floor or monotone shape"
    return InfeasibleError.in_row(
        count,
        f"A count of {count} decreases by at most {-values[0]} and increases by at most {values[-1]}, so that{shape} "
        f"its variance is below {high:g}. The requested variance is exactly {settings.variance:g}.",
        _ways_out(settings),
    )


EASIER = {
    "floor": "a smaller floor",
    "stay": "a smaller stay",
    "monotone": "no monotone shape",
    "equality": "the variance as an upper limit (without equality)",
}
"""Constraints that can be relaxed, and the words for it."""


def _ways_out(settings: PTableSettings) -> str:
    """Return the smallest changes of one constraint that help; each of them gives a feasible table."""
    ways = []
    if limits := _table_limits(settings):
        ways.append(_variance_between(*limits))
    bound = _least_bound(settings, settings.variance)
    if _plain(settings) and bound > settings.bound and settings.variance > _least_variance(settings):
        ways.append(f"a bound of at least {bound}")
    threshold = _largest_threshold(settings)
    if threshold is not None:
        ways.append(f"a threshold of at most {threshold}")
    for name, words in EASIER.items():
        given = getattr(settings, name)
        if given and _feasible(replace(settings, **{name: type(given)(0)})):
            ways.append(words)
    return f"Use {', or '.join(ways or [_two_changes(settings)])}."


def _largest_threshold(settings: PTableSettings) -> int | None:
    """Return the largest smaller threshold that is feasible, by bisection; None if no threshold is."""
    low, high = -1, min(settings.threshold, settings.bound)
    while high - low > 1:
        middle = (low + high) // 2
        if _feasible(replace(settings, threshold=middle)):
            low = middle
        else:
            high = middle
    return low if low >= 0 else None


def _two_changes(settings: PTableSettings) -> str:
    """Return two changes that help if no single change does."""
    if not _plain(settings):
        plain = replace(settings, floor=0.0, stay=0.0, monotone=False)
        first = "" if _feasible(plain) else f"{_two_changes(plain)} and "
        return f"{first}no floor, stay or monotone shape"
    least = _least_variance(settings)
    bound = max(settings.bound, _least_bound(settings, least))
    largest = _largest_variance(settings, bound) if settings.equality else math.inf
    return f"a bound of at least {bound} with {_variance_between(least, largest)}"


def _variance_between(low: float, high: float) -> str:
    limits = ([f"above {low:g}"] if low > 0 else []) + ([f"below {high:g}"] if math.isfinite(high) else [])
    return f"a variance {' and '.join(limits)}"


def _feasible(settings: PTableSettings) -> bool:
    limits = _table_limits(settings)
    return limits is not None and limits[0] < settings.variance < limits[1]


def _table_limits(settings: PTableSettings) -> tuple[float, float] | None:
    """Return the variances between which all rows are feasible; None if no variance is."""
    low, high = 0.0, math.inf
    for problem in settings.row_problems().values():
        limits = variance_limits(problem) if _two_sided(problem) else None
        if limits is None:
            return None
        low = max(low, limits[0])
        high = min(high, limits[1]) if settings.equality else high
    return (low, high) if low < high else None


def _plain(settings: PTableSettings) -> bool:
    return not (settings.floor or settings.stay or settings.monotone)


def _least_variance(settings: PTableSettings) -> float:
    """Return the largest i (j_s + 1 - i): the nearest values for a count i up to the threshold are 0 and j_s + 1."""
    return (settings.threshold + 1) ** 2 // 4 if settings.threshold else 0


def _largest_variance(settings: PTableSettings, bound: int) -> int:
    """Return the minimum of |v_min| v_max over rows: row 1 decreases by 1; if zeros are perturbed, E + 1 by E - j_s."""
    return bound * (bound - settings.threshold if settings.perturb_zeros else 1)


def _least_bound(settings: PTableSettings, variance: float) -> int:
    """Return the smallest bound above the threshold that, with equality, also allows a variance."""
    threshold, reached = settings.threshold, math.floor(variance)
    if not settings.equality:
        return threshold + 1
    if not settings.perturb_zeros:
        return max(threshold, reached) + 1
    # The smallest integer E with E (E - j_s) above the variance.
    return max(threshold, (threshold + math.isqrt(threshold**2 + 4 * reached)) // 2) + 1
