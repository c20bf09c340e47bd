"""The plan: what is counted from records, what is summed up, and from where."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from discreet.programme.lattice import contains, lattice
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import choose_tables
from discreet.tabulation.plan import plan as plan_tables
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, programmes, topic

if TYPE_CHECKING:
    from discreet.programme.lattice import Statistic
    from discreet.programme.model import Programme
    from discreet.tabulation.plan import Plan

A = topic("A", {"a0": "", "a1": "", "a00": "a0", "a01": "a0"})
B = topic("B", "b0 b1 b2")
C = topic("C", "c0 c1 c2 c3 c4")


def plan_of(spec: Programme) -> Plan:
    return plan_tables(spec, spec.tables)


def test_a_statistic_is_a_depth_per_axis() -> None:
    plan = plan_of(programme([A, B], [by(A), by(B)], [by(A, 1, 1)]))
    assert [axis.name for axis in plan.axes] == ["A", "B"]
    first, second = plan.tables
    assert (first.base, second.base) == ((2, 1), (1, 0))
    assert first.statistics == ((2, 1), (1, 1), (2, 0), (0, 1), (1, 0), (0, 0))
    assert second.statistics == ((1, 0), (0, 0))
    assert [plan.shape(statistic) for statistic in first.statistics] == [(3, 3), (2, 3), (3,), (3,), (2,), ()]
    assert [plan.size(statistic) for statistic in first.statistics] == [9, 6, 3, 3, 2, 1]
    # _T, a0, a1, a00, a01 by _T, b0, b1, b2: the category a1 is shown once.
    assert (first.cells, second.cells) == (20, 3)


def test_a_breakdown_without_total_has_no_margins_over_it() -> None:
    (table,) = plan_of(programme([A, B], [by(A, 2, total=False), by(B)])).tables
    assert table.statistics == ((1, 1), (1, 0))


def test_the_larger_parent_is_left_alone() -> None:
    plan = plan_of(programme([A, B, C], [by(A), by(B), by(C)]))
    (table,) = plan.tables
    assert [axis.name for axis in plan.axes] == ["A", "B", "C"]
    # Over A at depth 2 or 1, B or C: the smallest of those one step finer.
    assert plan.parent(table, (0, 0, 0)) == ((1, 0, 0), 0)
    assert plan.parent(table, (0, 1, 0)) == ((1, 1, 0), 0)
    assert plan.parent(table, (2, 0, 0)) == ((2, 1, 0), 1)
    assert plan.parent(table, (1, 1, 1)) == ((2, 1, 1), 0)


@settings(max_examples=up_to(60))
@given(programmes(shuffled=True, universes=False, most=7))
def test_every_statistic_but_the_finest_has_a_parent_in_its_table(spec: Programme) -> None:
    plan = plan_of(spec)
    for table in plan.tables:
        done = {table.base}
        for statistic in table.statistics:
            if statistic != table.base:
                parent, place = plan.parent(table, statistic)
                # In the order of `statistics` the parent is there before, and differs along one axis only.
                assert parent in done
                assert [n for n, (a, b) in enumerate(zip(parent, statistic, strict=True)) if a != b] == [place]
                assert contains(parent, statistic)
                done.add(statistic)
        assert done == set(table.statistics)
        assert table.cells == len(set(product(*(column.codes for column in table.columns))))


@settings(max_examples=up_to(60))
@given(programmes(shuffled=True, universes=False, most=7))
def test_maximal_statistics_are_those_that_no_table_contains(spec: Programme) -> None:
    plan = plan_of(spec)
    bases = [table.base for table in plan.tables]
    larger = {b: [a for a in bases if a != b and all(x >= y for x, y in zip(a, b, strict=True))] for b in bases}
    assert sorted(plan.maximal) == sorted(b for b, above in larger.items() if not above)
    for base in bases:
        source = plan.counted_in(base)
        assert source in plan.maximal
        assert contains(source, base)
        assert not any(plan.size(m) < plan.size(source) for m in plan.maximal if contains(m, base))


@settings(max_examples=up_to(60))
@given(programmes(shuffled=True, universes=False, most=7))
def test_uses_are_counted_as_they_will_be(spec: Programme) -> None:
    plan = plan_of(spec)
    expected: Counter[Statistic] = Counter()
    shown: set[Statistic] = set()
    for table in plan.tables:
        # The finest of a table is summed up from a maximal one, unless an earlier table has made it already.
        if table.base not in shown and table.base not in plan.maximal:
            expected[plan.counted_in(table.base)] += 1
        expected.update(table.statistics)
        shown.update(table.statistics)
    assert plan.uses == expected
    assert set(plan.sources.values()) == set(plan.maximal)


# --- The order of the axes ---


@pytest.mark.parametrize(
    ("tables", "order"),
    [
        ([[by(A), by(B)], [by(B), by(C)]], "ABC"),
        ([[by(B), by(C)], [by(A), by(B)]], "ABC"),
        ([[by(C)], [by(A)], [by(B), by(A)]], "CBA"),
    ],
)
def test_axes_follow_the_columns_of_all_tables_where_they_agree(tables: list[list[object]], order: str) -> None:
    plan = plan_of(programme([A, B, C], *tables))  # type: ignore[arg-type]  # breakdowns, through parametrize
    assert "".join(axis.name for axis in plan.axes) == order


def test_axes_stand_in_the_order_of_first_use_where_tables_disagree() -> None:
    plan = plan_of(programme([A, B, C], [by(C), by(B)], [by(B), by(C)], [by(A)]))
    assert [axis.name for axis in plan.axes] == ["C", "B", "A"]
    assert [table.places for table in plan.tables] == [(0, 1), (1, 0), (2,)]


# --- A programme of real size ---


def test_statistics_of_the_census_are_those_of_its_lattice() -> None:
    spec = choose_tables(load_programme("eu2021:LU"), None, "persons")
    assert spec.populations
    for name, tables in spec.populations.items():
        plan = plan_tables(spec, tables)
        # One population alone: the axes of a plan have the levels of all.
        alone = choose_tables(spec, [table.id for table in tables], "persons")
        found = lattice(alone, population=name)
        assert len({s for table in plan.tables for s in table.statistics}) == found.published.sum()
        sizes = Counter(plan.size(s) for s in {s for table in plan.tables for s in table.statistics})
        assert sizes == Counter(int(n) for n in found.cells[found.published])
        assert all(table.cells >= math.prod(plan.shape(table.base)) for table in plan.tables)


@settings(max_examples=up_to(60), deadline=None)
@given(programmes(universes=False))
def test_tables_show_the_statistics_that_the_lattice_has_as_published(spec: Programme) -> None:
    """What an attacker is given must be all that is published: also a total that is shown under the code of a level."""
    plan, found = plan_of(spec), lattice(spec)
    order = [[axis.name for axis in plan.axes].index(axis.name) for axis in found.axes]
    shown = {tuple(statistic[place] for place in order) for table in plan.tables for statistic in table.statistics}
    assert {tuple(depths) for depths in found.depths[found.published].tolist()} == shown
