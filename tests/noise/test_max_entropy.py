"""The maximum-entropy law against its published numbers and an independent root search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from discreet.errors import ParameterError
from discreet.noise import MaxEntropy, Uniform
from tests.each import each


def weights(lam: float, bound: int) -> list[float]:
    """Return exp(-lambda x^2) on -E..E, divided by the sum."""
    least = min(0.0, lam * bound**2)
    raw = [math.exp(least - lam * x * x) for x in range(-bound, bound + 1)]
    return [weight / math.fsum(raw) for weight in raw]


def variance_at(lam: float, bound: int) -> float:
    """Return the variance of that law."""
    return math.fsum(x * x * p for x, p in zip(range(-bound, bound + 1), weights(lam, bound), strict=True))


def lambda_of(variance: float, bound: int) -> float:
    """Return the lambda with this variance by a bracketed root search."""
    return float(brentq(lambda lam: variance_at(lam, bound) - variance, -30, 30, xtol=1e-14, rtol=1e-14))


# The two settings of Bach (2020); lambda, p(0) and p(E) were computed by an independent program to these digits.
@pytest.mark.parametrize(
    ("variance", "bound", "lam", "at_zero", "at_bound"),
    [(2, 5, 0.249685, 0.28194, 5.4857e-4), (3, 10, 0.166667, 0.23033, 1.3308e-8)],
)
def test_published_values(variance: float, bound: int, lam: float, at_zero: float, at_bound: float) -> None:
    law = MaxEntropy(variance=variance, bound=bound)
    assert law.lam == pytest.approx(lam, abs=5e-7)
    assert float(law.pmf(0)) == pytest.approx(at_zero, abs=5e-6)
    assert float(law.pmf(bound)) == pytest.approx(at_bound, rel=5e-5)


@given(st.floats(0.02, 0.98), st.integers(1, 20))
def test_law_is_the_gaussian_shape_with_this_variance(share: float, bound: int) -> None:
    variance = share * bound**2
    law = MaxEntropy(variance=variance, bound=bound)
    x = np.arange(-bound, bound + 1)
    np.testing.assert_allclose(law.pmf(x), weights(lambda_of(variance, bound), bound), rtol=1e-7, atol=1e-12)
    assert math.fsum(x**2 * law.pmf(x)) == pytest.approx(variance, rel=1e-12)


def test_log_probability_is_a_parabola() -> None:
    law = MaxEntropy(variance=3, bound=10)
    x = np.arange(-10, 11)
    np.testing.assert_allclose(law.log_pmf(x), float(law.log_pmf(0)) - law.lam * x**2, rtol=1e-11, atol=1e-13)


@each("bound", [1, 2, 5, 30])
def test_variance_of_the_uniform_law_gives_the_uniform_law(bound: int) -> None:
    uniform = Uniform(bound=bound)
    law = MaxEntropy(variance=uniform.variance, bound=bound)
    x = np.arange(-bound, bound + 1)
    np.testing.assert_allclose(law.pmf(x), uniform.pmf(x), rtol=1e-11)
    assert law.lam == pytest.approx(0, abs=1e-11)


def test_lambda_is_negative_above_the_variance_of_the_uniform_law() -> None:
    law = MaxEntropy(variance=11, bound=5)
    assert law.lam < 0
    assert float(law.pmf(5)) > float(law.pmf(0))


def test_bound_1_leaves_one_law() -> None:
    assert MaxEntropy(variance=0.3, bound=1).pmf([-1, 0, 1]) == pytest.approx([0.15, 0.7, 0.15], rel=1e-13)


@each("variance", [1e-9, 1e-4, 1.0, 500.0, 3333.0, 9999.0])
def test_extreme_variances_at_a_wide_bound(variance: float) -> None:
    law = MaxEntropy(variance=variance, bound=100)
    x = np.arange(-100, 101)
    assert math.fsum(law.pmf(x)) == pytest.approx(1, abs=1e-12)
    assert math.fsum(x**2 * law.pmf(x)) == pytest.approx(variance, rel=1e-10, abs=1e-11)


def test_tails_keep_their_logarithm_where_they_underflow() -> None:
    law = MaxEntropy(variance=0.05, bound=40)
    assert float(law.pmf(40)) == 0
    assert float(law.log_pmf(40)) == pytest.approx(float(law.log_pmf(0)) - law.lam * 1600, rel=1e-12)


@pytest.mark.parametrize("variance", [4, 4.5, 100])
def test_a_variance_that_the_bound_cannot_hold_is_refused(variance: float) -> None:
    with pytest.raises(ParameterError, match="variance must be below the square of the bound, 4") as refusal:
        MaxEntropy(variance=variance, bound=2)
    assert refusal.value.parameter == "variance"
