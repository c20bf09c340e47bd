"""Conversions of rho to epsilon and delta: published values and the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr

from discreet.risk.composition_theorems import bun_steinke_epsilon, cks_delta, cks_epsilon

REDISTRICTING = (542 / 339) ** 2
"""rho of the persons file in the US 2020 redistricting data: global scale 339 / 542 in its published code."""


def test_the_announced_epsilon_of_the_us_redistricting_data() -> None:
    assert cks_epsilon(REDISTRICTING, 1e-10) == pytest.approx(17.1436, abs=5e-5)
    assert bun_steinke_epsilon(REDISTRICTING, 1e-10) == pytest.approx(17.9, abs=0.05)


def test_the_eu_output_with_rho_from_the_variance() -> None:
    # 2775 counts; an independent program and opendp's conversion, to these digits.
    assert bun_steinke_epsilon(2775 / 4, 1e-6) == pytest.approx(889.6, abs=0.05)
    assert bun_steinke_epsilon(2775 / 6, 1e-6) == pytest.approx(622.4, abs=0.05)
    assert cks_epsilon(2775 / 6, 1e-6) == pytest.approx(619.5, abs=0.05)


def grid_epsilon(rho: float, delta: float) -> float:
    """Return the minimum of corollary 13 over a fine grid of orders."""
    above = np.exp(np.linspace(-12, 12, 200_001))
    order = 1 + above
    return float((order * rho + (-math.log(delta) - np.log(order)) / above + np.log(above / order)).min())


@given(st.floats(-7, 7), st.floats(-35, -0.5))
def test_the_minimum_over_orders_is_found(log_rho: float, log_delta: float) -> None:
    rho, delta = math.exp(log_rho), math.exp(log_delta)
    expected = max(grid_epsilon(rho, delta), 0.0)
    assert cks_epsilon(rho, delta) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(st.floats(-5, 6), st.floats(-30, -3))
def test_the_two_directions_undo_each_other(log_rho: float, log_delta: float) -> None:
    rho, delta = math.exp(log_rho), math.exp(log_delta)
    epsilon = cks_epsilon(rho, delta)
    if epsilon > 1.1 * rho:
        assert cks_delta(rho, epsilon) == pytest.approx(delta, rel=1e-5)
    assert epsilon <= bun_steinke_epsilon(rho, delta)


@given(st.floats(-4, 5), st.floats(0.1, 8))
def test_the_bound_holds_for_a_gaussian(log_rho: float, deviations: float) -> None:
    # mu standard deviations apart, rho = mu^2 / 2; the exact delta is known.
    rho = math.exp(log_rho)
    mu = math.sqrt(2 * rho)
    epsilon = rho + deviations * mu
    exact = float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)))
    assert cks_delta(rho, epsilon) >= exact


def test_without_loss_there_is_nothing_to_pay() -> None:
    assert cks_epsilon(0.0, 1e-6) == bun_steinke_epsilon(0.0, 1e-6) == cks_delta(0.0, 1.0) == 0
