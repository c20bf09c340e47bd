"""Exact inversion: every draw follows from its bits, for any number of bits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import MIN_EMIN, Context, Decimal
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import SeededBits, TwoSidedGeometric, exact_samplers
from discreet.noise.exact_samplers import ExactGeometric
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, p_value
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.arrays import Words

DIGITS = Context(prec=250, Emin=MIN_EMIN)
RATES = [0.01, 0.1, 0.5, math.log(2), 1.0, 3.0, 20.0]
WORDS = [3, 4, 5, 6, 7, 8]


@dataclass
class Given:
    """Bits that were written down: these words, and then the same one again and again."""

    listed: list[int]
    then: int = 0
    taken: list[int] = field(default_factory=list)

    def words(self, size: int) -> Words:
        found = [self.listed.pop(0) if self.listed else self.then for _ in range(size)]
        self.taken += found
        return np.array(found, dtype=np.uint64)

    def below(self, limit: int) -> int:
        raise AssertionError(limit)


def distribution(rate: float, x: int) -> Decimal:
    """Return F(x) to 250 digits, as the sum of a geometric series."""
    q = DIGITS.exp(DIGITS.minus(Decimal(rate)))
    tail = DIGITS.divide(DIGITS.power(q, -x if x < 0 else x + 1), DIGITS.add(1, q))
    return tail if x < 0 else DIGITS.subtract(Decimal(1), tail)


def holds(rate: float, x: int, number: int, bits: int) -> bool:
    """Return whether x is the smallest number with u < F(x) for every u that begins with these bits."""
    below, above = distribution(rate, x - 1), distribution(rate, x)
    low, high = (DIGITS.divide(Decimal(end), Decimal(2**bits)) for end in (number, number + 1))
    return below <= low and high <= above


@each("rate", RATES)
@each("bits", [3, 8, 64, 200])
def test_floor_is_the_whole_part_of_the_distribution(rate: float, bits: int) -> None:
    for x in (-15, -5, -1, 0, 1, 4, 15):
        assert ExactGeometric(rate).floor(x, bits) == int(DIGITS.multiply(distribution(rate, x), Decimal(2**bits)))


@each("rate", RATES)
@each("word", [*WORDS, 64])
@each("guard", [8, 128], every=2)
def test_thresholds_are_floors(rate: float, word: int, guard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # With 8 bits beyond the word the powers of q do not settle every threshold, and the others are made one by one.
    monkeypatch.setattr(exact_samplers, "GUARD_BITS", guard)
    law = ExactGeometric(rate, word)
    thresholds = law._thresholds.tolist()  # noqa: SLF001 - what words are compared with
    reach = (len(thresholds) - 1) // 2
    chosen = range(-reach, reach + 1) if reach < 400 else [-reach, -reach + 1, -99, -1, 0, 1, 99, reach - 1, reach]
    for x in chosen:
        assert thresholds[x + reach] == law.floor(x, word)
    # Nothing below the first is possible, unless all bits are 0.
    assert thresholds[0] == 0


@settings(max_examples=up_to(120))
@given(st.floats(0.05, 5), st.integers(3, 8), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4))
def test_a_draw_is_the_one_that_its_bits_say(rate: float, word: int, listed: list[int]) -> None:
    bits = Given(list(listed), then=0x9E3779B97F4A7C15)
    (found,) = ExactGeometric(rate, word).sample(1, bits).tolist()
    number = bits.taken[0] >> (64 - word)
    for more in bits.taken[1:]:
        number = (number << 64) | more
    known = word + 64 * (len(bits.taken) - 1)
    assert holds(rate, found, number, known)
    # And it took no more bits than needed.
    if len(bits.taken) > 1:
        shorter = number >> 64
        assert not any(holds(rate, x, shorter, known - 64) for x in range(found - 1, found + 2))


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_every_word_of_few_bits_is_drawn_right(rate: float) -> None:
    word, refined = 6, 0
    for first in range(2**word):
        bits = Given([first << (64 - word)], then=0x5DEECE66D1234567)
        (found,) = ExactGeometric(rate, word).sample(1, bits).tolist()
        refined += len(bits.taken) > 1
        number = first if len(bits.taken) == 1 else (first << 64) | bits.taken[1]
        assert holds(rate, found, number, word + 64 * (len(bits.taken) - 1))
    assert 5 < refined < 2**word


def test_bits_that_are_all_0_or_all_1_go_on_until_they_end() -> None:
    # 8 + 128 bits of 0, then one bit: u = 2^-137, and F(x) = q^-x / (1 + q) passes it far below.
    for then, sign in ((0, -1), (2**64 - 1, 1)):
        listed = [then, then, then, 1 << 63] if sign < 0 else [then, then, then, 1]
        (found,) = ExactGeometric(1.0, 8).sample(1, Given(listed, then=1)).tolist()
        assert sign * found == pytest.approx(136 * math.log(2), abs=2)


@each(
    ("rate", "word", "size"),
    [(0.2, 64, 10_000), (1.0, 64, 10_000), (0.2, 8, 3000), *((1.0, w, 3000) for w in WORDS)],
    every=3,
)
def test_samples_have_the_law_and_not_one_30_percent_off(rate: float, word: int, size: int) -> None:
    # The fewer bits a word has, the more draws need further ones.
    sample = ExactGeometric(rate, word).sample(size, SeededBits(21))
    assert sample.dtype == np.int64
    assert p_value(sample, TwoSidedGeometric(epsilon=rate)) > ACCEPT
    for factor in (1.3, 1 / 1.3):
        assert p_value(sample, TwoSidedGeometric(epsilon=rate * factor)) < REJECT


def test_many_draws_are_those_one_by_one() -> None:
    law = ExactGeometric(0.5)
    assert law.sample(0, SeededBits(1)).tolist() == []
    listed = SeededBits(5).words(50).tolist()
    together = law.sample(50, Given(list(listed))).tolist()
    assert together == [law.sample(1, Given([word])).tolist()[0] for word in listed]


def test_the_system_gives_bits_by_default() -> None:
    # No seed: the limit is the one at which another law would be rejected.
    assert p_value(ExactGeometric(0.7).sample(10_000), TwoSidedGeometric(epsilon=0.7)) > REJECT


@pytest.mark.parametrize("rate", [50.0, 1e3, 1e12])
def test_where_much_is_spent_hardly_any_noise_is_left(rate: float) -> None:
    assert not ExactGeometric(rate).sample(1000, SeededBits(3)).any()


@each("rate", [0.0, -1.0, math.nan, math.inf])
def test_an_epsilon_that_is_no_positive_number_is_refused(rate: float) -> None:
    with pytest.raises(ParameterError, match="exact geometric noise: epsilon must be a positive number, not"):
        ExactGeometric(rate)


def test_an_epsilon_too_small_to_draw_from_is_refused() -> None:
    with pytest.raises(
        ParameterError,
        match=r"epsilon of one count, 1e-06, is too small: .* publish fewer tables\.",
    ) as caught:
        ExactGeometric(1e-6)
    assert caught.value.parameter == "epsilon"
