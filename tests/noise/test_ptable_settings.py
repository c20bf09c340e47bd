"""The settings of a p-table: checked at construction and converted into rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.parameters import parameters
from discreet.noise.ptable_settings import OBJECTIVES, PTableSettings
from tests.each import each

BAD: dict[str, list[Any]] = {
    "variance": [0, -1, math.nan, math.inf, "2", None, True],
    "bound": [0, -1, 2.0, 2.5, "5", None, True],
    "threshold": [-1, 1.0, None, True],
    "stay": [1, 1.0, -0.1, math.nan, "0", None, True],
    "floor": [1, -1e-9, math.inf, None],
}


@each(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_wishes_outside_their_domain_are_refused(name: str, value: Any) -> None:  # noqa: ANN401 - wrong types
    declared = parameters(PTableSettings)[name]
    low, high = declared.typical
    with pytest.raises(ParameterError) as refusal:
        PTableSettings(**{"variance": 2, "bound": 5, name: value})
    assert refusal.value.parameter == name
    assert f"p-table: {name} must be {declared.domain.words}, not {value!r}" in str(refusal.value)
    assert f"Typical values: {low:g} to {high:g}." in str(refusal.value)


def test_a_misspelt_objective_gets_the_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match=r"no objective 'entropie'\. Did you mean entropy\?") as refusal:
        PTableSettings(variance=2, bound=5, objective="entropie")
    assert refusal.value.available == OBJECTIVES


@pytest.mark.parametrize("extra", [{"stay": 0.1}, {"floor": 1e-8}, {"monotone": True}])
def test_least_disclosure_is_not_combined_with_shapes(extra: dict[str, Any]) -> None:
    (name,) = extra
    with pytest.raises(
        ParameterError, match=f"{name} cannot be combined with the objective least-disclosure"
    ) as refusal:
        PTableSettings(variance=2, bound=5, objective="least-disclosure", **extra)
    assert refusal.value.parameter == name


def test_least_disclosure_names_all_that_it_cannot_be_combined_with() -> None:
    with pytest.raises(ParameterError, match="stay and floor and monotone cannot be combined"):
        PTableSettings(variance=2, bound=5, objective="least-disclosure", stay=0.1, floor=1e-8, monotone=True)


def test_least_disclosure_needs_a_bound_of_two() -> None:
    with pytest.raises(ParameterError, match="least-disclosure needs a bound of at least 2") as refusal:
        PTableSettings(variance=0.5, bound=1, objective="least-disclosure")
    assert refusal.value.parameter == "bound"


@given(st.integers(1, 30), st.integers(0, 6), st.integers(0, 60), st.booleans())
def test_changes_lead_to_every_allowed_count_within_the_bound(
    bound: int, threshold: int, count: int, zeros: bool
) -> None:
    settings = PTableSettings(variance=1, bound=bound, threshold=threshold, perturb_zeros=zeros)
    reached = {
        target
        for target in range(-bound, count + bound + 1)
        if abs(target - count) <= bound and not 1 <= target <= threshold and (target >= 0 or zeros)
    }
    assert set((settings.changes(count) + count).tolist()) == reached
    assert (np.diff(settings.changes(count)) > 0).all()


@given(st.integers(1, 12), st.integers(0, 5), st.booleans())
def test_the_last_row_is_the_first_that_serves_every_larger_count(bound: int, threshold: int, zeros: bool) -> None:
    settings = PTableSettings(variance=1, bound=bound, threshold=threshold, perturb_zeros=zeros)
    symmetric = list(range(-bound, bound + 1))
    for count in range(settings.last_row, settings.last_row + 2 * bound):
        assert settings.changes(count).tolist() == symmetric
    if threshold and bound > threshold:
        assert settings.changes(settings.last_row - 1).tolist() != symmetric


def test_rows_are_e_or_e_plus_threshold_plus_1() -> None:
    # The row counts of the R package ptable.
    assert list(PTableSettings(variance=2, bound=5).row_problems()) == list(range(1, 6))
    assert list(PTableSettings(variance=3, bound=5, threshold=2).row_problems()) == list(range(1, 9))
    assert list(PTableSettings(variance=2, bound=5, perturb_zeros=True).row_problems()) == list(range(6))


def test_row_problems_carry_every_wish() -> None:
    settings = PTableSettings(variance=3, bound=5, threshold=1, stay=0.1, floor=1e-8, equality=True, monotone=True)
    for count, problem in settings.row_problems().items():
        assert np.array_equal(problem.values, settings.changes(count))
        wishes = (problem.variance, problem.stay, problem.floor, problem.equality, problem.monotone)
        assert wishes == (3, 0.1, 1e-8, True, True)
        assert problem.ceiling is None
        assert not problem.plain


def test_a_row_without_inequalities_is_plain() -> None:
    for equality in (False, True):
        settings = PTableSettings(variance=2, bound=5, equality=equality)
        assert all(problem.plain for problem in settings.row_problems().values())
