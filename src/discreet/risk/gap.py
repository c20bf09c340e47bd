"""The gap of an additive tuple: how far published parts and their total are from adding up.

The true counts of c parts and their total add up, so the gap of the published ones,

    g = sum of the published parts - published total,

holds noise alone and lies within +-(c + 1) E.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.parameters import non_negative_whole, positive_whole
from discreet.noise.ptable import PTableRow
from discreet.noise.rounded import RoundedRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Floats
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable import PTable


def largest_noise(law: Noise | RoundedRow) -> int:
    """Return the largest absolute noise that occurs."""
    if isinstance(law, RoundedRow):
        return law.bound
    if math.isinf(law.bound):
        raise ParameterError(
            f"{type(law).__name__} is unbounded: it has no bound to reveal. Cut it with Truncated(law, bound=E), "
            "or look at the (epsilon, delta) of the law instead.",
            parameter="law",
        )
    x = np.arange(-int(law.bound), int(law.bound) + 1)
    # A probability that underflows is still one that occurs: its logarithm is finite.
    return int(np.abs(x[np.isfinite(law.log_pmf(x))]).max())


def probabilities(law: Noise | RoundedRow, bound: int | None = None) -> Floats:
    """Return the probabilities of -E .. E; E is the law's largest noise unless a wider bound is given."""
    edge = bound or largest_noise(law)
    if edge == 0:
        raise ParameterError("This law never changes a count: there is no bound to reveal.", parameter="law")
    x = np.arange(-edge, edge + 1)
    if isinstance(law, RoundedRow):
        found = law.law()
        return np.array([float(found.get(value, 0)) for value in x.tolist()])
    return law.pmf(x)


def gap_law(parts: Sequence[Floats], total: Floats) -> Floats:
    """Return the law of g on -(c + 1)E .. (c + 1)E for laws of parts and total given on -E .. E.

    By convolution: sums of products of probabilities, without cancellation.
    """
    return reduce(np.convolve, parts, total[::-1])


def extreme_gap(parts: Sequence[Floats], total: Floats) -> float:
    """Return P(|g| > (c + 1)(E - 1)), both tails.

    The c + 1 outermost values on each side are summed, so tiny chances keep their digits.
    """
    gap, outer = gap_law(parts, total), len(parts) + 1
    return min(1.0, math.fsum(gap[:outer]) + math.fsum(gap[-outer:]))


def as_drawn(ptable: PTable, key_space: int | None = None) -> PTable:
    """Return the p-table with the probabilities that its keys really give: whole multiples of 1/K.

    K is the table's own key space (plain keys) or the one given (2**64 for mixed keys).
    """
    grid = key_space or ptable.key_space
    laws = [row.rounded(grid).law() for row in ptable.rows]
    rows = (
        PTableRow(row.count, tuple(law), tuple(map(float, law.values())))
        for row, law in zip(ptable.rows, laws, strict=True)
    )
    return replace(ptable, rows=tuple(rows))


def check_tuples(*, tuples: int, categories: int) -> None:
    """Raise ParameterError unless there are no tuples or more, of two parts or more."""
    if not non_negative_whole.contains(tuples):
        raise ParameterError.outside("additive tuples", "tuples", tuples, non_negative_whole.words)
    if not positive_whole.contains(categories) or categories < 2:
        raise ParameterError.outside("additive tuples", "categories", categories, "a whole number from 2 on")
