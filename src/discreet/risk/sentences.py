"""The wording of results on epsilon and delta, and the conditions under which a figure holds.

Numbers in sentences are rounded conservatively: upwards after "at most", downwards after "at least".
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.distribution import WORDS
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable
from discreet.risk.neighbouring_counts import law_pair

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise
    from discreet.risk.neighbouring_counts import Neighbours

INDEPENDENT = "noise is independent between distinct participant sets, as with mixed keys or fresh noise"
"""The assumption of composition on the keys."""


def upwards(value: float, digits: int = 3) -> str:
    """Return a number with a given number of digits, rounded up.

    >>> upwards(3.69286e-5), upwards(606.13571, 5)
    ('3.7e-05', '606.14')
    """
    return f"{float(Decimal(repr(value)).normalize(Context(prec=digits, rounding=ROUND_CEILING))):.{digits}g}"


def downwards(value: float, digits: int = 3) -> str:
    """Return a number with a given number of digits, rounded down."""
    return f"{float(Decimal(repr(value)).normalize(Context(prec=digits, rounding=ROUND_FLOOR))):.{digits}g}"


def factor(epsilon: float) -> str:
    """Return e^epsilon as text.

    >>> factor(1.0), factor(606.13571)
    ('2.72', 'e^606.14')
    """
    return upwards(math.exp(epsilon)) if epsilon < 14 else f"e^{upwards(epsilon, 5)}"


def guarantee_clause(values: str, protected_unit: str, epsilon: float, delta: str) -> str:
    """Return the meaning of an epsilon and a delta as a clause.

    >>> guarantee_clause("any value of a count", "one person", 1.0, "0.3").split(", ")[1]
    'except with probability 0.3'
    """
    much = f"at most {factor(epsilon)} times as likely" if epsilon else "no more likely"
    return f"the presence or absence of {protected_unit} makes {values} {much}, except with probability {delta}"


def singleton_clause(probability: float) -> str:
    """Return the detection probability of the person in a singleton cell, as a clause.

    >>> singleton_clause(0.51236)
    'a person in a singleton cell is detected with probability 0.512'
    """
    return f"a person in a singleton cell is detected with probability {downwards(probability)}"


def counted_in(statistics: int) -> str:
    """Return the number of independently perturbed counts that contain a person, as an assumption."""
    return f"t = {statistics}, the number of distinct participant sets that contain the person"


def law_used(key_space: int | None) -> str:
    """Return the noise distribution of a figure, as an assumption."""
    if key_space is None:
        return "noise distribution before rounding to keys"
    return f"noise distribution rounded to {key_space} keys"


def condition(law: Noise, neighbours: Neighbours) -> str:
    """Return the condition for the use of one distribution for every count, as the end of "This holds only if ..."."""
    if not math.isfinite(law.bound):
        return "noise with this distribution is added to every one of these counts, zeros included, and drawn exactly"
    if not isinstance(law, MaxEntropy):
        return (
            "every one of these counts has exactly this noise distribution, small counts and zeros included; with "
            "fixed zeros, a person in a singleton cell is detected whenever the 1 is not published as 0, for every "
            "epsilon"
        )
    return (
        f"every one of these counts exceeds {law.bound + neighbours.household - 1}; with fixed zeros, "
        f"{singleton_clause(_singleton_detection(law))}, for every epsilon"
    )


def _singleton_detection(law: MaxEntropy) -> float:
    """Return P(a true 1 is published as more than 0) in the p-table of this variance and bound, with fixed zeros."""
    row = PTable.max_entropy(variance=law.variance, bound=law.bound).rows[1]
    return 1 - float(row.pmf(-1))


def rounding(law: Noise, counts: int, shift: int) -> str:
    """Return the effect of rounding to 64-bit keys on a figure before rounding, as an assumption."""
    if not math.isfinite(law.bound):
        return (
            "noise distribution before rounding to keys, drawn exactly; a keyed draw truncates its tail and gives a "
            "weaker guarantee"
        )
    exact, keyed = law_pair(law, shift).up, law_pair(law, shift, WORDS).up
    floor = upwards(-math.expm1(counts * math.log1p(-keyed.floor)) if keyed.floor < 1 else 1.0)
    if len(exact.losses) != len(keyed.losses):
        return (
            "noise distribution before rounding to keys; 64-bit keys remove its outermost values and make the floor "
            f"of delta {floor}"
        )
    change = counts * float(np.abs(keyed.losses - exact.losses).max(initial=0.0))
    return (
        f"noise distribution before rounding to keys; 64-bit keys change epsilon by at most {upwards(change, 1)} "
        f"and make the floor of delta {floor}"
    )
