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

INDEPENDENT = "the noises of distinct sets are independent, as with mixed keys or fresh noise"
"""What composition assumes of the keys."""


def upwards(value: float, digits: int = 3) -> str:
    """Return a number with so many digits, rounded up.

    >>> upwards(3.69286e-5), upwards(606.13571, 5)
    ('3.7e-05', '606.14')
    """
    return f"{float(Decimal(repr(value)).normalize(Context(prec=digits, rounding=ROUND_CEILING))):.{digits}g}"


def downwards(value: float, digits: int = 3) -> str:
    """Return a number with so many digits, rounded down."""
    return f"{float(Decimal(repr(value)).normalize(Context(prec=digits, rounding=ROUND_FLOOR))):.{digits}g}"


def factor(epsilon: float) -> str:
    """Return e^epsilon as words.

    >>> factor(1.0), factor(606.13571)
    ('2.72', 'e^606.14')
    """
    return upwards(math.exp(epsilon)) if epsilon < 14 else f"e^{upwards(epsilon, 5)}"


def promise(what: str, who: str, epsilon: float, delta: str) -> str:
    """Return the meaning of an epsilon and a delta as a clause.

    >>> promise("a count shows", "one person", 1.0, "0.3").split(", ")[2]
    'except with probability 0.3'
    """
    much = f"at most {factor(epsilon)} times as likely" if epsilon else "no more likely"
    return f"whatever {what}, the presence or absence of {who} makes it {much}, except with probability {delta}"


def seen_alone(probability: float) -> str:
    """Return that a cell of one person shows that somebody is there, as a clause.

    >>> seen_alone(0.51236)
    'a person alone in a cell is seen there with probability 0.512'
    """
    return f"a person alone in a cell is seen there with probability {downwards(probability)}"


def counted_in(statistics: int) -> str:
    """Return in how many independently noised counts a person is, as an assumption."""
    return f"t = {statistics}, the number of distinct participant sets that contain the person"


def law_used(key_space: int | None) -> str:
    """Return which law a figure is of, as an assumption."""
    return "law before rounding to keys" if key_space is None else f"law rounded to {key_space} keys"


def condition(law: Noise, neighbours: Neighbours) -> str:
    """Return what must hold for a law to speak for every count, as the end of "This holds only if ..."."""
    if not math.isfinite(law.bound):
        return "noise of this law is added to every one of these counts, zeros included, and drawn exactly"
    if not isinstance(law, MaxEntropy):
        return (
            "every one of these counts gets this very law, small counts and zeros included; where zeros stay zeros, "
            "a person alone in a cell is seen there whenever the 1 is not published as 0, whatever epsilon is"
        )
    return (
        f"every one of these counts exceeds {law.bound + neighbours.household - 1}; where zeros stay zeros, "
        f"{seen_alone(_chance_alone(law))}, whatever epsilon is"
    )


def _chance_alone(law: MaxEntropy) -> float:
    """Return P(a true 1 is published as more than 0) in the p-table of this variance and bound, zeros fixed."""
    row = PTable.max_entropy(variance=law.variance, bound=law.bound).rows[1]
    return 1 - float(row.pmf(-1))


def rounding(law: Noise, counts: int, shift: int) -> str:
    """Return what the rounding to 64-bit keys does to a figure of the law before rounding, as an assumption."""
    if not math.isfinite(law.bound):
        return "law before rounding to keys, drawn exactly; a keyed draw cuts its tail and promises less"
    exact, keyed = law_pair(law, shift).up, law_pair(law, shift, WORDS).up
    floor = upwards(-math.expm1(counts * math.log1p(-keyed.floor)) if keyed.floor < 1 else 1.0)
    if len(exact.losses) != len(keyed.losses):
        return f"law before rounding to keys; 64-bit keys cut its outermost noise and make the floor of delta {floor}"
    change = counts * float(np.abs(keyed.losses - exact.losses).max(initial=0.0))
    return (
        f"law before rounding to keys; 64-bit keys move epsilon by at most {upwards(change, 1)} "
        f"and make the floor of delta {floor}"
    )
