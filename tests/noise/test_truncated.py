"""Cut laws against conditional probability."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import DiscreteGaussian, Gaussian, Laplace, MaxEntropy, Truncated, TwoSidedGeometric, Uniform
from tests.each import each

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

INNER: list[Noise] = [
    Gaussian(sigma=2),
    DiscreteGaussian(sigma=2),
    Laplace(scale=3),
    TwoSidedGeometric(epsilon=0.4),
    MaxEntropy(variance=2, bound=5),
    Uniform(bound=7),
]


@each("law", INNER, ids=repr)
@each("bound", [1, 4, 9])
def test_pmf_is_the_law_given_that_it_stays_within_the_bound(law: Noise, bound: int) -> None:
    cut = Truncated(law, bound)
    x = np.arange(-bound, bound + 1)
    inside = math.fsum(law.pmf(x))
    np.testing.assert_allclose(cut.pmf(x), law.pmf(x) / inside, rtol=1e-13)
    assert cut.variance == pytest.approx(math.fsum(x**2 * law.pmf(x)) / inside, rel=1e-12)


@each("law", INNER, ids=repr)
def test_a_bound_within_the_law_s_own_changes_nothing_inside(law: Noise) -> None:
    far = Truncated(law, 2000)
    x = np.arange(-60, 61)
    np.testing.assert_allclose(far.pmf(x), law.pmf(x), rtol=1e-12)
    assert far.variance == pytest.approx(law.variance, rel=1e-12)


@given(st.floats(0.05, 5), st.integers(1, 30))
def test_truncated_geometric_has_a_finite_geometric_series(rate: float, bound: int) -> None:
    cut = Truncated(TwoSidedGeometric(epsilon=rate), bound)
    q = math.exp(-rate)
    total = 1 + 2 * q * -math.expm1(-rate * bound) / -math.expm1(-rate)
    assert float(cut.pmf(0)) == pytest.approx(1 / total, rel=1e-12)
    assert float(cut.pmf(-bound)) == pytest.approx(q**bound / total, rel=1e-12)


def test_cutting_a_discrete_gaussian_gives_the_maximum_entropy_law_of_its_variance() -> None:
    cut = Truncated(DiscreteGaussian(sigma=1.8), 5)
    x = np.arange(-5, 6)
    np.testing.assert_allclose(cut.pmf(x), MaxEntropy(variance=cut.variance, bound=5).pmf(x), rtol=1e-11)


def test_cuts_can_be_nested() -> None:
    twice = Truncated(Truncated(Laplace(scale=2), 9), 4)
    once = Truncated(Laplace(scale=2), 4)
    x = np.arange(-10, 11)
    np.testing.assert_allclose(twice.pmf(x), once.pmf(x), rtol=1e-13)


def test_a_law_whose_probabilities_underflow_inside_the_bound_is_still_cut() -> None:
    cut = Truncated(Gaussian(sigma=0.01), 3)
    assert cut.pmf([-1, 0, 1]).tolist() == [0, 1, 0]
    assert np.isfinite(cut.log_pmf(3))


def test_a_bound_that_is_not_a_positive_whole_number_is_refused() -> None:
    with pytest.raises(ParameterError, match="bound must be a positive whole number, not 0"):
        Truncated(Laplace(scale=1), 0)
