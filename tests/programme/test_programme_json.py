"""A programme as JSON: nothing is lost, and what people may have broken is refused by its key."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ProgrammeError
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.eu2021.census import census, countries
from discreet.programme.lattice import lattice
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.programme.programme_files import load_programme
from discreet.programme.programme_json import programme_from_json, programme_to_json
from discreet.programme.selection import choose_tables, with_missing_category
from tests.each import each
from tests.programme.test_universe import trees
from tests.quick import up_to

if TYPE_CHECKING:
    from collections.abc import Sequence


def back(made: Programme) -> Programme:
    return programme_from_json(json.loads(json.dumps(programme_to_json(made))))


def in_full(made: Programme) -> tuple[Any, ...]:
    """Return everything of a programme, also what its own comparison leaves out."""
    return (made.name, made.notes, [_topic(t) for t in made.topics.items()], [_table(t) for t in made.tables])


def _levels(levels: Sequence[Level]) -> list[Any]:
    return [(level.topic, level.name, level.size, level.codes) for level in levels]


def _topic(item: tuple[str, Topic]) -> tuple[Any, ...]:
    name, topic = item
    tree = topic.tree and (topic.tree.topic, [(c.code, c.parent, dict(c.labels)) for c in topic.tree.categories])
    return name, topic.name, _levels(topic.levels), tree, dict(topic.labels), topic.column


def _table(table: Table) -> tuple[Any, ...]:
    breakdowns = [(b.code, b.topic, _levels(b.levels), b.total) for b in table.breakdowns]
    return table.id, table.unit, table.universe, breakdowns


QUICK = ("CY", "IS", "LU", "MT")
"""The other countries differ in the codes of their areas alone, and have many."""
SHIPPED = [
    *(
        pytest.param(f"eu2021:{country}", marks=[] if country in QUICK else [pytest.mark.slow])
        for country in sorted(countries())
    ),
    "eu2021:LU:nuts2016:lau2010",
    "grid2021:DE:360000",
]


@each("name", SHIPPED)
def test_programmes_that_come_with_the_package_are_kept_whole(name: str) -> None:
    made = load_programme(name)
    assert in_full(back(made)) == in_full(made)
    assert back(made) == made


@pytest.mark.slow
@each("name", ["eu2021:LU", "eu2021:EL", "grid2021:DE:360000"])
@each("rule", ["levels", "flat"], every=2)
def test_their_lattices_are_the_same(name: str, rule: str) -> None:
    made = load_programme(name)
    for population in made.populations:
        assert_same_lattice(made, back(made), rule, population)


def assert_same_lattice(made: Programme, again: Programme, rule: str, population: str | None = None) -> None:
    one, two = lattice(made, rule, population=population), lattice(again, rule, population=population)
    assert one.names() == two.names()
    assert np.array_equal(one.cells, two.cells)
    assert np.array_equal(one.tables, two.tables)


def test_the_areas_of_a_country_are_written_once() -> None:
    made = census("DE")
    text = json.dumps(programme_to_json(made))
    assert made.topics["GEO"].levels[-1].size > 10_000
    assert text.count('"DE_01001000"') == 1
    geo = next(topic for topic in programme_to_json(made)["topics"] if topic["name"] == "GEO")
    assert [level["depth"] for level in geo["levels"]] == [1, 2, 3, 4]


def test_the_same_programme_gives_the_same_text() -> None:
    texts = {json.dumps(programme_to_json(made)) for made in (census("LU"), census("LU"), back(census("LU")))}
    assert len(texts) == 1
    assert list(programme_to_json(census("LU"))) == ["name", "notes", "topics", "tables"]


def test_the_topic_of_areas_is_kept() -> None:
    for areas in ("SEX", ""):
        made = replace(census("LU"), areas=areas)
        assert programme_to_json(made)["areas"] == areas
        assert back(made) == made


def test_a_part_with_a_missing_category_is_kept_whole() -> None:
    made = with_missing_category(choose_tables(census("LU"), ["3.*"], None), ["AGE", "GEO"])
    assert in_full(back(made)) == in_full(made)


LABELS = st.dictionaries(st.sampled_from(["en", "fr", "lb"]), st.text(max_size=3), max_size=2)


@st.composite
def topics(draw: st.DrawFn, name: str) -> Topic:
    """Draw topics with a tree, with codes alone, or with numbers alone."""
    bare = draw(trees(name))
    tree = CategoryTree(name, tuple(Category(c.code, c.parent, draw(LABELS)) for c in bare.categories))
    depths = draw(st.sets(st.integers(1, tree.depth), min_size=1))
    cuts = [tree.cut(depth) for depth in sorted(depths)]
    # In another order a level is not a depth of the tree, and its codes have to be written.
    cuts = [tuple(draw(st.permutations(codes))) if draw(st.booleans()) else codes for codes in cuts]
    listed = [codes if draw(st.integers(0, 4)) else None for codes in cuts]
    levels = [
        Level(name, f"{name}:{d}", len(cut), codes) for d, (cut, codes) in enumerate(zip(cuts, listed, strict=True))
    ]
    column = draw(st.none() | st.text(max_size=3))
    return Topic(name, tuple(levels), tree if draw(st.booleans()) else None, draw(LABELS), column)


@st.composite
def programmes(draw: st.DrawFn) -> Programme:
    found = {name: draw(topics(name)) for name in "ABC"[: draw(st.integers(1, 3))]}
    tables = []
    for number in range(draw(st.integers(1, 4))):
        used = draw(st.lists(st.sampled_from(sorted(found)), max_size=3, unique=True))
        breakdowns = []
        for name in used:
            levels = tuple(level for level in found[name].levels if draw(st.booleans()))
            breakdowns.append(Breakdown(draw(st.sampled_from([name, f"{name}.L"])), name, levels, draw(st.booleans())))
        codes = found["A"].tree.leaves if found["A"].tree else found["A"].levels[-1].codes
        texts = [f"A = {mark}{codes[0]}{mark}" for mark in "'\"" if mark not in codes[0]] if codes else []
        unit, universe = draw(st.sampled_from(["persons", "homes"])), draw(st.sampled_from([None, "", *texts]))
        tables.append(Table(str(number), tuple(breakdowns), unit, universe))
    return Programme(draw(st.text(max_size=5)), found, tuple(tables), tuple(draw(st.lists(st.text(max_size=3)))))


@given(programmes())
@settings(max_examples=up_to(150), deadline=None)
def test_random_programmes_are_kept_whole(made: Programme) -> None:
    again = back(made)
    assert in_full(again) == in_full(made)
    assert again == made
    assert programme_to_json(again) == programme_to_json(made)
    for population in made.populations:
        assert_same_lattice(made, again, "levels", population)


def good() -> dict[str, Any]:
    return {
        "name": "town",
        "notes": ["a note"],
        "topics": [
            {
                "name": "AGE",
                "labels": {"en": "Age"},
                "column": "age_group",
                "tree": [["Y", "", "young"], ["O", "", {"en": "old", "fr": "vieux"}], ["1", "Y"], ["2", "Y"]],
                "levels": [
                    {"name": "AGE:1", "size": 2, "codes": ["O", "Y"]},
                    {"name": "AGE", "size": 3, "depth": 2},
                ],
            },
            {"name": "EDU", "labels": {}, "levels": [{"name": "EDU", "size": 11}]},
        ],
        "tables": [
            {
                "id": "1",
                "unit": "persons",
                "universe": "AGE = Y",
                "breakdowns": [
                    {"code": "AGE", "topic": "AGE", "levels": ["AGE:1", "AGE"], "total": True},
                    {"code": "EDU", "topic": "EDU", "levels": ["EDU"], "total": False},
                ],
            }
        ],
    }


def test_the_form_is_that_of_the_example() -> None:
    made = programme_from_json(good())
    assert programme_to_json(made) == good()
    assert [level.codes for level in made.topics["AGE"].levels] == [("O", "Y"), ("1", "2", "O")]
    assert made.topics["AGE"].tree
    assert [dict(c.labels) for c in made.topics["AGE"].tree.categories[:3]] == [
        {"en": "young"},
        {"en": "old", "fr": "vieux"},
        {},
    ]


GONE = object()
Keys = tuple[str | int, ...]
AGE: Keys = ("topics", 0)
FIRST: Keys = ("tables", 0, "breakdowns", 0)

MISTAKES: list[tuple[Keys, Any, str]] = [
    (("name",), GONE, r"the whole: lacks the key 'name'\. Add it"),
    (("name",), 5, r"name: must be text, not 5\."),
    (("titel",), "x", r"the whole: has the unknown key 'titel'\. Available: name, notes, topics, tables, areas\."),
    (("notes",), "a note", r"notes: must be a list, not 'a note'"),
    (("notes", 0), None, r"notes\[0\]: must be text, not None"),
    (("topics",), {}, r"topics: must be a list"),
    (("topics", 1), "EDU", r"topics\[1\]: must be an object"),
    (("topics", 1, "name"), "AGE", r"topics: has the topic 'AGE' twice"),
    (("topics", 1, "name"), "E DU", "'E DU' is not a valid name of a topic"),
    ((*AGE, "labels"), "Age", r"topics\[0\]\.labels: must be an object"),
    ((*AGE, "labels", "en"), 1, r"topics\[0\]\.labels\.en: must be text"),
    ((*AGE, "column"), 1, r"topics\[0\]\.column: must be text"),
    ((*AGE, "tree"), GONE, r"topics\[0\]\.levels\[1\]\.depth: needs the tree of the topic"),
    ((*AGE, "tree"), [], "Topic AGE has no categories"),
    ((*AGE, "tree", 2), ["1"], r"topics\[0\]\.tree\[2\]: must be \[code, parent\] or"),
    ((*AGE, "tree", 2), "1", r"topics\[0\]\.tree\[2\]: must be a list"),
    ((*AGE, "tree", 2, 1), "YY", "category '1' has the parent 'YY', which does not exist. Did you mean Y"),
    ((*AGE, "tree", 2, 0), 1, r"topics\[0\]\.tree\[2\]\[0\]: must be text, not 1"),
    ((*AGE, "tree", 0, 2), ["young"], r"topics\[0\]\.tree\[0\]\[2\]: must be an object"),
    ((*AGE, "levels"), [], "Topic AGE has 0 levels"),
    ((*AGE, "levels", 0, "name"), "AGE", r"topics\[0\]\.levels: has the level 'AGE' twice"),
    ((*AGE, "levels", 0, "size"), 3, r"levels\[0\]\.size: is 3, but the level has 2 categories"),
    ((*AGE, "levels", 0, "size"), True, r"levels\[0\]\.size: must be a whole number from 1 on, not True"),
    ((*AGE, "levels", 0, "size"), 0, r"levels\[0\]\.size: must be a whole number from 1 on, not 0"),
    ((*AGE, "levels", 0, "depth"), 1, r"levels\[0\]: has both depth and codes"),
    ((*AGE, "levels", 1, "depth"), 3, r"levels\[1\]\.depth: is 3, but the tree of the topic has 2 levels"),
    ((*AGE, "levels", 1, "depth"), 2.0, r"levels\[1\]\.depth: must be a whole number"),
    ((*AGE, "levels", 0, "codes"), ["O", "O"], r"levels\[0\]\.codes: has the code 'O' twice"),
    ((*AGE, "levels", 0, "codes"), ["O", "Z"], r"levels\[0\]: has the code 'Z', which is not in the tree"),
    ((*AGE, "levels", 0, "codes"), ["Y", "1"], r"levels\[0\]: must contain every leaf of the tree exactly once"),
    ((*AGE, "levels", 1), {"name": "AGE", "size": 1, "codes": ["O"]}, r"levels\[1\]: must contain every leaf"),
    (("topics", 1, "levels", 0, "sise"), 3, r"topics\[1\]\.levels\[0\]: has the unknown key 'sise'"),
    (("tables",), [], "has no tables"),
    (("tables", 0, "id"), 1, r"tables\[0\]\.id: must be text, not 1"),
    (("tables", 0, "unit"), GONE, r"tables\[0\]: lacks the key 'unit'"),
    (("tables", 0, "universe"), ["AGE"], r"tables\[0\]\.universe: must be text"),
    (("tables", 0, "universe"), "AGE ~ Y", r"tables\[0\]: Universe of table .* cannot be read: at position 5"),
    (("tables", 0, "universe"), "AGEE = Y", r"tables\[0\]: Universe of table .*: There is no topic 'AGEE'"),
    ((*FIRST, "topic"), "AGES", r"breakdowns\[0\]\.topic: is 'AGES', which is not a topic\. Available: AGE, EDU"),
    ((*FIRST, "topic"), "EDU", r"levels\[0\]: is 'AGE:1', which is not a level of topic EDU\. Available: EDU"),
    ((*FIRST, "levels"), ["AGE", "AGE"], r"breakdowns\[0\]\.levels: has the level 'AGE' twice"),
    ((*FIRST, "levels"), ["AGE", "AGE:1"], r"breakdowns\[0\]\.levels: must be ordered from coarse to fine"),
    ((*FIRST, "levels", 0), [], r"breakdowns\[0\]\.levels\[0\]: must be text"),
    ((*FIRST, "total"), 1, r"breakdowns\[0\]\.total: must be true or false, not 1"),
    (("tables", 0, "breakdowns", 1), {**good()["tables"][0]["breakdowns"][0]}, "Table 1 uses topic AGE twice"),
]


def changed(content: dict[str, Any], keys: Keys, value: object) -> dict[str, Any]:
    """Return a copy with the value at the end of the keys replaced, or gone."""
    made = copy.deepcopy(content)
    place: Any = made
    for key in keys[:-1]:
        place = place[key]
    if value is GONE:
        del place[keys[-1]]
    else:
        place[keys[-1]] = value
    return made


@each(("keys", "value", "message"), MISTAKES)
def test_a_mistake_is_refused_by_its_key(keys: Keys, value: object, message: str) -> None:
    with pytest.raises(ProgrammeError, match=message):
        programme_from_json(changed(good(), keys, value))


def test_levels_that_cross_each_other_are_refused() -> None:
    tree = [["A", ""], ["B", ""], ["a1", "A"], ["a2", "A"], ["b1", "B"], ["b2", "B"]]
    levels = [
        {"name": "one", "size": 3, "codes": ["A", "b1", "b2"]},
        {"name": "two", "size": 3, "codes": ["a1", "a2", "B"]},
    ]
    topic = {"name": "EDU", "labels": {}, "tree": tree, "levels": levels}
    with pytest.raises(ProgrammeError, match=r"topics\[1\]\.levels\[1\]: does not refine the level before it"):
        programme_from_json(changed(good(), ("topics", 1), topic))


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ProgrammeError, match="the whole: must be an object"):
        programme_from_json([])  # type: ignore[arg-type]


def all_keys(content: object, above: Keys = ()) -> list[Keys]:
    members: Any = ()
    if isinstance(content, dict):
        members = content.items()
    elif isinstance(content, list):
        members = enumerate(content)
    return [found for key, item in members for found in ((*above, key), *all_keys(item, (*above, key)))]


@each("junk", [GONE, None, 5, 2.5, True, "x", "", [], {}, [[]], [{}], {"x": 1}, ["x", "x"]])
def test_any_one_value_replaced_gives_a_programme_or_a_refusal(junk: object) -> None:
    for keys in all_keys(good()):
        try:
            made = programme_from_json(changed(good(), keys, junk))
        except ProgrammeError:
            continue
        assert in_full(back(made)) == in_full(made)


def test_a_breakdown_with_levels_of_its_own_is_not_written() -> None:
    other = Level("SEX", "SEX", 3)
    table = Table("1", (Breakdown("SEX", "SEX", (other,)),))
    with pytest.raises(ProgrammeError, match="Table 1, breakdown SEX: topic SEX has no level SEX with 3 categories"):
        programme_to_json(Programme("p", {"SEX": Topic("SEX", (Level("SEX", "SEX", 2),))}, (table,)))
    with pytest.raises(ProgrammeError, match=r"Table 1, breakdown SEX: topic SEX does not exist\. Add it"):
        programme_to_json(Programme("p", {}, (table,)))
