"""Rows of a published table: every cell that is not 0 once, under its codes, in the documented order.

The order is that of docs/interfaces.md: by statistic, coarse levels first, in the order of the
columns; then by the order of the codes.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.tabulation import cell_coordinates
from discreet.tabulation.plan import plan as plan_tables
from discreet.tabulation.table_rows import StatisticValues, rows
from tests.quick import up_to
from tests.tabulation.small_data import by, position, programme, programmes, topic, without_levels

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.programme.lattice import Statistic
    from discreet.programme.model import Breakdown, Programme, Table
    from discreet.tabulation.plan import Plan

Shown = list[tuple[str | int, ...]]


def listed(table: pa.Table) -> Shown:
    """Return the rows as tuples, value last."""
    return list(zip(*(column.to_pylist() for column in without_levels(table).columns), strict=True))


def assert_levels_contain_their_codes(spec: Programme, table: Table, found: pa.Table) -> None:
    for breakdown in table.breakdowns:
        shown = [codes for codes in levels_of(breakdown) if codes and codes != ("_T",)]
        assert (f"{breakdown.code}_level" in found.column_names) == (len(shown) > 1), spec
        if len(shown) <= 1:
            continue
        codes, levels = (found.column(name).to_pylist() for name in (breakdown.code, f"{breakdown.code}_level"))
        for code, level in zip(codes, levels, strict=True):
            named = [each.name for each in breakdown.shown_levels if code in (each.codes or ())]
            assert level == (" ".join(named) or "total")


def dense(plan: Plan, statistic: Statistic, values: StatisticValues) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    found = np.zeros(plan.size(statistic), dtype=np.int64)
    found[values.index] = values.value
    return found.reshape(plan.shape(statistic))


def levels_of(breakdown: Breakdown) -> list[tuple[str, ...]]:
    """Return the codes a column shows, level by level from coarse to fine, each code once."""
    found: list[tuple[str, ...]] = [("_T",)] if breakdown.total or not breakdown.levels else []
    for level in breakdown.levels:
        shown = {code for codes in found for code in codes}
        found.append(tuple(code for code in level.codes or () if code not in shown))
    return found


def cell(spec: Programme, plan: Plan, table: Table, codes: tuple[str, ...]) -> tuple[list[int], dict[int, int]]:
    """Return the statistic of a cell and its positions by axis."""
    depths, places = [0] * len(plan.axes), {}
    for breakdown, code in zip(table.breakdowns, codes, strict=True):
        axis = next(n for n, axis in enumerate(plan.axes) if axis.name == breakdown.topic)
        holding = [level for level in breakdown.levels if code in (level.codes or ())]
        depths[axis] = plan.axes[axis].depth_of(holding[0]) if holding else 0
        if depths[axis]:
            tree = spec.topics[breakdown.topic].tree
            assert tree
            leaf = next(leaf for leaf in tree.leaves if code in tree.path(leaf))
            places[axis] = position(spec, plan, axis, depths[axis], leaf)
    return depths, places


def by_hand(spec: Programme, plan: Plan, table: Table, values: dict[Statistic, StatisticValues]) -> Shown:
    """Return what a table must show, cell by cell."""
    found: Shown = []
    for choice in product(*(levels_of(breakdown) for breakdown in table.breakdowns)):
        for codes in product(*choice):
            depths, places = cell(spec, plan, table, codes)
            statistic = tuple(depths)
            value = int(dense(plan, statistic, values[statistic])[tuple(places[axis] for axis in sorted(places))])
            if value:
                found.append((*codes, value))
    return found


def drawn(data: st.DataObject, plan: Plan) -> dict[Statistic, StatisticValues]:
    """Return random values, many or few of them."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    share = data.draw(st.sampled_from([0.05, 0.5, 1.0]))
    found = {}
    for statistic in {statistic for table in plan.tables for statistic in table.statistics}:
        index = np.flatnonzero(random.random(plan.size(statistic)) < share)
        # Noise on empty cells makes negative values too.
        found[statistic] = StatisticValues(
            index, random.integers(1, 1000, len(index)) * random.choice([-1, 1], len(index))
        )
    return found


@settings(max_examples=up_to(60))
@given(st.data())
@pytest.mark.parametrize("worth", [0, 8])
def test_rows_are_those_of_listing_every_cell_in_order(worth: int, data: st.DataObject) -> None:
    spec = data.draw(programmes(universes=False))
    plan = plan_tables(spec, spec.tables)
    values = drawn(data, plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_coordinates, "MAX_CELL_RATIO", worth)
        for table in plan.tables:
            found = rows(plan, table, values)
            assert without_levels(found).column_names == [*(b.code for b in table.table.breakdowns), "value"]
            assert_levels_contain_their_codes(spec, table.table, found)
            assert listed(found) == by_hand(spec, plan, table.table, values)


