"""Programmes that cannot be counted are refused before any record is read."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from discreet.errors import ProgrammeError
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.programme.programme_files import load_programme
from discreet.protection.programme_checks import MOST_CELLS, check_countable
from tests.protection.town import TOWN, squares
from tests.tabulation.small_data import by, programme, topic

SEX = topic("SEX", "F M")
AGE = topic("AGE", {"Y": "", "O": "", "Y1": "Y", "Y2": "Y"})
LISTED = replace(AGE, tree=None)
"""Two levels with their codes, but nothing that tells which lies in which."""


@pytest.mark.parametrize("spec", [TOWN, load_programme("eu2021:LU"), load_programme("eu2021:DE")], ids=lambda s: s.name)
def test_programmes_with_categories_can_be_counted(spec: Programme) -> None:
    check_countable(spec)


def test_one_level_of_a_topic_without_a_tree_can_be_counted_if_it_is_the_finest() -> None:
    check_countable(programme([LISTED], [by(LISTED, 2)], [replace(by(LISTED), levels=())]))


def test_topics_of_which_only_the_number_is_known_cannot_be_counted() -> None:
    with pytest.raises(ProgrammeError) as caught:
        check_countable(load_programme("grid2021:LU:2500"))
    assert str(caught.value) == (
        "Topic GRID has no list of categories, only their number, so table sex cannot be counted. Define the "
        "categories or a hierarchy of the topic, or exclude the table."
    )
    assert caught.value.topic == "GRID"


@pytest.mark.parametrize("breakdown", [by(LISTED), by(LISTED, 1, 1)])
def test_coarser_levels_need_a_hierarchy(breakdown: Breakdown) -> None:
    with pytest.raises(ProgrammeError, match="Topic AGE has no hierarchy of categories, so table 1"):
        check_countable(programme([LISTED], [breakdown]))


def test_a_category_cannot_have_the_code_of_the_total() -> None:
    taken = topic("SEX", "F M _T")
    with pytest.raises(
        ProgrammeError, match="Topic SEX has a category _T, which is the code of the total in every table"
    ):
        check_countable(programme([SEX, taken], [by(taken)]))


@pytest.mark.parametrize("names", [("value", "AGE"), ("SEX", "SEX"), ("AGE_level", "AGE")])
def test_columns_of_a_table_have_different_names(names: tuple[str, str]) -> None:
    one, other = (replace(by(given), code=name) for given, name in zip((SEX, AGE), names, strict=True))
    with pytest.raises(ProgrammeError, match=f"Table 1 would have two columns named {names[0]}\\."):
        check_countable(programme([SEX, AGE], [one, other]))


def test_tables_with_more_cells_than_numbers_are_refused() -> None:
    many = squares(200, names="ABCDEFGH")
    check_countable(programme(many, [by(given) for given in many[:7]]))
    with pytest.raises(ProgrammeError, match=re.escape("Table 1 has about 2.7e+18 cells, more than the maximum. Use")):
        check_countable(programme(many, [by(given) for given in many]))
    assert 201**8 < MOST_CELLS < 201**8 * 9


def test_the_table_is_named_that_cannot_be_counted() -> None:
    sized = Topic("N", (Level("N", "N", 5),))
    spec = Programme("two", {"SEX": SEX, "N": sized}, (Table("3.1", (by(SEX),)), Table("3.2", (by(sized),))))
    with pytest.raises(ProgrammeError, match=r"table 3\.2 cannot be counted"):
        check_countable(spec)
