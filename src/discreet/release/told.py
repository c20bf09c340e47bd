"""A law of noise that fits what a release tells its users: a typical size and a vague bound."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from discreet.noise.by_count import by_count
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable

if TYPE_CHECKING:
    from discreet.noise.by_count import LawByCount

TOLD_BOUND = re.compile(r"about (\d+)")


def told_law(told: dict[str, Any]) -> LawByCount:
    """Return the law with most entropy within the bound that is told, geometric where none is."""
    typical, non_negative, zeros = float(told.get("typical_noise") or 0.0), "negative" in told, "zeros" in told
    if not typical:
        return by_count(None)
    bound = TOLD_BOUND.search(str(told.get("bound", "")))
    if bound is None:
        # Variance 2q / (1 - q)^2 = v, solved for q = exp(-epsilon).
        v = typical**2
        law = TwoSidedGeometric(epsilon=-math.log((v + 1 - math.sqrt(2 * v + 1)) / v))
        return by_count(law, zeros=zeros, non_negative=non_negative)
    # The bound is below the number told; the variance may not need all of it.
    table = PTable.max_entropy(variance=typical**2, bound=int(bound[1]) - 1, perturb_zeros=zeros)
    return by_count(table, non_negative=non_negative)
