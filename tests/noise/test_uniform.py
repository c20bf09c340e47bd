"""Uniform noise against counting."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import Uniform

bounds = st.integers(1, 300)


@given(bounds)
def test_variance_is_the_mean_of_the_squares(bound: int) -> None:
    values = range(-bound, bound + 1)
    assert Uniform(bound=bound).variance == pytest.approx(float(Fraction(sum(x * x for x in values), len(values))))


@given(bounds, st.integers(-400, 400))
def test_probabilities_are_counts_of_values(bound: int, x: int) -> None:
    law, values = Uniform(bound=bound), range(-bound, bound + 1)
    assert float(law.pmf(x)) == pytest.approx((x in values) / len(values), rel=1e-13)
    assert float(law.cdf(x)) == pytest.approx(sum(value <= x for value in values) / len(values), rel=1e-15)


def test_a_key_space_of_2e_plus_1_keys_holds_the_law_without_rounding() -> None:
    row = Uniform(bound=4).rounded(9)
    assert row.values == (-4, -3, -2, -1, 0, 1, 2, 3, 4)
    assert row.weights == (1,) * 9
