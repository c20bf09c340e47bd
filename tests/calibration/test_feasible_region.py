from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.calibration.constraints import (
    ATTACKERS,
    OPTIMAL,
    PAPER,
    Constraint,
    acceptable_bound,
    accurate_areas,
    averaging_epsilon,
    averaging_variance,
    bound_disclosure_limit,
    variance_limit,
)
from discreet.calibration.feasible_region import FeasibleRegion, allowed_range
from discreet.risk.averaging import variance_needed
from discreet.risk.bound_disclosure import largest_variance
from tests.quick import examples

ONE_SIGMA = 0.6827


def plane(ratio: float = 0.0867, tuples: int = 28_000_000, attacker: str = PAPER, largest: int = 10) -> FeasibleRegion:
    constraints = (
        averaging_variance(ratio, "AGE.M", ONE_SIGMA),
        bound_disclosure_limit({2: tuples}, ONE_SIGMA, attacker),
        variance_limit(),
        acceptable_bound(largest),
    )
    return FeasibleRegion(constraints, largest)


def test_the_edges_of_the_region_are_the_closed_formulas() -> None:
    for row in plane().rows:
        assert row.low == variance_needed(0.0867, ONE_SIGMA)
        assert row.high == largest_variance(row.bound, tuples=28_000_000, confidence=ONE_SIGMA).value
        assert (row.low_by, row.high_by) == ("averaging", "bound disclosure")
        assert row.feasible == (row.low <= row.high)


def test_from_the_published_ratios_something_is_left_from_7_on_for_germany_and_from_6_for_malta() -> None:
    assert [row.bound for row in plane().feasible] == [7, 8, 9, 10]
    assert [row.bound for row in plane(tuples=710_000).feasible] == [6, 7, 8, 9, 10]


def test_few_tuples_leave_the_room_of_a_bound_as_its_limit() -> None:
    row = plane(tuples=0).at(3)
    assert (row.high, row.high_by) in {(4.0, "bound disclosure"), (4.0, "room")}


@pytest.mark.slow
@settings(max_examples=5)
@given(st.floats(0.01, 1), st.integers(0, 10**8), st.sampled_from(ATTACKERS))
def test_what_the_rows_leave_is_what_all_constraints_allow(ratio: float, tuples: int, attacker: str) -> None:
    found = plane(ratio, tuples, attacker)
    for row in found.rows:
        assert found.allows(row.low, row.bound) == row.feasible
        if row.feasible:
            assert found.allows(row.high, row.bound)
            assert not found.allows(row.low * 0.999, row.bound)
            assert not found.allows(row.high * 1.001, row.bound)


@examples(given(st.floats(0.02, 1), st.integers(0, 10**8), st.sampled_from(ATTACKERS)), quick=2, slow=5)
def test_the_smallest_bound_is_the_first_row_that_leaves_something(ratio: float, tuples: int, attacker: str) -> None:
    found = plane(ratio, tuples, attacker, largest=12)
    first = next((row.bound for row in found.rows if row.feasible), None)
    assert found.smallest_bound(12) == first


def test_a_bound_beyond_the_acceptable_ones_is_found_and_not_allowed() -> None:
    found = plane(largest=5)
    assert not found.feasible
    assert found.smallest_bound() == 7
    assert not found.allows(found.needed, 7)


def test_no_bound_that_is_looked_at_may_do() -> None:
    assert plane(ratio=1e-6).smallest_bound(20) is None


def test_the_line_of_the_published_ratios_leaves_something_for_malta_and_nothing_for_france() -> None:
    averaging = averaging_epsilon(0.0118, "total", ONE_SIGMA)
    malta, france = (allowed_range((averaging, accurate_areas(areas, 0.68)), "epsilon") for areas in (68, 37_000))
    assert malta.feasible
    assert not france.feasible
    assert (malta.low_by, malta.high_by) == ("accurate areas", "averaging")
    assert malta.low == pytest.approx(0.268, abs=5e-4)
    assert malta.high == pytest.approx(0.307, abs=5e-4)


def test_without_constraints_everything_is_left() -> None:
    found = allowed_range((), "variance")
    assert (found.low, found.high) == (0, float("inf"))
    assert (found.low_by, found.high_by) == ("", "")


def test_of_equal_limits_the_first_constraint_binds() -> None:
    def at_most(name: str) -> Constraint:
        return Constraint(name, "variance", "at most", lambda _: 2.0, "V <= 2", "a test")

    assert allowed_range((at_most("one"), at_most("another")), "variance").high_by == "one"


@pytest.mark.slow
def test_the_optimal_attacker_leaves_less() -> None:
    paper, optimal = (plane(attacker=attacker) for attacker in (PAPER, OPTIMAL))
    for mine, theirs in zip(optimal.rows, paper.rows, strict=True):
        assert mine.high <= theirs.high * (1 + 1e-9)
