"""Parameter setups: the budgets of the US census 2020, and the truncated laws of Rinott et al. (2018).

Section 4.1 of the paper.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.promised import promised_gaussian, promised_laplace
from discreet.paper.number_comparison import number
from discreet.paper.published import US_GLOBAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.paper.number_comparison import Number
    from discreet.paper.sources import Sources

PERSON_TABLES, GEOGRAPHIES = 0.675, 6
"""The share of a level's budget for tables of persons, and the geographic levels that share the whole."""
ROUNDED_SHARE = 0.1
"""What the paper makes of it."""
RINOTT = ((0.5, 8e-3), (1.5, 2e-5))
"""Epsilon and delta of one count, the larger epsilon with the smaller delta."""
OTHERWISE = ((0.5, 2e-5), (1.5, 8e-3))


def numbers(_sources: Sources) -> Iterator[Number]:
    """Give the numbers of this part."""
    share = PERSON_TABLES / GEOGRAPHIES
    yield number("us-share", 100 * share, "67.5 % / 6 is 11.25 %; the paper goes on with 10 %")
    for budget in US_GLOBAL:
        epsilon = ROUNDED_SHARE * budget
        variance = 2 / epsilon**2
        discrete = TwoSidedGeometric(epsilon=epsilon).variance
        note = f"2 / eps^2 of the continuous Laplace law; the two-sided geometric law that is used has {discrete:.4g}"
        by_construction = (
            f"a tenth of {budget:g}, which agrees by construction; with 11.25 % it is {share * budget:.3g}"
        )
        yield number(f"us-epsilon-{budget:g}", epsilon, by_construction)
        yield number(f"us-variance-{budget:g}", variance, note)
        yield number(f"us-deviation-{budget:g}", math.sqrt(variance), f"square root of {variance:g}")
    bounds, others = (
        [law(*setting).bound for law in (promised_laplace, promised_gaussian) for setting in settings]
        for settings in (RINOTT, OTHERWISE)
    )
    pairs = (
        "epsilon 0.5 with delta 8e-3 and epsilon 1.5 with delta 2e-5, Laplace and Gaussian; paired the other way the "
        f"bounds are {min(others)} to {max(others)}"
    )
    yield number("rinott-least-bound", float(min(bounds)), pairs)
    yield number("rinott-largest-bound", float(max(bounds)), pairs)
