"""Exact samplers: the stated law, no other scale, and no float on the way."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import DiscreteGaussian, SeededBits, TwoSidedGeometric
from discreet.noise.exact_samplers import bernoulli, bernoulli_exp, exact_discrete_gaussian, exact_geometric
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, p_value

if TYPE_CHECKING:
    from discreet.arrays import Ints, Words

SAMPLE = 5000


class FixedBits:
    """A bit source whose next number is known."""

    def __init__(self, number: int) -> None:
        self.number = number

    def words(self, size: int) -> Words:
        return np.full(size, self.number, dtype=np.uint64)

    def below(self, limit: int) -> int:
        assert self.number < limit
        return self.number


def frequency(rate: Fraction, seed: int, size: int = 20_000) -> float:
    bits = SeededBits(seed)
    return sum(bernoulli_exp(rate, bits) for _ in range(size)) / size


def geometric_sample(rate: Fraction) -> Ints:
    bits = SeededBits(21)
    return np.array([exact_geometric(rate, bits) for _ in range(SAMPLE)])


def gaussian_sample(variance: Fraction) -> Ints:
    bits = SeededBits(22)
    return np.array([exact_discrete_gaussian(variance, bits) for _ in range(SAMPLE)])


@given(st.fractions(0, 1, max_denominator=200))
def test_bernoulli_is_true_for_exactly_its_share_of_numbers(p: Fraction) -> None:
    times = sum(bernoulli(p, FixedBits(number)) for number in range(p.denominator))
    assert Fraction(times, p.denominator) == p


@each("p", [Fraction(1, 3), Fraction(1, 2), Fraction(255, 256), Fraction(1, 2**70)])
def test_bernoulli_frequency(p: Fraction) -> None:
    bits, size = SeededBits(20), 20_000
    times = sum(bernoulli(p, bits) for _ in range(size))
    assert times == pytest.approx(size * p, abs=5 * math.sqrt(size * p * (1 - p)) + 1e-9)


@each("rate", [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(7, 5), Fraction(3)], every=3)
def test_bernoulli_exp_frequency(rate: Fraction) -> None:
    p, size = math.exp(-rate), 20_000
    assert frequency(rate, 23, size) == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / size))


def test_bernoulli_exp_tells_rates_30_percent_apart() -> None:
    p, size = math.exp(-1), 20_000
    for rate in (Fraction(13, 10), Fraction(7, 10)):
        assert abs(frequency(rate, 24, size) - p) > 10 * math.sqrt(p * (1 - p) / size)


def test_bernoulli_exp_at_the_ends() -> None:
    assert frequency(Fraction(0), 25, 500) == 1
    assert frequency(Fraction(10**6), 25, 500) == 0


@each("rate", [Fraction(1, 5), Fraction(2, 3), Fraction(7, 4), Fraction(0.3)], every=3)
def test_geometric_sample_has_the_law_and_no_other_scale(rate: Fraction) -> None:
    sample = geometric_sample(rate)
    assert p_value(sample, TwoSidedGeometric(epsilon=float(rate))) > ACCEPT
    for factor in (1.3, 0.7):
        assert p_value(sample, TwoSidedGeometric(epsilon=float(rate) / factor)) < REJECT


@each("variance", [Fraction(3, 4), Fraction(2), Fraction(81, 4), Fraction(2.3) ** 2], every=4)
def test_gaussian_sample_has_the_law_and_no_other_scale(variance: Fraction) -> None:
    sample, sigma = gaussian_sample(variance), math.sqrt(variance)
    assert p_value(sample, DiscreteGaussian(sigma=sigma)) > ACCEPT
    for factor in (1.3, 0.7):
        assert p_value(sample, DiscreteGaussian(sigma=factor * sigma)) < REJECT


@pytest.mark.slow
def test_large_rates_leave_nothing_but_zero() -> None:
    assert set(geometric_sample(Fraction(60)).tolist()) == {0}
    assert set(gaussian_sample(Fraction(1, 120)).tolist()) == {0}


def test_a_rate_above_1_has_its_rare_values() -> None:
    # P(+-1) = tanh(r / 2) exp(-r) each.
    sample, rate = Counter(geometric_sample(Fraction(3)).tolist()), 3
    p = 2 * math.tanh(rate / 2) * math.exp(-rate)
    assert sample[1] + sample[-1] == pytest.approx(SAMPLE * p, abs=5 * math.sqrt(SAMPLE * p))


def test_wide_noise_takes_no_more_than_its_share_of_steps() -> None:
    sample = geometric_sample(Fraction(1, 10**6))
    assert np.abs(sample).mean() == pytest.approx(10**6, rel=5 / math.sqrt(SAMPLE))


def test_a_seed_makes_samples_repeatable() -> None:
    def draws(seed: int) -> list[int]:
        bits = SeededBits(seed)
        return [exact_geometric(Fraction(1, 9), bits) for _ in range(50)] + [
            exact_discrete_gaussian(Fraction(50), bits) for _ in range(50)
        ]

    assert draws(3) == draws(3)
    assert draws(3) != draws(4)


def test_no_fraction_ever_becomes_a_float(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: Fraction) -> NoReturn:
        raise AssertionError(number)

    monkeypatch.setattr(Fraction, "__float__", refuse)
    bits = SeededBits(5)
    for _ in range(200):
        assert type(exact_geometric(Fraction(3, 7), bits)) is int
        assert type(exact_discrete_gaussian(Fraction(17, 3), bits)) is int
