"""The textbook theorems: their formulas, published figures, and that none beats the exact composition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import DiscreteGaussian, Gaussian, Laplace, MaxEntropy, Truncated, TwoSidedGeometric, Uniform
from discreet.risk.composition import compose
from discreet.risk.composition_theorems import (
    advanced_composition,
    basic_composition,
    concentrated_composition,
    rho,
)
from discreet.risk.neighbouring_counts import Neighbours, law_pair

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

SMALL, LARGE = MaxEntropy(variance=2, bound=5), MaxEntropy(variance=3, bound=10)
"""The two settings of Bach (2020)."""

STATISTICS = 2775


# Figures of the next three tests: an independent program, to the digits given.
@pytest.mark.parametrize(
    ("law", "epsilon", "delta"), [(SMALL, 6235.9, 1.52), (LARGE, 8787.5, 3.69e-5)], ids=["small", "large"]
)
def test_basic_composition(law: MaxEntropy, epsilon: float, delta: float) -> None:
    found = basic_composition(law, STATISTICS)
    assert found.epsilon == pytest.approx(STATISTICS * (2 * law.bound - 1) * law.lam, rel=1e-9)
    assert found.epsilon == pytest.approx(epsilon, abs=0.05)
    assert found.delta == pytest.approx(delta, rel=2e-3)


@pytest.mark.parametrize(("law", "epsilon"), [(SMALL, 53_380), (LARGE, 200_600)], ids=["small", "large"])
def test_advanced_composition(law: MaxEntropy, epsilon: float) -> None:
    found = advanced_composition(law, STATISTICS, slack=1e-6)
    assert found.epsilon == pytest.approx(epsilon, rel=1e-4)
    assert found.delta == pytest.approx(STATISTICS * float(law.pmf(law.bound)) + 1e-6)


def test_concentrated_composition() -> None:
    crude = concentrated_composition(LARGE, STATISTICS, slack=1e-6, tight=False)
    tight = concentrated_composition(LARGE, STATISTICS, slack=1e-6)
    assert crude is not None
    assert tight is not None
    assert crude.epsilon == pytest.approx(622.4, abs=0.05)
    assert tight.epsilon == pytest.approx(619.5, abs=0.05)
    assert tight.delta == pytest.approx(3.69286e-5 + 1e-6, rel=1e-5)


LAWS = [
    SMALL,
    LARGE,
    TwoSidedGeometric(epsilon=0.5),
    Laplace(scale=2.0),
    Gaussian(sigma=2.0),
    DiscreteGaussian(sigma=1.5),
    Truncated(DiscreteGaussian(sigma=1.5), 6),
    Uniform(bound=20),
]


@given(st.sampled_from(LAWS), st.integers(1, 40), st.integers(1, 3), st.floats(1e-8, 1e-2))
def test_no_theorem_promises_more_than_is_true(law: Noise, statistics: int, household: int, slack: float) -> None:
    neighbours = Neighbours(household=household)
    exact = compose(law, statistics, neighbours)
    promises = [
        basic_composition(law, statistics, neighbours),
        basic_composition(law, statistics, neighbours, slack=slack),
        advanced_composition(law, statistics, neighbours, slack=slack),
        concentrated_composition(law, statistics, neighbours, slack=slack),
        concentrated_composition(law, statistics, neighbours, slack=slack, tight=False),
    ]
    for promised in promises:
        assert promised is not None
        # The lower end of the composition: a promise may not be below what is certain.
        truth = max(loss.delta(promised.epsilon) for loss in exact.lower)
        assert promised.delta >= truth * (1 - 1e-9) - 1e-250


@given(st.sampled_from(LAWS), st.integers(1, 4), st.floats(1.01, 60))
def test_rho_bounds_every_moment_of_the_finite_losses(law: Noise, shift: int, order: float) -> None:
    loss, single = law_pair(law, shift).up, rho(law, shift)
    assert single is not None
    with np.errstate(divide="ignore"):
        log_moment = np.logaddexp.reduce(np.log(loss.probabilities) + (order - 1) * loss.losses)
    assert log_moment <= (order - 1) * order * single + 1e-9


@pytest.mark.parametrize("law", [MaxEntropy(variance=11, bound=5), Truncated(Laplace(scale=2.0), 5)], ids=repr)
def test_a_law_without_a_known_rho(law: Noise) -> None:
    assert rho(law) is None
    assert concentrated_composition(law, 10, slack=1e-6) is None


def test_a_result_names_delta_and_condition() -> None:
    result = basic_composition(LARGE, STATISTICS).result()
    assert result.name == "basic_composition"
    assert "e^8787.5 times as likely, except with probability 3.7e-05" in result.sentence
    assert "This holds only if every one of these counts exceeds 10" in result.sentence
    assert "delta 3.7e-05" in result.assumptions


def test_a_delta_above_1_promises_nothing() -> None:
    assert "gives no guarantee for 2775 counts together" in basic_composition(SMALL, STATISTICS).result().sentence


def test_replacing_a_person_doubles_the_counts() -> None:
    assert basic_composition(LARGE, 10, Neighbours("replace-one")).epsilon == basic_composition(LARGE, 20).epsilon


@pytest.mark.parametrize("slack", [0.0, 1.0])
def test_a_slack_outside_its_domain_is_refused(slack: float) -> None:
    with pytest.raises(ParameterError, match="slack must be above 0 and below 1"):
        advanced_composition(LARGE, 10, slack=slack)
    with pytest.raises(ParameterError, match="slack must be above 0 and below 1"):
        concentrated_composition(LARGE, 10, slack=slack)


def test_a_household_wider_than_the_noise_is_given_away() -> None:
    found = concentrated_composition(SMALL, 2, Neighbours(household=11), slack=1e-6)
    assert found is not None
    assert found.delta >= 1
    assert math.isfinite(found.epsilon)
