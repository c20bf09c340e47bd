"""Rounded Laplace noise against its continuous density, in 60 decimal digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import Laplace
from tests.each import each

scales = st.floats(0.02, 500)


def below(edge: Decimal, scale: Decimal) -> Decimal:
    """Return the continuous distribution function, the integral of exp(-|y| / b) / 2b up to an edge."""
    tail = (-abs(edge) / scale).exp() / 2
    return tail if edge < 0 else 1 - tail


def integral(x: int, scale: float) -> Decimal:
    """Return the continuous probability of the interval that is rounded to x."""
    with localcontext(prec=60):
        half, b = Decimal("0.5"), Decimal(scale)
        # On the lower side the difference of two small tails keeps all its digits.
        return below(-abs(x) + half, b) - below(-abs(x) - half, b)


@given(scales, st.integers(-40, 40))
def test_pmf_is_the_integral_of_the_density(scale: float, x: int) -> None:
    expected = integral(x, scale)
    if expected > Decimal("1e-300"):
        assert float(Laplace(scale=scale).pmf(x)) == pytest.approx(float(expected), rel=1e-12)
    assert float(Laplace(scale=scale).log_pmf(x)) == pytest.approx(float(expected.ln()), rel=1e-12, abs=1e-15)


@given(scales, st.integers(-40, 40))
def test_cdf_is_the_continuous_one_half_a_step_on(scale: float, x: int) -> None:
    with localcontext(prec=60):
        expected = float(below(Decimal(x) + Decimal("0.5"), Decimal(scale)))
    assert float(Laplace(scale=scale).cdf(x)) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@each("scale", [0.1, 0.5, 1.0, 3.0])
def test_variance_is_the_sum_of_squares(scale: float) -> None:
    total = 2 * sum(x * x * integral(x, scale) for x in range(1, 300))
    assert Laplace(scale=scale).variance == pytest.approx(float(total), rel=1e-13)


@each("scale", [1.0, 10.0, 40.0, 1e4])
def test_rounding_widens_the_paper_s_variance_a_little(scale: float) -> None:
    # 2 b^2 is the variance before rounding; the series of the closed form goes on with 1/12.
    assert 2 * scale**2 < Laplace(scale=scale).variance == pytest.approx(2 * scale**2 + 1 / 12, rel=1e-2)


@given(scales)
def test_neighbouring_counts_differ_by_exp_of_one_over_b_at_most(scale: float) -> None:
    log_p = Laplace(scale=scale).log_pmf(np.arange(-30, 31))
    assert np.abs(np.diff(log_p)).max() <= 1 / scale * (1 + 1e-12) + 1e-14


@pytest.mark.parametrize("scale", [1e-3, 1e6])
def test_extreme_scales_neither_overflow_nor_cancel(scale: float) -> None:
    law = Laplace(scale=scale)
    assert float(law.pmf(0)) == pytest.approx(-math.expm1(-0.5 / scale), rel=1e-14)
    assert float(law.log_pmf(1)) == pytest.approx(float(integral(1, scale).ln()), rel=1e-13)
    assert float(law.cdf(-1)) == pytest.approx(math.exp(-0.5 / scale) / 2, rel=1e-13)
