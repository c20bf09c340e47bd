"""Exact samplers in rational arithmetic: slow, for audits and for strict differential privacy.

Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy"
(2020), algorithms 1 to 3: every decision is a comparison of whole numbers, so a
draw has the stated law exactly, without a float in between.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.noise.random_bits import BitSource


def bernoulli(p: Fraction, bits: BitSource) -> bool:
    """Return True with probability p."""
    return bits.below(p.denominator) < p.numerator


def bernoulli_exp(rate: Fraction, bits: BitSource) -> bool:
    """Return True with probability exp(-rate), rate >= 0.

    exp(-g) for g <= 1 is the alternating series read off a run of Bernoulli(g / k);
    larger rates are split into whole factors exp(-1) and a rest.
    """
    while rate > 1:
        if not bernoulli_exp(Fraction(1), bits):
            return False
        rate -= 1
    k = 1
    while bernoulli(rate / k, bits):
        k += 1
    return k % 2 == 1


def exact_geometric(rate: Fraction, bits: BitSource) -> int:
    """Return x with probability proportional to exp(-rate |x|), rate > 0."""
    numerator, denominator = rate.numerator, rate.denominator
    while True:
        # u + t * n has the one-sided law at rate 1/t; the integer part by s is the law at s/t.
        remainder = bits.below(denominator)
        if not bernoulli_exp(Fraction(remainder, denominator), bits):
            continue
        whole_part = 0
        while bernoulli_exp(Fraction(1), bits):
            whole_part += 1
        size = (remainder + denominator * whole_part) // numerator
        negative = bernoulli(Fraction(1, 2), bits)
        if not (negative and size == 0):
            return -size if negative else size


def exact_discrete_gaussian(variance: Fraction, bits: BitSource) -> int:
    """Return x with probability proportional to exp(-x^2 / (2 variance))."""
    # floor(sigma) without a float: the whole square root of the whole part of sigma^2.
    t = math.isqrt(variance.numerator // variance.denominator) + 1
    while True:
        x = exact_geometric(Fraction(1, t), bits)
        if bernoulli_exp((abs(x) - variance / t) ** 2 / (2 * variance), bits):
            return x