A = topic("A", {"a0": "", "a1": "", "a00": "a0", "a01": "a0"})
B = topic("B", "b0 b1")


def numbered(plan: Plan) -> dict[Statistic, StatisticValues]:
    """Return values that tell the cells apart: 1, 2, 3, .. in every statistic."""
    every = {statistic for table in plan.tables for statistic in table.statistics}
    return {s: StatisticValues(np.arange(plan.size(s)), np.arange(1, plan.size(s) + 1)) for s in every}


def test_columns_in_another_order_than_the_axes_are_sorted_by_columns() -> None:
    spec = programme([A, B], [by(A), by(B)], [by(B), by(A)])
    plan = plan_tables(spec, spec.tables)
    values = numbered(plan)
    first, second = (listed(rows(plan, table, values)) for table in plan.tables)
    assert {(b, a, value) for a, b, value in first} == set(second)
    levels = [["_T"], ["a0", "a1"], ["a00", "a01"]]
    assert [row[:2] for row in second] == [
        (b, a) for bs in (["_T"], ["b0", "b1"]) for level in levels for b in bs for a in level
    ]
    assert second != sorted(second)


def test_a_leaf_that_ends_early_appears_once() -> None:
    spec = programme([A], [by(A)], [by(A, 2, total=False)])
    plan = plan_tables(spec, spec.tables)
    values: dict[Statistic, StatisticValues] = {(0,): one(10), (1,): one(4, 6), (2,): one(1, 3, 6)}
    first, second = (listed(rows(plan, table, values)) for table in plan.tables)
    assert first == [("_T", 10), ("a0", 4), ("a1", 6), ("a00", 1), ("a01", 3)]
    # Where the coarser level is not shown it stands at its place in the finer one.
    assert second == [("a00", 1), ("a01", 3), ("a1", 6)]


def one(*values: int) -> StatisticValues:
    return StatisticValues(np.flatnonzero(values), np.array([value for value in values if value]))


def test_levels_that_are_one_partition_appear_under_all_their_codes() -> None:
    area = topic("G", {"L": "", "L0": "L", "d1": "L0", "d2": "L0", "t1": "d1", "t2": "d2"})
    spec = programme([area, B], [by(area), by(B)])
    plan = plan_tables(spec, spec.tables)
    values: dict[Statistic, StatisticValues] = {
        (0, 0): one(9),
        (0, 1): one(0, 9),
        (1, 0): one(4, 5),
        (1, 1): one(0, 4, 0, 5),
    }
    (table,) = plan.tables
    assert listed(rows(plan, table, values)) == [
        ("_T", "_T", 9),
        ("_T", "b1", 9),
        ("L", "_T", 9),
        ("L", "b1", 9),
        ("L0", "_T", 9),
        ("L0", "b1", 9),
        ("d1", "_T", 4),
        ("d2", "_T", 5),
        ("d1", "b1", 4),
        ("d2", "b1", 5),
        ("t1", "_T", 4),
        ("t2", "_T", 5),
        ("t1", "b1", 4),
        ("t2", "b1", 5),
    ]


def test_a_table_without_columns_has_one_row_and_an_empty_one_none() -> None:
    spec = programme([A], [], [by(A, total=False)])
    plan = plan_tables(spec, spec.tables)
    nothing = one()
    values: dict[Statistic, StatisticValues] = {(0,): one(7), (1,): nothing, (2,): nothing}
    assert [listed(rows(plan, table, values)) for table in plan.tables] == [[(7,)], []]


@pytest.mark.parametrize("reverse", [False, True])
def test_tables_of_more_cells_than_32_bits_can_number(reverse: bool) -> None:
    wide = [topic(name, " ".join(f"{name}{n}" for n in range(2000))) for name in "XYZ"]
    tables = [[by(given, total=False) for given in wide]]
    tables += [[by(given, total=False) for given in reversed(wide)]] if reverse else []
    spec = programme(wide, *tables)
    plan = plan_tables(spec, spec.tables)
    places = np.array([[0, 0, 0], [0, 1999, 3], [1999, 0, 1], [1999, 1999, 1999]])
    values: dict[Statistic, StatisticValues] = {
        (1, 1, 1): StatisticValues(np.ravel_multi_index(places.T, (2000, 2000, 2000)), np.array([1, 2, 3, 4]))
    }
    expected = [(f"X{x}", f"Y{y}", f"Z{z}", n) for n, (x, y, z) in enumerate(places.tolist(), start=1)]
    assert listed(rows(plan, plan.tables[0], values)) == expected
    if reverse:
        turned = sorted((z, y, x, n) for n, (x, y, z) in enumerate(places.tolist(), start=1))
        assert listed(rows(plan, plan.tables[1], values)) == [(f"Z{z}", f"Y{y}", f"X{x}", n) for z, y, x, n in turned]
