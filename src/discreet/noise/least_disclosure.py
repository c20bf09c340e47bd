"""The p-table row of true 1s with the smallest posterior, at the same variance and bound: a convex program.

With a flat prior (all true counts equally likely) the posterior that a published y was a true 1 is

    P(1 | y) = p(1 -> y) / (p(1 -> y) + c(y)),   c(y) = sum of p(i -> y) over i other than 1,

and the worst y >= 1 counts. The rows of all other counts keep their maximum-entropy distribution: were they free as
well, the optimum would leave true 2s without noise to hide the 1s among them. P(1 | y) <= t is the same as
p(1 -> y) <= t / (1 - t) c(y), so the minimum of t / (1 - t) is one linear program. The row is the maximum-entropy
distribution within 0.1 % of it: a row problem with ceilings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InternalError
from discreet.noise.dual import solve

if TYPE_CHECKING:
    from discreet.arrays import Floats
    from discreet.noise.dual import RowProblem

LEEWAY = 1e-3
"""Relative tolerance above the minimum odds of a true 1 for the maximum-entropy distribution."""


def least_disclosure_laws(problems: dict[int, RowProblem]) -> list[Floats]:
    """Return the distribution of every row: minimum posterior for the row of 1s, maximum entropy for the others."""
    laws = dict(zip(problems, (found.probability for found in solve(list(problems.values()))), strict=True))
    row = problems[1]
    others = crowd(problems, laws)
    ceiling = np.where(row.values >= 0, least_odds(row, others) * (1 + LEEWAY) * others, 1.0)
    (found,) = solve([replace(row, ceiling=ceiling)])
    laws[1] = found.probability
    return list(laws.values())


def crowd(problems: dict[int, RowProblem], laws: dict[int, Floats]) -> Floats:
    """Return c(y), the probabilities of y = 1 + v summed over all true counts except 1, per value v of row 1.

    The last row applies to its own count and all larger ones.
    """
    last = max(problems)
    published = 1 + problems[1].values
    total = np.zeros(len(published))
    for count, problem in problems.items():
        if count == last:
            # A change v leads to y from the count y - v, if this row applies to that count.
            reached = published[:, None] - problem.values[None, :] >= count
        elif count != 1:
            reached = published[:, None] - problem.values[None, :] == count
        else:
            continue
        total += reached @ laws[count]
    return total


def least_odds(row: RowProblem, others: Floats) -> float:
    """Return the minimum r with p(1 -> y) <= r c(y) for all y >= 1: a linear program in p and r."""
    from scipy.optimize import linprog

    values = row.values.astype(float)
    size, published = len(values), np.flatnonzero(row.values >= 0)
    # Unknowns p and r; minimise r.
    below = np.zeros((len(published), size + 1))
    below[np.arange(len(published)), published] = 1
    below[:, -1] = -others[published]
    spread = np.append(values**2, 0.0)
    equal = [np.append(np.ones(size), 0.0), np.append(values, 0.0)] + ([spread] if row.equality else [])
    found = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=below if row.equality else np.vstack([below, spread]),
        b_ub=np.zeros(len(below)) if row.equality else np.append(np.zeros(len(below)), row.variance),
        A_eq=np.stack(equal),
        b_eq=[1, 0] + ([row.variance] if row.equality else []),
        bounds=[(0, 1)] * size + [(0, None)],
    )
    if found.status != 0 or found.x is None:
        raise InternalError(f"least-disclosure: the linear program ended with: {found.message}")
    return float(found.x[-1])
