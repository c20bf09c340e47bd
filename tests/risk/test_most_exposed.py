"""The search for the counts that are known best, against the variance of every cell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.equations.joint import JointEquations
from discreet.risk import most_exposed as module
from discreet.risk.assess import assess
from discreet.risk.most_exposed import most_exposed
from tests.mechanisms.town import TOWN
from tests.programme.small import programme, with_universes

if TYPE_CHECKING:
    from discreet.programme.model import Programme


def smallest(made: Programme, *, spsn: bool = True) -> float:
    """Return the smallest variance of a cell that is not structurally empty, by dense algebra."""
    equations = JointEquations(made, spsn)
    return float(equations.variance_ratios()[equations.possible].min())


@given(with_universes(), st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_most_exposed_count_of_all_universes_is_found(made: Programme, spsn: bool) -> None:
    found = most_exposed(made, spsn=spsn)
    assert found.complete
    assert found.worst.ratio == pytest.approx(smallest(made, spsn=spsn), rel=1e-9)


@given(with_universes(most=3), with_universes(most=2))
@settings(max_examples=25, deadline=None)
def test_another_table_of_any_universe_never_lowers_the_risk(made: Programme, more: Programme) -> None:
    extra = tuple(replace(table, id=f"more {table.id}") for table in more.tables)
    both = replace(made, tables=(*made.tables, *extra))
    before, after = (assess(each, variance=3, bound=5, measures=["averaging", "composition"]) for each in (made, both))
    first, second = ({result.name: result.value for result in each.results} for each in (before, after))
    assert second["averaging_success"] >= first["averaging_success"] - 1e-9
    assert second["variance_needed"] >= first["variance_needed"] * (1 - 1e-9)
    assert second["sensitivity"] >= first["sensitivity"]


def test_a_search_by_probes_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made = programme([("A", "S"), ("A.1", "B", "S"), ("B", "C")], {"A": [3, 12], "B": [2, 8], "C": [5], "S": [2]})
    expected = smallest(made)
    module._KEPT.clear()  # noqa: SLF001 - a search must be made
    monkeypatch.setattr(module, "FEW", 0)
    found = most_exposed(made)
    assert not found.complete
    assert found.worst.ratio == pytest.approx(expected, rel=1e-4)
    ratios = [cell.ratio for cell in found.solved]
    assert ratios == sorted(ratios)


def test_two_universes_together_reveal_more_than_each_alone() -> None:
    whole = most_exposed(TOWN).worst.ratio
    apart = [
        assess(TOWN, variance=3, bound=5, population=name, measures=["averaging"]).case.worst
        for name in TOWN.populations
    ]
    assert whole < min(each.ratio for each in apart if each)
    assert np.isfinite(whole)
