"""Discrete Gaussian noise against its defining weights, in 60 decimal digits, and Poisson summation."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from discreet.noise import DiscreteGaussian, SeededBits
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, p_value

SIGMAS = [0.2, 0.7, 1.0, 3.3]


def brute_force(sigma: float, most: int = 60) -> tuple[list[Decimal], Decimal]:
    """Return exp(-x^2 / 2 sigma^2) for x = 0 .. most, and its sum over all whole numbers."""
    with localcontext(prec=60):
        scale = 2 * Decimal(sigma) ** 2
        weight = [(-x * x / scale).exp() for x in range(most + 1)]
        return weight, weight[0] + 2 * sum(weight[1:])


@each("sigma", SIGMAS)
def test_pmf_is_the_weight_over_the_sum_of_weights(sigma: float) -> None:
    weight, total = brute_force(sigma)
    expected = [float((w / total).ln()) for w in weight]
    np.testing.assert_allclose(DiscreteGaussian(sigma=sigma).log_pmf(np.arange(61)), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(DiscreteGaussian(sigma=sigma).log_pmf(-np.arange(61)), expected, rtol=1e-12, atol=1e-15)


@each("sigma", SIGMAS)
def test_cdf_is_the_sum_of_the_tail(sigma: float) -> None:
    weight, total = brute_force(sigma)
    law = DiscreteGaussian(sigma=sigma)
    for x in range(1, 20):
        tail = float(sum(weight[x:]) / total)
        assert float(law.cdf(-x)) == pytest.approx(tail, rel=1e-11, abs=1e-300)
        assert float(law.cdf(x - 1)) == pytest.approx(1 - tail, rel=1e-14)


@each("sigma", SIGMAS)
def test_variance_is_the_sum_of_squares_and_at_most_sigma_squared(sigma: float) -> None:
    weight, total = brute_force(sigma)
    expected = 2 * sum(x * x * w for x, w in enumerate(weight)) / total
    assert DiscreteGaussian(sigma=sigma).variance == pytest.approx(float(expected), rel=1e-12)
    assert expected <= Decimal(sigma) ** 2


@each("sigma", [0.7, 1.0, 3.3, 40.0, 1000.0])
def test_normalisation_agrees_with_poisson_summation(sigma: float) -> None:
    # The sum of exp(-x^2 / 2 sigma^2) over x is sigma sqrt(2 pi) times the sum of exp(-2 pi^2 sigma^2 k^2) over k.
    dual = 1 + 2 * sum(math.exp(-2 * (math.pi * sigma * k) ** 2) for k in range(1, 20))
    expected = 1 / (sigma * math.sqrt(2 * math.pi) * dual)
    assert float(DiscreteGaussian(sigma=sigma).pmf(0)) == pytest.approx(expected, rel=1e-12)


def test_variance_is_sigma_squared_but_for_a_vanishing_part_above_1() -> None:
    for sigma in (2.0, 10.0, 40.0):
        assert DiscreteGaussian(sigma=sigma).variance == pytest.approx(sigma**2, rel=1e-12)


def test_log_pmf_goes_on_where_the_probability_underflows() -> None:
    law = DiscreteGaussian(sigma=2)
    assert law.pmf(10**4) == 0
    assert float(law.log_pmf(10**4)) == pytest.approx(float(law.log_pmf(0)) - (10**4 / 2) ** 2 / 2, rel=1e-15)


def test_exact_samples_have_the_law_and_no_other_scale() -> None:
    law = DiscreteGaussian(sigma=2.5)
    sample = law.sample_exact(5000, SeededBits(4))
    assert sample.dtype == np.int64
    assert p_value(sample, law) > ACCEPT
    for factor in (1.3, 0.7):
        assert p_value(sample, DiscreteGaussian(sigma=2.5 * factor)) < REJECT


def test_exact_samples_come_from_the_system_unless_told_otherwise() -> None:
    law = DiscreteGaussian(sigma=10)
    assert law.sample_exact(50).tolist() != law.sample_exact(50).tolist()
