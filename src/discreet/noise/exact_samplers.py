"""Exact samplers: integer noise with exactly the stated distribution, for strict differential privacy and audits.

The samplers of Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), algorithms 1 to 3,
use rational arithmetic. Every decision is a comparison of integers. They are slow: one draw at a time, by rejection.

`ExactGeometric` draws many two-sided geometric noise terms at a time by inversion, with as many bits as each draw
needs. A draw is the smallest x with u < F(x), u uniform between 0 and 1. The first 64 bits of u decide unless they
equal those of some F(x); then further bits are drawn until they differ. No floats are compared, so that the unbounded
tails are exact too.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.distribution import WIDEST
from discreet.noise.random_bits import SYSTEM_BITS

if TYPE_CHECKING:
    from discreet.arrays import Ints, Words
    from discreet.noise.random_bits import BitSource


def bernoulli(p: Fraction, bits: BitSource) -> bool:
    """Return True with probability p."""
    return bits.below(p.denominator) < p.numerator


def bernoulli_exp(rate: Fraction, bits: BitSource) -> bool:
    """Return True with probability exp(-rate), rate >= 0.

    exp(-g) for g <= 1 is an alternating series, sampled by a run of Bernoulli(g / k);
    larger rates are split into factors exp(-1) and a remainder.
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
        # u + t * n has the one-sided distribution at rate 1/t; its integer part by s has the one at s/t.
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
    # floor(sigma) without a float: the integer square root of the integer part of sigma^2.
    t = math.isqrt(variance.numerator // variance.denominator) + 1
    while True:
        x = exact_geometric(Fraction(1, t), bits)
        if bernoulli_exp((abs(x) - variance / t) ** 2 / (2 * variance), bits):
            return x


GUARD_BITS = 128
"""Guard bits in addition to those of a word when all thresholds are computed together."""
GUARD_DIGITS = 20
"""Guard digits (decimal) when a single threshold is computed."""


@dataclass(frozen=True)
class ExactGeometric:
    """P(x) = (1 - q) / (1 + q) q^|x| with q = exp(-rate), drawn exactly.

    Attributes:
        rate: the epsilon of one count.
        word: the number of bits that are compared first, at most 64; fewer are for tests.
    """

    rate: float
    word: int = 64

    def __post_init__(self) -> None:
        if not 0 < self.rate < math.inf:
            raise ParameterError.outside("exact geometric noise", "epsilon", self.rate, "a positive number")
        if self._reach > WIDEST:
            raise ParameterError(
                f"Exact geometric noise: the epsilon of one count, {self.rate:.2g}, is too small: values beyond "
                f"±{WIDEST} are not tabulated. Increase the privacy budget, or publish fewer tables.",
                parameter="epsilon",
            )

    def sample(self, size: int, bits: BitSource = SYSTEM_BITS) -> Ints:
        """Return independent draws."""
        words = bits.words(size) >> np.uint64(64 - self.word)
        place = np.searchsorted(self._thresholds, words, side="right")
        found = place.astype(np.int64) - self._reach
        # If a threshold starts with the same bits, or none is larger, the first word does not decide.
        below = self._thresholds[np.maximum(place - 1, 0)]
        for number in np.flatnonzero((below == words) | (words == 0) | (place == len(self._thresholds))):
            found[number] = self._refined(int(words[number]), bits)
        return found

    @cached_property
    def _reach(self) -> int:
        """Return the smallest n with q^n / (1 + q) below one step of a word."""
        return max(1, math.ceil(self.word * math.log(2) / self.rate))

    @cached_property
    def _thresholds(self) -> Words:
        """Return floor(F(x) 2^word) for x from -reach to reach, from powers of q in integer arithmetic."""
        bits = self.word + GUARD_BITS
        power, one, tails = self._fixed(1, bits), 1 << bits, []
        tail = self._fixed_tail(bits)
        for _ in range(self._reach + 1):
            # The tail beyond n: q^(n + 1) / (1 + q).
            tail = tail * power >> bits
            tails.append(tail)
        # Every step rounds down by less than one unit: n of them stay far below the guard bits.
        below = [tail >> GUARD_BITS for tail in tails]
        above = [(one - tail) >> GUARD_BITS for tail in tails]
        for number, tail in enumerate(tails):
            if not self._settled(tail, number, GUARD_BITS):
                below[number], above[number] = self.floor(-number - 1, self.word), self.floor(number, self.word)
        return np.array([*below[::-1][1:], *above], dtype=np.uint64)

    @staticmethod
    def _settled(tail: int, steps: int, guard: int) -> bool:
        """Return whether the error of a tail, at most 2 units per step, cannot affect the bits that are kept."""
        rest, slack = tail & ((1 << guard) - 1), 2 * (steps + 3)
        return slack < rest < (1 << guard) - slack

    def _fixed(self, steps: int, bits: int) -> int:
        """Return floor(q^steps 2^bits), or one less."""
        with decimal.localcontext() as context:
            context.prec = math.ceil(bits * math.log10(2)) + GUARD_DIGITS
            return int((-decimal.Decimal(self.rate) * steps).exp() * 2**bits)

    def _fixed_tail(self, bits: int) -> int:
        with decimal.localcontext() as context:
            context.prec = math.ceil(bits * math.log10(2)) + GUARD_DIGITS
            return int(2**bits / (1 + (-decimal.Decimal(self.rate)).exp()))

    def floor(self, x: int, bits: int) -> int:
        """Return the integer part of F(x) 2^bits: F(x) = q^-x / (1 + q) below 0, 1 - q^(x + 1) / (1 + q) from 0 on."""
        steps = -x if x < 0 else x + 1
        if self.rate * steps > bits:
            # q^steps is far below 2^-bits: no digits are needed.
            return 0 if x < 0 else (1 << bits) - 1
        digits = math.ceil(bits * math.log10(2)) + GUARD_DIGITS
        while True:
            low, high = self._bracket(x, bits, digits)
            # F(x) is irrational: with enough digits both ends lie between the same integers.
            if low == high:
                return low
            digits *= 2

    def _bracket(self, x: int, bits: int, digits: int) -> tuple[int, int]:
        with decimal.localcontext() as context:
            context.prec = digits
            context.Emin = decimal.MIN_EMIN
            q = (-decimal.Decimal(self.rate)).exp()
            steps = -x if x < 0 else x + 1
            tail = (-decimal.Decimal(self.rate) * steps).exp() / (1 + q)
            exact = tail if x < 0 else 1 - tail
            error = decimal.Decimal(10) ** (5 - digits)
            scaled = [
                int(((exact + side * error) * 2**bits).to_integral_value(decimal.ROUND_FLOOR)) for side in (-1, 1)
            ]
        return max(scaled[0], 0), max(scaled[1], 0)

    def _refined(self, word: int, bits: BitSource) -> int:
        """Return the draw whose first bits are those of the word; further bits are drawn until they determine it."""
        known, number = self.word, word
        while True:
            number, known = (number << 64) | int(bits.words(1)[0]), known + 64
            found = self._settled_at(number, known)
            if found is not None:
                return found

    def _settled_at(self, number: int, known: int) -> int | None:
        """Return the smallest x with u < F(x) by bisection; None if the known bits of u do not determine it."""
        edge = 1
        while self.floor(-edge, known) > number or self.floor(edge, known) < number:
            edge *= 2
            if edge > known * 64 / self.rate + 64:
                return None
        low, high = -edge - 1, edge
        while high - low > 1:
            middle = (low + high) // 2
            threshold = self.floor(middle, known)
            if threshold == number:
                return None
            low, high = (low, middle) if threshold > number else (middle, high)
        return high if self.floor(high, known) > number > self.floor(low, known) else None
