"""Two-sided geometric noise against its defining ratio, summed in 60 decimal digits."""

from __future__ import annotations

import math
import time
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import SeededBits, TwoSidedGeometric
from tests.noise.goodness import ACCEPT, REJECT, p_value

rates = st.floats(0.05, 20)


def weights(rate: float, most: int) -> list[Decimal]:
    """Return q^0, q^1, .. q^most for q = exp(-rate)."""
    with localcontext(prec=60):
        return [(-Decimal(rate) * x).exp() for x in range(most + 1)]


@given(rates, st.integers(-30, 30))
def test_pmf_is_the_power_of_q_over_the_sum_of_all_powers(rate: float, x: int) -> None:
    with localcontext(prec=60):
        q = weights(rate, 30)
        # The two-sided sum of q^|x| is 1 + 2 q / (1 - q).
        expected = q[abs(x)] / (1 + 2 * q[1] / (1 - q[1]))
    assert float(TwoSidedGeometric(epsilon=rate).pmf(x)) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("rate", [0.3, 1.0, 3.0])
def test_normalisation_variance_and_tails_are_sums_over_all_values(rate: float) -> None:
    law = TwoSidedGeometric(epsilon=rate)
    with localcontext(prec=60):
        q = weights(rate, 500)
        total = q[0] + 2 * sum(q[1:])
        variance = 2 * sum(x * x * weight for x, weight in enumerate(q)) / total
        tails = [float(sum(q[x:]) / total) for x in range(1, 40)]
    assert float(law.pmf(0)) == pytest.approx(float(1 / total), rel=1e-14)
    assert law.variance == pytest.approx(float(variance), rel=1e-13)
    np.testing.assert_allclose(law.cdf(-np.arange(1, 40)), tails, rtol=1e-12)
    np.testing.assert_allclose(law.cdf(np.arange(39)), 1 - np.array(tails), rtol=1e-14)


@given(rates)
def test_variance_is_2q_over_1_minus_q_squared(rate: float) -> None:
    q = math.exp(-rate)
    assert TwoSidedGeometric(epsilon=rate).variance == pytest.approx(2 * q / (1 - q) ** 2, rel=1e-11)


def test_variance_at_epsilon_0_3() -> None:
    # The value in which other packages' samplers were found to agree, to its last digit.
    assert TwoSidedGeometric(epsilon=0.3).variance == pytest.approx(22.0563, abs=5e-5)


def test_sensitivity_divides_epsilon() -> None:
    x = np.arange(-50, 51)
    twice, half = TwoSidedGeometric(epsilon=1, sensitivity=2), TwoSidedGeometric(epsilon=0.5)
    assert np.array_equal(twice.log_pmf(x), half.log_pmf(x))
    assert np.array_equal(twice.cdf(x), half.cdf(x))
    assert twice.variance == half.variance
    assert twice.rounded(2**32) == half.rounded(2**32)
    assert twice.sample(100, SeededBits(3)).tolist() == half.sample(100, SeededBits(3)).tolist()
    assert twice.sample_exact(100, SeededBits(3)).tolist() == half.sample_exact(100, SeededBits(3)).tolist()


def test_sensitivity_is_1_unless_given() -> None:
    assert TwoSidedGeometric(epsilon=0.7) == TwoSidedGeometric(epsilon=0.7, sensitivity=1)


@given(st.floats(0.05, 5), st.floats(0.5, 4))
def test_neighbouring_counts_differ_by_exp_epsilon_over_sensitivity(epsilon: float, sensitivity: float) -> None:
    log_p = TwoSidedGeometric(epsilon=epsilon, sensitivity=sensitivity).log_pmf(np.arange(-20, 21))
    np.testing.assert_allclose(np.abs(np.diff(log_p)), epsilon / sensitivity, rtol=1e-10)


@pytest.mark.parametrize("rate", [1e-6, 800.0])
def test_extreme_rates_neither_overflow_nor_cancel(rate: float) -> None:
    law = TwoSidedGeometric(epsilon=rate)
    assert float(law.log_pmf(1)) == pytest.approx(math.log(math.tanh(rate / 2)) - rate, rel=1e-12)
    # 2 q / (1 - q)^2 = 1 / (2 sinh^2(rate / 2)), which overflows as the variance tends to 0.
    expected = 1 / (2 * math.sinh(rate / 2) ** 2) if rate < 1 else 2 * math.exp(-rate)
    assert law.variance == pytest.approx(expected, rel=1e-9, abs=0)


def test_exact_samples_have_the_law_and_no_other_scale() -> None:
    law = TwoSidedGeometric(epsilon=0.6, sensitivity=2)
    sample = law.sample_exact(6000, SeededBits(4))
    assert sample.dtype == np.int64
    assert p_value(sample, law) > ACCEPT
    for factor in (1.3, 0.7):
        assert p_value(sample, TwoSidedGeometric(epsilon=0.6 / factor, sensitivity=2)) < REJECT
        assert p_value(sample, TwoSidedGeometric(epsilon=0.6, sensitivity=2 * factor)) < REJECT


def test_exact_samples_come_from_the_system_unless_told_otherwise() -> None:
    law = TwoSidedGeometric(epsilon=0.3)
    assert law.sample_exact(50).tolist() != law.sample_exact(50).tolist()


@pytest.mark.parametrize("epsilon", [0.002, 1e-4, pytest.param(1e-5, marks=pytest.mark.slow)])
def test_wide_noise_is_looked_up_within_seconds(epsilon: float) -> None:
    law = TwoSidedGeometric(epsilon=epsilon)
    # The rounded table is within a few keys of the law.
    keys = np.array([2**34, 2**50, 2**60, 2**63, 3 * 2**62, 2**64 - 2**34], dtype=np.uint64)
    begin = time.perf_counter()
    found = law.draw(keys, 2**64)
    assert time.perf_counter() - begin < 20
    np.testing.assert_allclose(found, law.quantile(keys / 2**64), atol=1, rtol=1e-6)
