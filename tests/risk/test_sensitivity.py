"""Sensitivity of a static output and the noise of strict epsilon: the paper's figures."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import DiscreteGaussian
from discreet.risk.composition import compose
from discreet.risk.neighbouring_counts import Neighbours
from discreet.risk.sensitivity import epsilon_per_count, laplace_scale, noise_scaling, sensitivity


def test_sensitivity_is_the_number_of_statistics() -> None:
    # Bach (2020), risk section: 2775 with the same noise for the same participants, 6378 without.
    assert sensitivity(2775).value == 2775
    assert sensitivity(6378).value == 6378
    assert "by 2775 in total" in sensitivity(2775).sentence


def test_neighbours_multiply_sensitivity() -> None:
    assert sensitivity(10, Neighbours("replace-one")).value == 20
    assert sensitivity(10, Neighbours(household=3)).value == 30
    assert sensitivity(10, Neighbours("replace-one", 3)).value == 60


@given(st.integers(1, 10_000), st.floats(0.01, 50))
def test_the_budget_is_split_evenly(statistics: int, epsilon: float) -> None:
    each = epsilon_per_count(epsilon, statistics).value
    assert each * statistics == pytest.approx(epsilon)
    assert laplace_scale(epsilon, statistics).value == pytest.approx(1 / each)


def test_the_noise_of_the_eu_output_under_strict_epsilon() -> None:
    result = laplace_scale(1.0, 2775)
    assert result.value == 2775
    assert "standard deviation 3925" in result.sentence
    assert any("zeros included" in assumption for assumption in result.assumptions)


def test_sensitivity_2_of_the_us_configuration() -> None:
    # E2E_1940_CONFIG.ini: global_sensitivity 2.0, one person replaced in one histogram.
    assert laplace_scale(0.25, 1, Neighbours("replace-one")).value == 8


def test_noise_grows_as_t_or_as_its_root() -> None:
    once, hundredfold = noise_scaling([1, 100], epsilon=1.0, delta=1e-6)
    assert once.pure == once.square_root == math.sqrt(2)
    assert hundredfold.pure == pytest.approx(100 * once.pure)
    assert hundredfold.square_root == pytest.approx(10 * once.square_root)
    assert hundredfold.gaussian == pytest.approx(10 * once.gaussian)


@pytest.mark.parametrize("statistics", [1, 30, 2775])
def test_the_gaussian_column_keeps_its_promise(statistics: int) -> None:
    (row,) = noise_scaling([statistics], epsilon=2.0, delta=1e-5)
    assert compose(DiscreteGaussian(sigma=row.gaussian), statistics).delta(2.0).value <= 1e-5


def test_arguments_outside_their_domain_are_refused() -> None:
    with pytest.raises(ParameterError, match="epsilon must be a positive number"):
        laplace_scale(0.0, 10)
    with pytest.raises(ParameterError, match="epsilon must be a positive number"):
        epsilon_per_count(-1.0, 10)
    with pytest.raises(ParameterError, match="statistics must be a positive whole number"):
        sensitivity(0)
    with pytest.raises(ParameterError, match="delta must be above 0 and below 1"):
        noise_scaling([1], epsilon=1.0, delta=0.0)
    with pytest.raises(ParameterError, match="statistics must be a positive whole number"):
        noise_scaling([1, 0], epsilon=1.0, delta=1e-6)
