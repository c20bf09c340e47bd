"""Rounded Gaussian noise against numerical integration of its density."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from discreet.noise import Gaussian
from tests.each import each

SIGMAS = [0.3, 1.0, 2.5, 40.0]


def log_integral(x: int, sigma: float) -> float:
    """Return the logarithm of the density's integral over x - 1/2 .. x + 1/2.

    The largest value of the density is taken out first, so that no tail underflows.
    """
    edge = abs(x) - 0.5
    top = max(edge, 0.0) ** 2
    area, _ = quad(lambda y: math.exp((top - y * y) / (2 * sigma**2)), edge, edge + 1, epsabs=0, epsrel=1e-12)
    return math.log(area / (sigma * math.sqrt(2 * math.pi))) - top / (2 * sigma**2)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("x", [0, 1, -2, 5, -17, 60])
def test_pmf_is_the_integral_of_the_density(sigma: float, x: int) -> None:
    expected = log_integral(x, sigma)
    assert float(Gaussian(sigma=sigma).log_pmf(x)) == pytest.approx(expected, rel=1e-11, abs=1e-13)
    assert float(Gaussian(sigma=sigma).pmf(x)) == pytest.approx(math.exp(expected), rel=1e-9)


@each("sigma", SIGMAS)
def test_log_pmf_does_not_underflow_far_out(sigma: float) -> None:
    x = int(200 * sigma) + 1
    assert float(Gaussian(sigma=sigma).log_pmf(x)) == pytest.approx(log_integral(x, sigma), rel=1e-11)
    assert Gaussian(sigma=sigma).pmf(x) == 0


@each("sigma", SIGMAS)
def test_cdf_is_half_the_complementary_error_function(sigma: float) -> None:
    for x in range(-20, 20):
        expected = math.erfc(-(x + 0.5) / (sigma * math.sqrt(2))) / 2
        assert float(Gaussian(sigma=sigma).cdf(x)) == pytest.approx(expected, rel=1e-12)


@each("sigma", [0.3, 0.5, 0.7, 1.0, 2.5, 40.0])
def test_variance_is_sheppard_s_with_its_fourier_series(sigma: float) -> None:
    # Rounding error D of a normal Y in its Fourier series sum (-1)^(k+1) sin(2 pi k Y) / (pi k):
    # E[(Y - D)^2] = sigma^2 + 1/12 + sum (-1)^k exp(-2 pi^2 k^2 sigma^2) (4 sigma^2 + 1 / (pi k)^2).
    series = sum(
        (-1) ** k * math.exp(-2 * (math.pi * k * sigma) ** 2) * (4 * sigma**2 + 1 / (math.pi * k) ** 2)
        for k in range(1, 60)
    )
    assert Gaussian(sigma=sigma).variance == pytest.approx(sigma**2 + 1 / 12 + series, rel=1e-10)


def test_one_value_holds_all_when_sigma_is_tiny() -> None:
    law = Gaussian(sigma=1e-3)
    assert law.pmf([-1, 0, 1]).tolist() == [0, 1, 0]
    assert law.variance == 0
    assert np.isfinite(law.log_pmf(1))
