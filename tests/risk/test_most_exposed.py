"""The search for the counts that are known best, against the variance of every cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.calibration.exposed_statistics import counted
from discreet.equations.grouped_equations import GroupedEquations
from discreet.equations.joint_equations import JointEquations
from discreet.errors import TooLargeError
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.lattice import lattice
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.risk import most_exposed as module
from discreet.risk.assessment import assess
from discreet.risk.most_exposed import most_exposed
from tests.programme.small import programme, with_universes
from tests.protection.town import TOWN
from tests.quick import up_to


def smallest(made: Programme, *, spsn: bool = True) -> float:
    """Return the smallest variance of a cell that is not structurally empty, by dense algebra."""
    equations = JointEquations(made, spsn)
    return float(equations.variance_ratios()[equations.possible].min())


@given(with_universes(), st.booleans())
@settings(max_examples=up_to(25), deadline=None)
def test_the_most_exposed_count_of_all_universes_is_found(made: Programme, spsn: bool) -> None:
    found = most_exposed(made, spsn=spsn)
    assert found.complete
    assert found.worst.ratio == pytest.approx(smallest(made, spsn=spsn), rel=1e-9)


@given(with_universes())
@settings(max_examples=up_to(25), deadline=None)
def test_fresh_noise_never_lowers_the_risk(made: Programme) -> None:
    shared, fresh = (most_exposed(made, spsn=spsn).worst.ratio for spsn in (True, False))
    assert fresh <= shared * (1 + 1e-9)


def test_a_category_that_is_not_split_has_one_fresh_noise() -> None:
    tree = CategoryTree("A", (Category("a"), Category("b"), Category("b1", "b"), Category("b2", "b")))
    levels = tuple(Level("A", f"A{d}", len(tree.cut(d)), tree.cut(d)) for d in (1, 2))
    table = Table("1", (Breakdown("A", "A", levels),))
    made = Programme("one table", {"A": Topic("A", levels, tree)}, (table,))
    # Rows _T, a, b, b1, b2: the same with fresh noise and with one noise per count, for none is repeated.
    assert most_exposed(made, spsn=False).solved == most_exposed(made).solved
    # A second table shows every row again.
    twice = replace(made, tables=(table, replace(table, id="2")))
    assert most_exposed(twice, spsn=False).worst.ratio == pytest.approx(most_exposed(made).worst.ratio / 2, rel=1e-9)


@given(with_universes(most=3), with_universes(most=2))
@settings(max_examples=up_to(25), deadline=None)
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
    ratios = [module.rounded_ratio(cell.ratio) for cell in found.solved]
    assert ratios == sorted(ratios)


@pytest.mark.parametrize("known", [None, "A1"])
@pytest.mark.parametrize("probed", [True, False])
def test_equations_of_one_statistic_at_a_time_give_the_same(
    monkeypatch: pytest.MonkeyPatch, probed: bool, known: str | None
) -> None:
    made = programme([("A", "S"), ("A.1", "B", "S"), ("B", "C")], {"A": [3, 12], "B": [2, 8], "C": [5], "S": [2]})
    monkeypatch.setattr(module, "FEW", 0)
    found = []
    for many in (10**6, 0):
        module._KEPT.clear()  # noqa: SLF001 - a search must be made
        monkeypatch.setattr(module, "MANY_GROUPS", many)
        found.append(most_exposed(made, known=known))
    whole, apart = found
    assert apart.worst.ratio == pytest.approx(whole.worst.ratio, rel=1e-4)
    assert {(cell.statistic, cell.codes) for cell in apart.solved} == {
        (cell.statistic, cell.codes) for cell in whole.solved
    }
    if not probed:
        # The closed form alone chooses: the figure can only be larger.
        module._KEPT.clear()  # noqa: SLF001
        size = max(GroupedEquations(lattice(made), target=number).cells for number in range(len(lattice(made))))
        monkeypatch.setattr(module, "MOST_GROUPS", size)
        unprobed = most_exposed(made, known=known)
        assert not unprobed.probed
        assert unprobed.worst.ratio >= apart.worst.ratio * (1 - 1e-4)
        assert unprobed.worst.ratio == pytest.approx(apart.worst.ratio, rel=0.05)


@given(with_universes(), st.integers(0, 2**31))
@settings(max_examples=up_to(15), deadline=None)
def test_neighbours_of_the_best_known_cell_are_not_better_known(made: Programme, seed: int) -> None:
    search = module._Search(made, spsn=True)  # noqa: SLF001
    spread = search.equations.spread
    ratios = search.equations.variance_ratios()
    tried = np.flatnonzero(spread > 0)
    first = int(np.random.default_rng(seed).choice(tried))
    found = search._climbed({first: float(ratios[first])}, spread)  # noqa: SLF001
    best = min(found, key=lambda cell: found[cell] if found[cell] > module.TINY else np.inf)
    near = search._neighbours(best)  # noqa: SLF001
    assert found[best] <= ratios[first] * (1 + 1e-4)
    assert all(found[cell] == pytest.approx(ratios[cell], rel=1e-4, abs=1e-9) for cell in found)
    assert all(ratios[cell] > found[best] * (1 - 1e-4) for cell in near[spread[near] > 0] if ratios[cell] > 1e-9)


def test_cells_that_differ_by_arithmetic_alone_end_the_search() -> None:
    search = module._Search(programme([("S",)], {"S": [2]}), spsn=True)  # noqa: SLF001
    equal = {0: 0.5, 1: 0.5, 2: 0.5 * (1 - 1e-12)}
    assert search._climbed(equal, np.ones(3)) == equal  # noqa: SLF001


def test_nothing_is_solved_where_everything_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", 0)
    assert most_exposed(programme([("S",)], {"S": [3]}), known="S1").solved == ()


def test_too_many_groups_for_one_statistic_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = programme([("A", "S"), ("A.1", "B", "S")], {"A": [3, 12], "B": [2, 8], "S": [2]})
    monkeypatch.setattr(module, "FEW", 0)
    monkeypatch.setattr(module, "MANY_GROUPS", 0)
    assert module.solvable(made)
    sizes = [GroupedEquations(lattice(made), target=number).cells for number in range(len(lattice(made)))]
    whole = most_exposed(made).worst
    exposed = sizes[lattice(made).position(whole.statistic)]
    assert exposed < max(sizes)
    # Statistics that the closed form takes for less exposed may be too large; the most exposed one may not.
    monkeypatch.setattr(module, "MOST_GROUPS", max(sizes) - 1)
    module._KEPT.clear()  # noqa: SLF001 - a search must be made
    assert most_exposed(made).worst.ratio == pytest.approx(whole.ratio, rel=1e-4)
    with pytest.raises(TooLargeError):
        most_exposed(made, statistics=(lattice(made).names()[sizes.index(max(sizes))],))
    monkeypatch.setattr(module, "MOST_GROUPS", exposed - 1)
    module._KEPT.clear()  # noqa: SLF001 - a search must be made
    assert not module.solvable(made)
    with pytest.raises(TooLargeError):
        most_exposed(made)


def test_tables_with_universes_that_are_too_large_take_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.solvable(TOWN)
    counted_before = counted(TOWN, "levels", None)
    monkeypatch.setattr("discreet.equations.joint_equations.MOST_CELLS", 3)
    module._KEPT.clear()  # noqa: SLF001 - a search must be made
    assert not module.solvable(TOWN)
    assert counted(TOWN, "levels", None).scope is None
    # What was few enough with shared noise may be too large with fresh noise.
    assert not counted_before.exposed(spsn=False)["optimal"].exact


def test_two_universes_together_reveal_more_than_each_alone() -> None:
    whole = most_exposed(TOWN).worst.ratio
    apart = [
        assess(TOWN, variance=3, bound=5, population=name, measures=["averaging"]).case.worst
        for name in TOWN.populations
    ]
    assert whole < min(each.ratio for each in apart if each)
    assert np.isfinite(whole)
