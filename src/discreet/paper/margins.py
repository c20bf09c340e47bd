"""Exploiting margins: sets of women, men and total whose published counts leave one truth.

Section 3.2 of the paper. A set is divulged for certain where all three noises are at the bound, 2 p_E^3; the paper
takes the larger chance p1 of an extreme gap for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.noise.max_entropy import MaxEntropy
from discreet.paper.number_comparison import number
from discreet.paper.published import TUPLES
from discreet.risk.bound import bound_disclosure
from discreet.risk.margins import forced_truth, forced_tuples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.paper.number_comparison import Number
    from discreet.paper.sources import Sources

ELSEWHERE = "another paper's estimate; its scenario is not told here"


def numbers(_sources: Sources) -> Iterator[Number]:
    """Give the numbers of this part."""
    truth = forced_truth([3, 2], 11, bound=2)
    assert truth  # noqa: S101 - the paper's example is forced
    for name, count in zip(("forced-women", "forced-men", "forced-total"), truth, strict=True):
        yield number(name, float(count))
    law = MaxEntropy(variance=2, bound=5)
    forced, extreme = forced_tuples(law, tuples=TUPLES["DE"]), bound_disclosure(law, tuples=TUPLES["DE"])
    yield number(
        "forced-chance",
        forced.chance,
        f"2 p_E^3, all three noises at the bound, for a set that is divulged for certain. The paper means p1, ours "
        f"{extreme.chance:.2g}: the chance that a gap shows the bound, which does not yet tell the counts. Counts "
        "above the bound; small ones force more patterns",
    )
    yield number(
        "removed-tuples",
        extreme.chance * extreme.tuples,
        f"p1 times 2.8e7 at V = 2, E = 5; for certain {forced.expected:.2g} are divulged",
    )
    yield number("risk-of-others-most", None, ELSEWHERE)
    yield number("risk-of-others-least", None, ELSEWHERE)
