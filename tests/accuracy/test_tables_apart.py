"""Hellinger's distance of every table's finest cells: by hand, and whatever order tables are in."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.hellinger import TableDistance, hellinger_results, table_distance
from discreet.accuracy.table_pairs import TablePair, TablePairs
from discreet.release.true_tables import TrueTables
from tests.attacks.scenes import town_release
from tests.protection.town import TOWN
from tests.tabulation.one_table import table_grid
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engines.engine import Engine

A, B = topic("A", "a b"), topic("B", {"x": "", "y": "", "x1": "x", "x2": "x"})
TWO = programme([A, B], [by(A), by(B)])
"""Rows of A behind their total; columns of B: the total, x and y, x1 and x2."""
CODES = ["_T", "x", "y", "x1", "x2"]


def table(finest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a table that adds up, from its cells of a and b by x1, x2 and y."""
    x1, x2, y = finest.T
    rows = np.stack([x1 + x2 + y, x1 + x2, y, x1, x2], axis=1)
    return np.vstack([rows.sum(axis=0), rows])


def beside(true: NDArray[np.int64] | None, published: NDArray[np.int64]) -> TablePair:
    grid = table_grid(TWO, "1")
    assert [list(column.codes) for column in grid.columns] == [["_T", "a", "b"], CODES]
    return TablePair(grid, true, published, ())


TRUE = np.array([[9, 4, 3], [0, 16, 32]])


def test_shares_of_the_finest_cells_are_compared() -> None:
    published = np.array([[16, 4, 4], [0, 15, 25]])
    found = table_distance(beside(table(TRUE), table(published)))
    p, q = TRUE / 64, published / 64
    assert found
    assert (found.table, found.statistic) == ("1", "A:1 B:2")
    assert found.distance == pytest.approx(math.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


def test_totals_and_coarser_levels_play_no_part() -> None:
    moved = table(TRUE)
    moved[0], moved[:, 0], moved[:, 1] = 7, 8, 9
    found = table_distance(beside(table(TRUE), moved))
    assert found
    assert found.distance == 0


def test_what_is_below_0_is_taken_as_0() -> None:
    below, none = TRUE.copy(), TRUE.copy()
    below[1, 0], none[1, 0] = -5, 0
    one, other = (table_distance(beside(table(TRUE), table(each))) for each in (below, none))
    assert one == other


@pytest.mark.parametrize(
    ("true", "published"),
    [(None, TRUE), (np.zeros_like(TRUE), TRUE), (TRUE, np.zeros_like(TRUE)), (TRUE, np.full_like(TRUE, -1))],
    ids=["not known", "nobody counted", "nobody published", "all below 0"],
)
def test_without_persons_on_both_sides_there_is_no_distance(
    true: NDArray[np.int64] | None, published: NDArray[np.int64]
) -> None:
    assert table_distance(beside(None if true is None else table(true), table(published))) is None


def test_a_table_of_one_cell_has_no_shares() -> None:
    alone = programme([topic("A", "a")], [by(topic("A", "a"))])
    assert table_distance(TablePair(table_grid(alone, "1"), np.array([5, 5]), np.array([6, 6]), ())) is None


@given(st.lists(st.integers(0, 50), min_size=12, max_size=12))
def test_it_lies_between_0_and_1_and_needs_no_direction(counts: list[int]) -> None:
    one, other = (table(np.array(part).reshape(2, 3)) for part in (counts[:6], counts[6:]))
    there, back = table_distance(beside(one, other)), table_distance(beside(other, one))
    if there is None or back is None:
        assert there is back is None
        return
    assert 0 <= there.distance <= 1 + 1e-12
    assert there.distance == pytest.approx(back.distance)


def test_the_order_of_tables_does_not_matter(engine: Engine) -> None:
    """The second table of the town holds cells of the first: it has a distance before it and after it."""
    found = []
    for tables in (TOWN.tables, TOWN.tables[::-1]):
        release = town_release(programme=dataclasses.replace(TOWN, tables=tables), engine=engine)
        each = [table_distance(table) for table in TablePairs(release, TrueTables(release))]
        found.append({apart.table: apart.distance for apart in each if apart})
    assert found[0] == pytest.approx(found[1])
    assert set(found[0]) == {each.id for each in TOWN.tables}


def test_the_mean_and_the_worst_are_told() -> None:
    first, second = TableDistance("1", "A", 0.1), TableDistance("2", "B", 0.4)
    (one,) = hellinger_results([first])
    assert (one.value, one.worst) == (0.1, "table 1")
    assert "is 0.100 over 1 table (" in one.sentence
    (both,) = hellinger_results([first, second])
    assert (both.value, both.worst) == (0.25, "table 2")
    assert "is 0.250 over 2 tables (" in both.sentence
    assert both.sentence.endswith("The largest is 0.400, in table 2.")
    assert hellinger_results([]) == []
