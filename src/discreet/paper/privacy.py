"""Privacy budgets: what strict epsilon asks for in one output, and when unbounded noise is no refuge.

Sections 2.4 and 3.1 of the paper, and the epsilon-DP picture of section 3.3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.paper.example import histogram
from discreet.paper.number_comparison import PROGRAMME, number
from discreet.paper.published import TABLE_1
from discreet.paper.sources import KEPT, RULES
from discreet.programme.lattice import lattice
from discreet.risk.averaging import averaging
from discreet.risk.reconstruction import epsilon_of_reconstruction, exponential_attack
from discreet.risk.sensitivity import laplace_scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.paper.number_comparison import Number
    from discreet.paper.sources import Sources

TENTH = 10
LEAST_EPSILON, MOST_EPSILON = 1, 10
ENDS = {True: "the smaller t with the larger epsilon", False: "the larger t with the smaller epsilon"}
"""Which noise is the least and the most, by whether SPSN holds."""


def numbers(sources: Sources) -> Iterator[Number]:
    """Give the numbers of this part."""
    yield number(
        "records-wrong",
        float(exponential_attack(1000, 5).value),
        "with E = 5, of 1,000 records, if all counts were published",
    )
    # The budget of the i-th query is 1 / 2^i.
    yield number("halving-noise", laplace_scale(2.0**-TENTH, 1).value * math.sqrt(2), "sqrt(2) 2^10 persons")
    total = averaging(lattice(histogram("SEX"))).t[0]
    yield number("sensitivity-with-total", float(total), "one person is in one category and in the total")
    yield number("reconstruction-epsilon", epsilon_of_reconstruction(10**6, 0.99).value)
    for name, epsilon, spsn in (
        ("global-noise-least", MOST_EPSILON, True),
        ("global-noise-most", LEAST_EPSILON, False),
    ):
        published = int(TABLE_1["total"][0 if spsn else 1][0])
        yield number(
            name, _deviation(epsilon, published), f"{ENDS[spsn]}; sqrt(2) {published} / {epsilon}, the paper's t"
        )
        for rule in RULES:
            found = sources.averaging("DE", rule, spsn=spsn, keep_single=True)
            t = int(found.t[found.names.index("total")])
            note = f"{ENDS[spsn]}; sqrt(2) {t} / {epsilon}, t of the total as the rule {rule} counts it, {KEPT}"
            yield number(name, _deviation(epsilon, t), note, variant=rule, basis=PROGRAMME)
    yield number("us-reconstructed", None, "told of an attack on records that are not public")


def _deviation(epsilon: float, statistics: int) -> float:
    return math.sqrt(2) * laplace_scale(epsilon, statistics).value
