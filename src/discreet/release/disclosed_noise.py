"""The noise that a release discloses to data users, a typical size and a vague bound, and a distribution that fits it.

The size is published with one decimal and stands for a range: half a unit of that decimal either way. For protection
the minimum of the range is the conservative value; for the error of a count, the maximum.
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from discreet.errors import InfeasibleError
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable, PTableRow

if TYPE_CHECKING:
    from discreet.noise.by_count import TransitionMatrix

TOLD_BOUND = re.compile(r"about (\d+)")
HALF_A_UNIT = 0.05
"""Of the last decimal of the size that is told."""


def told_range(told: dict[str, Any]) -> tuple[float, float] | None:
    """Return the least and the largest standard deviation that the told one may stand for; None where none is told.

    >>> told_range({"typical_noise": 1.3})
    (1.25, 1.35)
    """
    typical = float(told.get("typical_noise") or 0.0)
    if not typical:
        return None
    return round(max(typical - HALF_A_UNIT, HALF_A_UNIT), 6), round(typical + HALF_A_UNIT, 6)


def typical_change(told: dict[str, Any]) -> float:
    """Return the root mean square change of a large count that is told: typical noise and its mean together."""
    return math.hypot(float(told.get("typical_noise") or 0.0), float(told.get("mean_noise", 0.0)))


def disclosed_noise(told: dict[str, Any]) -> TransitionMatrix:
    """Return the law with most entropy within the bound that is told, geometric where none is.

    It has the largest size that rounds to what is told: intervals made with it hold at least as often as they say.
    A mean that is told widens it, as it widens the error of users; noise without any spread is a fixed change.
    Small counts that are told never to be published have no chance, unless this is more than the size has room for.
    """
    spread, non_negative, zeros = told_range(told), "negative" in told, "zeros" in told
    mean = float(told.get("mean_noise", 0.0))
    if spread is None:
        fixed = PTableRow(0, (0,), (1.0,)), PTableRow(1, (round(mean),), (1.0,))
        return transition_matrix(PTable(fixed), non_negative=non_negative) if round(mean) else transition_matrix(None)
    variance, bound = spread[1] ** 2 + mean**2, TOLD_BOUND.search(str(told.get("bound", "")))
    if bound is None:
        # Variance 2q / (1 - q)^2 = v, solved for q = exp(-epsilon).
        law = TwoSidedGeometric(epsilon=-math.log((variance + 1 - math.sqrt(2 * variance + 1)) / variance))
        return transition_matrix(law, zeros=zeros, non_negative=non_negative)
    # The bound is below the number told; the variance may not need all of it, and is never more than it has room for.
    most = int(bound[1]) - 1
    fits = partial(PTable.max_entropy, variance=min(variance, most * (most + 1) / 3), bound=most, perturb_zeros=zeros)
    try:
        table = fits(threshold=int(told.get("smallest_published", 1)) - 1)
    except InfeasibleError:
        table = fits()
    return transition_matrix(table, non_negative=non_negative)
