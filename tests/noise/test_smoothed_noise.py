"""Noise seen with a Gaussian error, against the integrals and sums that define it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.rival_noise import bhattacharyya, log_ratios
from tests.each import each
from tests.quick import up_to


def law(variance: float, bound: int) -> np.ndarray:
    return MaxEntropy(variance=variance, bound=bound).pmf(np.arange(-bound, bound + 1))


def density(p: np.ndarray, variance: float, seen: float) -> float:
    """Return the density of noise plus Gaussian error at one point, as it is defined."""
    bound = len(p) // 2
    apart = seen - np.arange(-bound, bound + 1)
    return float(p @ np.exp(-(apart**2) / (2 * variance))) / math.sqrt(2 * math.pi * variance)


@each(("variance", "bound", "error"), [(3.0, 5, 0.05), (3.0, 5, 2.0), (9.5, 5, 40.0), (0.4, 2, 0.3)])
def test_the_exponent_is_that_of_the_integral(variance: float, bound: int, error: float) -> None:
    p, q = law(variance, bound), law(variance, bound + 1)

    def apart(seen: float) -> float:
        return (math.sqrt(density(p, error, seen)) - math.sqrt(density(q, error, seen))) ** 2 / 2

    reach = bound + 1 + 9 * math.sqrt(error)
    pieces = np.linspace(-reach, reach, 60)
    integral = sum(quad(apart, low, high, epsrel=1e-10)[0] for low, high in pairwise(pieces.tolist()))
    assert bhattacharyya(p, q, error) == pytest.approx(-math.log1p(-integral), rel=1e-6)


@given(st.integers(1, 12), st.floats(0.05, 0.95))
def test_without_error_it_is_the_sum(bound: int, share: float) -> None:
    variance = share * bound * (bound + 1) / 3
    p, q = law(variance, bound), law(variance, bound + 1)
    assert bhattacharyya(p, q, 0.0) == pytest.approx(-math.log(np.sqrt(np.pad(p, 1) * q).sum()), rel=1e-6, abs=1e-15)


@given(st.integers(2, 10), st.floats(0.1, 0.9), st.floats(0.01, 20), st.floats(1.01, 3))
@settings(max_examples=up_to(40))
def test_more_error_tells_less(bound: int, share: float, error: float, more: float) -> None:
    variance = share * bound * (bound + 1) / 3
    p, q = law(variance, bound), law(variance, bound + 1)
    assert bhattacharyya(p, q, error * more) <= bhattacharyya(p, q, error) * (1 + 1e-6) + 1e-18


def test_the_ratio_of_what_is_seen_is_that_of_the_densities() -> None:
    p, q, seen = law(3.0, 5), law(3.0, 6), np.linspace(-7, 7, 29)
    expected = [math.log(density(p, 0.8, each) / density(q, 0.8, each)) for each in seen.tolist()]
    assert log_ratios(p, q, 0.8, seen) == pytest.approx(np.array(expected), abs=5e-3)
    # What neither explains decides nothing, and what one cannot explain does not decide for certain.
    assert log_ratios(p, q, 0.8, np.array([-60.0, 60.0])).tolist() == [0, 0]
    assert np.isfinite(log_ratios(p, q, 0.01, np.array([6.0]))).all()
