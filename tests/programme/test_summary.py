"""What a programme publishes, counted."""

from __future__ import annotations

from discreet.programme.eu2021.census import census
from discreet.programme.summary import rows_of, shared_statistics, table_sizes
from tests.programme.small import programme


def test_cells_count_totals_and_every_level() -> None:
    made = programme([("A", "B")], {"A": (2, 4), "B": (3,)})
    assert rows_of(made.tables[0]) == (1 + 2 + 4) * (1 + 3)


def test_a_table_inside_another_is_not_maximal() -> None:
    made = programme([("A", "B"), ("A",), ("A", "B"), ("B", "C")], {"A": (2,), "B": (3,), "C": (2,)})
    assert [size.maximal for size in table_sizes(made)] == [True, False, False, True]


def test_all_person_tables_of_the_eu_census_are_maximal() -> None:
    assert all(size.maximal for size in table_sizes(census("AT")))


def test_what_comes_back_most_often_comes_first() -> None:
    made = programme([("A", "B"), ("A", "C")], {"A": (2,), "B": (3,), "C": (5,)})
    found = shared_statistics(made)
    assert [(s.name, s.tables, s.cells) for s in found[:3]] == [("total", 2, 1), ("A1", 2, 2), ("B1", 1, 3)]
    assert sum(s.tables for s in found) == 8
