"""Feasibility against linear programs, and ways out that lead out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import InfeasibleError
from discreet.noise.dual import RowProblem
from discreet.noise.feasibility import check_feasible, variance_limits
from discreet.noise.ptable import PTable
from discreet.noise.ptable_settings import PTableSettings
from tests.each import each
from tests.noise.programs import positive_law_exists, variance_range
from tests.quick import examples

# Quarters are exact in binary and in a linear program, so that limits are met exactly.
quarters = st.integers(1, 60).map(lambda quarter: quarter / 4)
plain_wishes = st.builds(
    PTableSettings,
    variance=quarters,
    bound=st.integers(1, 8),
    threshold=st.integers(0, 5),
    equality=st.booleans(),
    perturb_zeros=st.booleans(),
)
shaped_wishes = st.builds(
    PTableSettings,
    variance=quarters,
    bound=st.integers(1, 6),
    threshold=st.integers(0, 3),
    equality=st.booleans(),
    monotone=st.booleans(),
    floor=st.sampled_from([0.0, 1e-3, 0.01, 0.06]),
    stay=st.sampled_from([0.0, 0.3, 0.8]),
)


def refusal_of(settings: PTableSettings) -> InfeasibleError | None:
    try:
        check_feasible(settings)
    except InfeasibleError as error:
        return error
    return None


def infeasible_rows(settings: PTableSettings) -> list[int]:
    """Return the rows for which a linear program finds no positive law."""
    return [count for count, problem in settings.row_problems().items() if not positive_law_exists(problem)]


@examples(given(plain_wishes), quick=10, slow=60)
def test_plain_tables_are_feasible_where_linear_programs_say_so(settings: PTableSettings) -> None:
    refusal, rows = refusal_of(settings), infeasible_rows(settings)
    assert (refusal is None) == (not rows)
    assert refusal is None or refusal.row in rows


@examples(given(shaped_wishes), quick=10, slow=60)
def test_shaped_tables_are_feasible_where_linear_programs_say_so(settings: PTableSettings) -> None:
    refusal = refusal_of(settings)
    rows = []
    for count, problem in settings.row_problems().items():
        two_sided = (problem.values < 0).any() and (problem.values > 0).any()
        limits = variance_range(problem) if two_sided else None
        # At the limit itself rounding decides; no realistic setting lies there.
        assume(limits is None or min(abs(problem.variance - limit) for limit in limits) > 1e-6)
        if limits is None or problem.variance < limits[0] or (problem.equality and problem.variance > limits[1]):
            rows.append(count)
    assert (refusal is None) == (not rows)
    assert refusal is None or refusal.row in rows


@given(quarters, st.integers(1, 8), st.integers(1, 6))
def test_closed_form_with_a_threshold(variance: float, bound: int, threshold: int) -> None:
    needed = max(i * (threshold + 1 - i) for i in range(1, threshold + 1))
    feasible = bound >= threshold + 1 and variance > needed
    assert (refusal_of(PTableSettings(variance=variance, bound=bound, threshold=threshold)) is None) == feasible


@given(quarters, st.integers(1, 8))
def test_without_threshold_and_equality_every_table_is_feasible(variance: float, bound: int) -> None:
    check_feasible(PTableSettings(variance=variance, bound=bound))


@given(quarters, st.integers(1, 8), st.integers(0, 5))
def test_closed_form_with_equality(variance: float, bound: int, threshold: int) -> None:
    needed = max((i * (threshold + 1 - i) for i in range(1, threshold + 1)), default=0)
    settings = PTableSettings(variance=variance, bound=bound, threshold=threshold, equality=True)
    # Row 1 falls by 1 at most and rises by E at most.
    assert (refusal_of(settings) is None) == (bound >= threshold + 1 and needed < variance < bound)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 8), st.integers(0, 8))
def test_limits_of_a_plain_row_are_those_of_a_linear_program(low: int, high: int, first: int, last: int) -> None:
    values = np.arange(-low, high + 1)
    values = values[(values < min(first, last) - low) | (values > max(first, last) - low)]
    assume(len(values) and values[0] < 0 < values[-1])
    problem = RowProblem(values, 1.0)
    assert variance_limits(problem) == pytest.approx(variance_range(problem), abs=1e-7)


def test_limits_of_a_row_without_any_law_are_none() -> None:
    assert variance_limits(RowProblem(np.arange(-1, 6), 2.0, floor=0.2)) is None


def test_refusal_names_row_reason_and_numbers() -> None:
    with pytest.raises(InfeasibleError) as refusal:
        PTable.max_entropy(variance=2, bound=5, threshold=2)
    assert refusal.value.row == 1
    assert str(refusal.value) == (
        "No p-table exists: row 1 is infeasible. Because a count of 1 must become 0 or at least 3, its variance "
        "is above 2. The requested variance is 2. Use a variance above 2, or a threshold of at most 1."
    )


def test_refusal_of_a_bound_that_the_threshold_swallows() -> None:
    with pytest.raises(InfeasibleError, match="row 3 is infeasible") as refusal:
        PTable.max_entropy(variance=3, bound=2, threshold=2)
    assert "a count of 3 can only stay unchanged or increase, so that its noise cannot have mean 0" in str(
        refusal.value
    )
    assert refusal.value.needs == "Use a bound of at least 3, or a threshold of at most 1."


def test_refusal_says_where_a_count_can_only_fall() -> None:
    with pytest.raises(InfeasibleError, match="a count of 1 can only decrease"):
        PTable.max_entropy(variance=5, bound=1, threshold=3)
    with pytest.raises(InfeasibleError, match="a count of 0 can only stay unchanged or decrease"):
        PTable.max_entropy(variance=5, bound=1, threshold=3, perturb_zeros=True)


def test_refusal_of_equality_that_row_1_cannot_reach() -> None:
    with pytest.raises(InfeasibleError, match="row 1 is infeasible") as refusal:
        PTable.max_entropy(variance=3, bound=3, equality=True)
    assert "A count of 1 decreases by at most 1 and increases by at most 3" in str(refusal.value)
    assert refusal.value.needs == (
        "Use a variance below 3, or a bound of at least 4, or the variance as an upper limit (without equality)."
    )


def test_refusal_of_a_floor_too_high() -> None:
    with pytest.raises(InfeasibleError, match=r"probability of at least 0\.2") as refusal:
        PTable.max_entropy(variance=3, bound=4, floor=0.2)
    assert refusal.value.needs == "Use a smaller floor."


@pytest.mark.parametrize("variance", [1.0, 3.0, 5.0])
def test_two_changes_are_named_where_no_single_one_helps(variance: float) -> None:
    with pytest.raises(InfeasibleError) as refusal:
        PTable.max_entropy(variance=variance, bound=1, threshold=3, equality=True)
    if variance <= 4:
        assert refusal.value.needs == "Use a bound of at least 5 with a variance above 4 and below 5."
        PTable.max_entropy(variance=4.5, bound=5, threshold=3, equality=True)
    else:
        assert refusal.value.needs == "Use a bound of at least 6."


GIVEN_UP: dict[str, list[tuple[str, float]]] = {
    "smaller floor": [("floor", 0.0)],
    "smaller stay": [("stay", 0.0)],
    "no monotone shape": [("monotone", False)],
    "no floor, stay or monotone shape": [("floor", 0.0), ("stay", 0.0), ("monotone", False)],
    "upper limit": [("equality", False)],
}


def ways_out(settings: PTableSettings, needs: str) -> list[tuple[PTableSettings, list[PTableSettings]]]:
    """Return, for every relaxation in the message, the changed settings and those just short of it."""
    found: list[tuple[PTableSettings, list[PTableSettings]]] = []
    for way in needs.removeprefix("Use ").removesuffix(".").split(", or "):
        numbers = {what: float(number) for what, number in re.findall(r"(above|below|least|most) ([\d.e+-]+)", way)}
        change: dict[str, Any] = {
            wish: nothing for words, wishes in GIVEN_UP.items() if words in way for wish, nothing in wishes
        }
        short: list[dict[str, Any]] = []
        if "least" in numbers:
            change["bound"] = int(numbers["least"])
            short.append({"bound": change["bound"] - 1})
        if "most" in numbers:
            change["threshold"] = int(numbers["most"])
            if change["threshold"] + 1 < settings.threshold:
                short.append({"threshold": change["threshold"] + 1})
        if "variance above" in way or "variance below" in way:
            low, high = numbers.get("above", 0.0), numbers.get("below", 2 * numbers.get("above", 0.0) + 2)
            change["variance"] = low + 1e-3 * (high - low)
            short += [{"variance": low - 1e-3 * high}] if low > 1e-3 * high else []
            short += [{"variance": high}] if "below" in numbers else []
            found.append((replace(settings, **change | {"variance": high - 1e-3 * (high - low)}), []))
        found.append((replace(settings, **change), [replace(settings, **change | less) for less in short]))
    return found


@examples(given(plain_wishes), quick=8, slow=40)
def test_every_way_out_of_a_plain_table_leads_out_and_none_is_longer_than_needed(settings: PTableSettings) -> None:
    refusal = refusal_of(settings)
    assume(refusal is not None)
    assert refusal is not None
    assert str(refusal).endswith(refusal.needs)
    for better, not_enough in ways_out(settings, refusal.needs):
        assert infeasible_rows(better) == []
        PTable.solve(better, 2**16)
        for short in not_enough:
            assert infeasible_rows(short) != []


@examples(given(shaped_wishes), quick=6, slow=40)
def test_every_way_out_of_a_shaped_table_leads_out(settings: PTableSettings) -> None:
    refusal = refusal_of(settings)
    assume(refusal is not None)
    assert refusal is not None
    for better, _ in ways_out(settings, refusal.needs):
        check_feasible(better)


@each("perturb_zeros", [False, True])
@each("equality", [False, True])
@each("threshold", [0, 1, 2, 3, 5])
def test_the_bound_that_is_named_is_the_smallest_that_helps(
    threshold: int, equality: bool, perturb_zeros: bool
) -> None:
    for variance, bound in [(0.75, 1), (2.0, 1), (6.0, 3), (9.25, 1), (10.0, 1), (12.0, 3)]:
        wishes = PTableSettings(
            variance=variance, bound=bound, threshold=threshold, equality=equality, perturb_zeros=perturb_zeros
        )
        refusal = refusal_of(wishes)
        if refusal is None:
            continue
        # A bound of 13 passes every threshold and leaves room above every variance here.
        helping = (larger for larger in range(bound + 1, 15) if refusal_of(replace(wishes, bound=larger)) is None)
        named = re.search(r"a bound of at least (\d+)(, or|\.$)", refusal.needs)
        assert (int(named[1]) if named else None) == next(helping, None)
        for better, not_enough in ways_out(wishes, refusal.needs):
            assert refusal_of(better) is None
            assert all(refusal_of(short) for short in not_enough)
