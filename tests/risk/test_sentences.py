"""Numbers in sentences never read safer than they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import MaxEntropy, PTable, TwoSidedGeometric, Uniform
from discreet.risk.neighbouring_counts import ONE_PERSON
from discreet.risk.sentences import condition, downwards, factor, guarantee_clause, upwards


@given(st.floats(1e-300, 1e9), st.integers(1, 6))
def test_rounding_goes_to_the_careful_side(value: float, digits: int) -> None:
    assert float(downwards(value, digits)) <= value <= float(upwards(value, digits))
    assert float(upwards(value, digits)) == pytest.approx(value, rel=1.01 * 10.0 ** (1 - digits))


def test_rounding_leaves_short_numbers_alone() -> None:
    assert upwards(0.5) == downwards(0.5) == "0.5"
    assert upwards(0.0) == downwards(0.0) == "0"
    assert upwards(1.0) == "1"


def test_large_factors_are_written_as_powers() -> None:
    assert factor(0.3) == "1.35"
    assert factor(864.3692) == "e^864.37"


def test_an_epsilon_of_0_allows_no_factor() -> None:
    clause = guarantee_clause("any value of a count", "one person", 0.0, "0.3")
    assert "makes any value of a count no more likely" in clause


def test_the_condition_of_a_bounded_law_names_the_person_alone() -> None:
    law, ptable = MaxEntropy(variance=3, bound=10), PTable.max_entropy(variance=3, bound=10)
    seen = 1 - float(ptable.rows[1].pmf(-1))
    assert f"with probability {downwards(seen)}, for every epsilon" in condition(law, ONE_PERSON)
    assert "with fixed zeros" in condition(Uniform(bound=3), ONE_PERSON)
    assert "zeros included" in condition(TwoSidedGeometric(epsilon=1.0), ONE_PERSON)
