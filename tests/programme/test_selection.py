"""A part of a programme, and a category for what is not stated: levels, trees and tables stay consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.programme.lattice import lattice
from discreet.programme.model import Breakdown, Programme, Table, Topic
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import choose_tables, with_missing_category
from discreet.programme.universe import parse_universe
from tests.each import each
from tests.programme.small import programme as sized
from tests.programme.test_universe import AGE, EDU, EMP, SEX, topic, topic_of, trees
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.programme.category_tree import CategoryTree

ONE = topic("ONE", ("1", ""))
BY_SEX, BY_AGE, BY_EMP = (Breakdown(t.name, t.name, t.levels) for t in (SEX, AGE, EMP))
YOUNG = Breakdown("AGE.L", "AGE", AGE.levels[:1], total=False)
TOPICS = {t.name: t for t in (SEX, AGE, EMP, EDU, ONE)}
TOWN = Programme(
    "town",
    TOPICS,
    (
        Table("1.1", (BY_EMP,), "homes"),
        Table("3.1", (BY_SEX, YOUNG)),
        Table("3.10", (BY_AGE,)),
        Table("13.1", (BY_SEX,), universe="EMP = 1 and ONE = 1"),
        Table("3", (BY_SEX,), universe="employed"),
        Table("2.1", (BY_SEX,), "homes"),
    ),
    ("a note",),
)


def ids(made: Programme) -> list[str]:
    return [table.id for table in made.tables]


def test_tables_of_the_commonest_unit_are_chosen_with_all_their_universes() -> None:
    made = choose_tables(TOWN, None, None)
    assert ids(made) == ["3.1", "3.10", "13.1", "3"]
    assert (made.name, made.notes) == ("town", ("a note",))
    assert choose_tables(TOWN, [], None) == made


@each(
    ("patterns", "unit", "chosen"),
    [
        (["3.*"], None, ["3.1", "3.10"]),
        (["3.1"], "persons", ["3.1"]),
        (["13.1", "3.1", "3.?"], None, ["3.1", "13.1"]),
        (["3*"], None, ["3.1", "3.10", "3"]),
        (["*.1"], "homes", ["1.1", "2.1"]),
        (["[1]*"], None, ["13.1"]),
    ],
)
def test_patterns_choose_in_the_order_of_the_programme(
    patterns: list[str], unit: str | None, chosen: list[str]
) -> None:
    assert ids(choose_tables(TOWN, patterns, unit)) == chosen


def test_an_id_matches_itself_whatever_it_holds() -> None:
    made = Programme("p", {"SEX": SEX}, (Table("a[1]", (BY_SEX,)), Table("a1", (BY_SEX,))))
    assert ids(choose_tables(made, ["a[1]"], None)) == ["a[1]", "a1"]


def test_of_units_with_equally_many_tables_the_first_is_taken() -> None:
    made = Programme("p", {"SEX": SEX}, (Table("1", (BY_SEX,), "homes"), Table("2", (BY_SEX,))))
    assert ids(choose_tables(made, None, None)) == ["1"]


def test_topics_of_breakdowns_and_universes_are_kept() -> None:
    assert list(choose_tables(TOWN, None, None).topics) == ["SEX", "AGE", "EMP", "ONE"]
    assert list(choose_tables(TOWN, ["13.1"], None).topics) == ["SEX", "EMP", "ONE"]
    assert list(choose_tables(TOWN, ["3"], None).topics) == ["SEX"]
    assert list(choose_tables(TOWN, None, "homes").topics) == ["SEX", "EMP"]


def test_unknown_tables_and_units_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"no table '4.\*'\. .*Available: 3.1, 3.10, 13.1, 3\."):
        choose_tables(TOWN, ["3.*", "4.*"], None)
    with pytest.raises(UnknownNameError, match=r"no table '1.1'"):
        choose_tables(TOWN, ["1.1"], "persons")
    with pytest.raises(UnknownNameError, match=r"no unit 'home'. Did you mean homes\? Available: homes, persons"):
        choose_tables(TOWN, None, "home")


def test_the_census_is_chosen_by_group() -> None:
    made = choose_tables(load_programme("eu2021:LU"), ["9.2", "3.*"], None)
    assert ids(made) == ["3.1", "3.2", "3.3", "9.2"]
    assert set(made.topics) == {b.topic for table in made.tables for b in table.breakdowns}
    assert len(choose_tables(load_programme("eu2021:LU"), None, None).tables) == 103


def test_a_missing_category_is_in_every_level_tree_and_table() -> None:
    made = with_missing_category(TOWN, ["AGE", "ONE"])
    age = made.topics["AGE"]
    assert [level.size for level in age.levels] == [3, 5]
    assert [level.codes for level in age.levels] == [(*(level.codes or ()), "_U") for level in AGE.levels]
    assert age.tree
    assert age.tree.categories[-1].labels == {"en": "not stated"}
    assert age.tree.path("_U") == ("_U",)
    assert [level.size for level in made.topics["ONE"].levels] == [2]
    young = made.tables[1].breakdowns[1]
    assert (young.levels, young.total, young.levels[0].codes) == (age.levels[:1], False, ("Y", "O", "_U"))
    assert made.topics["SEX"] is SEX
    assert made.tables[0] == TOWN.tables[0]
    assert [table.population for table in made.tables] == [table.population for table in TOWN.tables]
    # The programme it was made from is as it was.
    assert [level.size for level in TOWN.topics["AGE"].levels] == [2, 4]
    assert TOWN.tables[1].breakdowns[1].levels[0].codes == ("Y", "O")


def test_a_level_with_one_category_is_no_longer_the_total() -> None:
    made = Programme("p", {"ONE": ONE}, (Table("1", (Breakdown("ONE", "ONE", ONE.levels),)),))
    assert lattice(made).names() == ["total"]
    assert lattice(with_missing_category(made, ["ONE"])).names() == ["total", "ONE:1"]


def test_the_national_total_stays_alone() -> None:
    made = with_missing_category(load_programme("eu2021:LU"), ["GEO", "GEO"], "LU_X")
    assert made.breakdowns["GEO.N"].levels == ()
    assert [level.size for level in made.topics["GEO"].levels] == [2, 2, 2, 103]
    assert made.breakdowns["GEO.H"].levels == made.topics["GEO"].levels


def test_what_is_not_stated_is_outside_a_code_and_inside_its_complement() -> None:
    made = with_missing_category(TOWN, ["SEX"])
    assert made.topics["SEX"].levels[-1].codes == ("F", "M", "_U")
    assert parse_universe("SEX = F", made, "1").members.tolist() == [True, False, False]
    assert parse_universe("SEX != F", made, "1").members.tolist() == [False, True, True]
    assert parse_universe("SEX >= F", made, "1").members.tolist() == [True, True, False]


@given(trees("A"), st.booleans())
@settings(max_examples=up_to(100), deadline=None)
def test_levels_are_still_the_cuts_of_the_tree(tree: CategoryTree, keep: bool) -> None:
    old = topic_of(tree)
    old = old if keep else Topic(old.name, old.levels)
    whole = Breakdown("A", "A", old.levels)
    made = with_missing_category(Programme("p", {"A": old}, (Table("1", (whole,)),)), ["A"])
    new = made.topics["A"]
    assert made.tables[0].breakdowns[0].levels == new.levels
    assert [v.codes for v in made.tables[0].breakdowns[0].levels] == [v.codes for v in new.levels]
    assert [v.size for v in new.levels] == [len(v.codes or ()) for v in new.levels]
    if new.tree:
        assert [v.codes for v in new.levels] == [new.tree.cut(d) for d in range(1, new.tree.depth + 1)]
        assert set(new.tree.leaves) == {*tree.leaves, "_U"}
    else:
        assert not keep


def test_a_missing_category_that_cannot_be_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"no topic 'SEXE'\. Did you mean SEX"):
        with_missing_category(TOWN, ["SEXE"])
    with pytest.raises(ProgrammeError, match=r"Topic SEX already has the category 'M'\. Choose another code"):
        with_missing_category(TOWN, ["SEX"], "M")
    with pytest.raises(ProgrammeError, match="Topic AGE already has the category 'Y'"):
        with_missing_category(TOWN, ["AGE"], "Y")
    with pytest.raises(ProgrammeError, match="level EMP:1 has no list of categories, only their number"):
        with_missing_category(TOWN, ["EMP"])
    with pytest.raises(ProgrammeError, match="level A1 has no list"):
        with_missing_category(sized([("A",)], {"A": (2, 4)}), ["A"])
