"""The universe of a table: what it means, against a plain evaluation of every record, and what is refused."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.programme.load import load_programme
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.programme.toml_file import __doc__ as toml_example
from discreet.programme.tree import Category, CategoryTree
from discreet.programme.universe import Condition, parse_universe, topics_named

ODD_CODES = [
    "and",
    "IN",
    "not",
    "a b",
    "x,y",
    "(z)",
    "it's",
    'say "so"',
    "<200",
    "1.y",
    "k=v",
    "=k",
    "!",
    "Ä",
    "_T",
]


def topic(name: str, *lines: tuple[str, str]) -> Topic:
    return topic_of(CategoryTree(name, tuple(Category(code, parent) for code, parent in lines)))


def topic_of(tree: CategoryTree) -> Topic:
    name = tree.topic
    cuts = [tree.cut(depth) for depth in range(1, tree.depth + 1)]
    return Topic(name, tuple(Level(name, f"{name}:{d}", len(codes), codes) for d, codes in enumerate(cuts, 1)), tree)


def programme(*topics: Topic) -> Programme:
    by_first = Breakdown(topics[0].name, topics[0].name, topics[0].levels)
    return Programme("town", {topic.name: topic for topic in topics}, (Table("3", (by_first,)),))


SEX = topic("SEX", ("F", ""), ("M", ""))
AGE = topic("AGE", ("Y", ""), ("O", ""), ("Y1", "Y"), ("Y2", "Y"), ("65 and over", "O"), ("O1", "O"))
EMP = Topic("EMP", (Level("EMP", "EMP:1", 2), Level("EMP", "EMP", 3, ("1", "2", "3"))))
EDU = Topic("EDU", (Level("EDU", "EDU", 11),))
TOWN = programme(SEX, AGE, EMP, EDU)


def parsed(text: str) -> dict[str, set[str]]:
    return {condition.topic: set(condition.codes) for condition in parse_universe(text, TOWN, "3")}


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("EMP = 1", {"EMP": {"1"}}),
        ("EMP=1", {"EMP": {"1"}}),
        (" EMP != '1' ", {"EMP": {"2", "3"}}),
        ("EMP!=1", {"EMP": {"2", "3"}}),
        ("EMP in (1, 2)", {"EMP": {"1", "2"}}),
        ("EMP in 1, 2", {"EMP": {"1", "2"}}),
        ("EMP IN(1,\t2)AND SEX = F", {"EMP": {"1", "2"}, "SEX": {"F"}}),
        ('EMP Not  In 1, "2" and SEX = F', {"EMP": {"3"}, "SEX": {"F"}}),
        ("AGE = Y", {"AGE": {"Y1", "Y2"}}),
        ("AGE != Y", {"AGE": {"65 and over", "O1"}}),
        ("AGE in (Y, '65 and over')", {"AGE": {"Y1", "Y2", "65 and over"}}),
        ("AGE in (Y, Y1)", {"AGE": {"Y1", "Y2"}}),
        ("AGE = Y and AGE != Y1 and SEX = F", {"AGE": {"Y2"}, "SEX": {"F"}}),
        ("'EMP' = 1", {"EMP": {"1"}}),
        ("SEX in (F, M)", {"SEX": {"F", "M"}}),
        ("", {}),
    ],
)
def test_a_universe_is_the_finest_codes_it_allows(text: str, meaning: dict[str, set[str]]) -> None:
    assert parsed(text) == meaning


def test_conditions_stand_in_the_order_of_their_first_mention() -> None:
    found = parse_universe("SEX = F and EMP = 1 and SEX in F, M", TOWN, "3")
    assert found == (Condition("SEX", frozenset({"F"})), Condition("EMP", frozenset({"1"})))


@pytest.mark.parametrize(
    ("text", "place", "wanted"),
    [
        ("employed", "at its end", "=, !=, in or not in after 'employed'"),
        ("EMP ~ 1", "at position 5, before '~ 1',", "=, !=, in or not in after 'EMP'"),
        ("EMP == 1", "at position 6, before '= 1',", "a code"),
        ("EMP =", "at its end", "a code"),
        ("EMP = 1 2", "at position 9, before '2',", "the word and, or nothing more"),
        ("EMP = 1 or SEX = F", "at position 9, before 'or SEX = F',", "the word and, or nothing more"),
        ("EMP = 1 and", "at its end", "a topic"),
        ("EMP = 1 and (SEX = F)", "at position 13, before '(SEX = F)',", "a topic"),
        ("EMP in ()", "at position 9, before ')',", "a code"),
        ("EMP in (1, 2", "at its end", "a comma or a closing parenthesis"),
        ("EMP in (1, 2,)", "at position 14, before ')',", "a code"),
        ("EMP in 1, 2)", "at position 12, before ')',", "the word and, or nothing more"),
        ("EMP in1", "at position 5, before 'in1',", "=, !=, in or not in after 'EMP'"),
        ("not EMP = 1", "at position 5, before 'EMP = 1',", "=, !=, in or not in after 'not'"),
        ("EMP = '1", 'at position 7, before "\'1",', "a code whose quotation mark is closed"),
        ("  ", "at its end", "a topic"),
    ],
)
def test_text_that_cannot_be_read_is_refused_with_its_place(text: str, place: str, wanted: str) -> None:
    message = re.escape(
        f"Universe of table 3: {text!r} cannot be read: {place} there should be {wanted}. Write it like this: EMP = 1"
    )
    with pytest.raises(ProgrammeError, match=message):
        parsed(text)
    assert topics_named(text) == frozenset()


def test_unknown_names_are_refused_with_the_nearest() -> None:
    known = "There are: SEX, AGE, EMP, EDU"
    message = rf"Universe of table 3: There is no topic 'EMPL'. Did you mean EMP\? {known}"
    with pytest.raises(UnknownNameError, match=message) as caught:
        parsed("EMPL = 1")
    assert (caught.value.name, caught.value.available) == ("EMPL", ("SEX", "AGE", "EMP", "EDU"))
    message = "no category of topic AGE with the code 'Y3'. Did you mean Y or Y2"
    with pytest.raises(UnknownNameError, match=message) as caught:
        parsed("AGE in (Y1, Y3)")
    assert set(caught.value.available) == {"Y", "Y1", "Y2", "O", "O1", "65 and over"}
    with pytest.raises(UnknownNameError, match="no topic 'emp'"):
        parsed("emp = 1")


def test_a_topic_without_a_list_of_categories_is_refused() -> None:
    with pytest.raises(ProgrammeError, match=r"topic EDU has no list of categories, only their number\. Give its"):
        parsed("EDU = 1")


@pytest.mark.parametrize("text", ["SEX = F and SEX = M", "SEX not in F, M", "AGE = Y and EMP = 1 and AGE = O1"])
def test_a_universe_without_records_is_refused(text: str) -> None:
    with pytest.raises(ProgrammeError, match=r"Universe of table 3: no record can be in it, .* Correct the condition"):
        parsed(text)


def test_topics_named_need_not_exist() -> None:
    assert topics_named("A = 1 and 'B C' not in (x, y) and A != 2") == {"A", "B C"}
    assert topics_named("") == frozenset()


def test_the_example_of_the_programme_file_names_a_topic() -> None:
    example = re.search(r'universe = "(.*)"', toml_example or "")
    assert example
    assert parsed(example[1]) == {"EMP": {"1"}}


def test_areas_may_be_named_at_any_level() -> None:
    made = load_programme("eu2021:DE")
    (found,) = parse_universe("GEO != DE1", made, "1")
    tree = made.topics["GEO"].tree
    assert tree
    assert found.codes == {leaf for leaf in tree.leaves if tree.path(leaf)[0] != "DE1"}


@st.composite
def trees(draw: st.DrawFn, name: str, most: int = 8) -> CategoryTree:
    """Draw trees with codes that need quotation marks, or look like words of the grammar."""
    codes = draw(
        st.lists(st.sampled_from(ODD_CODES) | st.integers(0, 99).map(str), min_size=1, max_size=most, unique=True)
    )
    parents = [
        codes[above] if above >= 0 else "" for above in (draw(st.integers(-1, i - 1)) for i in range(len(codes)))
    ]
    lines = draw(st.permutations(list(zip(codes, parents, strict=True))))
    return CategoryTree(name, tuple(Category(code, parent) for code, parent in lines))


Clause = tuple[str, bool, list[str]]


@st.composite
def universes(draw: st.DrawFn) -> tuple[list[CategoryTree], list[Clause], str]:
    """Draw topics, conditions on them (topic, whether negated, codes), and a text that says the same."""
    chosen = [draw(trees(name)) for name in ("A", "in", "B.1")[: draw(st.integers(1, 3))]]
    clauses = []
    for tree in draw(st.lists(st.sampled_from(chosen), min_size=1, max_size=4)):
        codes = st.lists(st.sampled_from([c.code for c in tree.categories]), min_size=1, max_size=3)
        clauses.append((tree.topic, draw(st.booleans()), draw(codes)))
    conjunction = draw(st.sampled_from([" and ", "\tAND  ", " And\n"]))
    return chosen, clauses, conjunction.join(draw(written(clause)) for clause in clauses)


@st.composite
def written(draw: st.DrawFn, clause: Clause) -> str:
    topic, negated, codes = clause
    codes = [draw(spelt(code)) for code in codes]
    if len(codes) == 1 and draw(st.booleans()):
        sign = "!=" if negated else "="
        return draw(st.sampled_from([f"{topic} {sign} {codes[0]}", f"{topic}{sign}{codes[0]}"]))
    listed = draw(st.sampled_from([",", ", ", " ,"])).join(codes)
    word = draw(st.sampled_from(["not in", "NOT  IN"] if negated else ["in", "IN"]))
    return f"{topic} {word} " + (f"({listed})" if draw(st.booleans()) else listed)


@st.composite
def spelt(draw: st.DrawFn, code: str) -> str:
    ways = [f"{sign}{code}{sign}" for sign in "'\"" if sign not in code]
    if not re.search(r"[\s,()]|^['\"=]", code):
        ways.append(code)
    return draw(st.sampled_from(ways))


def satisfies(tree: CategoryTree, leaf: str, clause: Clause) -> bool:
    """Say whether a record with this code satisfies a condition: by climbing from it to the total."""
    above = {category.code: category.parent for category in tree.categories}
    _, negated, codes = clause
    while leaf and leaf not in codes:
        leaf = above[leaf]
    return bool(leaf) != negated


@given(universes())
@settings(max_examples=200, deadline=None)
def test_records_of_a_universe_are_those_that_satisfy_every_condition(
    drawn: tuple[list[CategoryTree], list[Clause], str],
) -> None:
    chosen, clauses, text = drawn
    made = programme(*map(topic_of, chosen))
    leaves = [[c.code for c in tree.categories if c.code not in {d.parent for d in tree.categories}] for tree in chosen]
    by_name = {tree.topic: tree for tree in chosen}
    records = [dict(zip(by_name, record, strict=True)) for record in product(*leaves)]
    wanted = [r for r in records if all(satisfies(by_name[c[0]], r[c[0]], c) for c in clauses)]
    assert topics_named(text) == {clause[0] for clause in clauses}
    if not wanted:
        with pytest.raises(ProgrammeError, match="no record can be in it"):
            parse_universe(text, made, "3")
        return
    found = parse_universe(text, made, "3")
    assert [r for r in records if all(r[c.topic] in c.codes for c in found)] == wanted
    assert all(c.codes <= set(leaves[list(by_name).index(c.topic)]) for c in found)


@given(st.text(alphabet="A1 =!(),'\"inotad", max_size=20))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_universe(text, TOWN, "3")
    except (ProgrammeError, UnknownNameError):
        return
    assert all(condition.codes for condition in found)
