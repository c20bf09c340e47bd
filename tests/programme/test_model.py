"""Tables and programmes that contradict themselves are refused."""

from __future__ import annotations

import pytest

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from tests.programme.small import programme

SEX = Level("SEX", "SEX", 2)


def test_a_table_uses_a_topic_once() -> None:
    with pytest.raises(ProgrammeError, match=r"Table 1 uses topic A twice \(A and A.1\)"):
        programme([("A", "A.1")], {"A": (2, 4)})


def test_a_programme_has_tables_with_ids_of_their_own() -> None:
    with pytest.raises(ProgrammeError, match="has no tables"):
        Programme("p", {}, ())
    table = Table("1", (Breakdown("SEX", "SEX", (SEX,)),))
    with pytest.raises(ProgrammeError, match="Table 1 is defined twice"):
        Programme("p", {}, (table, table))


def test_levels_have_categories_and_grow() -> None:
    with pytest.raises(ProgrammeError, match="no categories"):
        Topic("A", (Level("A", "A", 0),))
    with pytest.raises(ProgrammeError, match="coarse to fine"):
        Topic("A", (Level("A", "A1", 5), Level("A", "A2", 3)))


def test_populations_are_units_and_universes() -> None:
    by_sex = (Breakdown("SEX", "SEX", (SEX,)),)
    tables = (
        Table("1", by_sex, "homes"),
        Table("2", by_sex),
        Table("3", by_sex),
        Table("4", by_sex, universe="EMP = 1"),
    )
    made = Programme("p", {"SEX": Topic("SEX", (SEX,))}, tables)
    assert {name: len(found) for name, found in made.populations.items()} == {
        "persons": 2,
        "homes": 1,
        "persons where EMP = 1": 1,
    }
    assert [table.id for table in made.of()] == ["2", "3"]
    with pytest.raises(UnknownNameError, match=r"no population 'home'. Did you mean homes"):
        made.of("home")
