"""The universe of a table: what it means, against a plain evaluation of every record, and what is refused."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.programme.programme_files import __doc__ as toml_example
from discreet.programme.programme_files import load_programme
from discreet.programme.universe import (
    MOST_JOINED,
    MOST_MEMBERS,
    Universe,
    finest_codes,
    narrowed_universe,
    parse_universe,
    topics_named,
    universe_of,
)
from tests.each import each
from tests.quick import up_to

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
    """Return the codes that a universe allows by topic, where every topic is by itself."""
    found = {}
    for factor in parse_universe(text, TOWN, "3").factors:
        (name,) = factor.topics
        listed = zip(finest_codes(TOWN.topics[name]), factor.allowed.tolist(), strict=True)
        found[name] = {code for code, allowed in listed if allowed}
    return found


def members(universe: Universe, made: Programme) -> list[tuple[str, ...]]:
    """Return the combinations of finest codes that are in a universe."""
    codes = [finest_codes(made.topics[name]) for name in universe.topics]
    assert universe.members.shape == tuple(map(len, codes))
    assert universe.members.dtype == bool
    return [record for record, inside in zip(product(*codes), universe.members.ravel().tolist(), strict=True) if inside]


@each(
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
    assert parse_universe("SEX = F and EMP = 1 and SEX in F, M", TOWN, "3").topics == ("SEX", "EMP")
    # The axes of the array follow this order, not that of the factors: EMP is alone, SEX and AGE are joined.
    text = "SEX in F, M and EMP = 1 and (AGE = Y1 or SEX = F)"
    found = parse_universe(text, TOWN, "3")
    assert found.topics == ("SEX", "EMP", "AGE")
    ages = ("Y1", "Y2", "65 and over", "O1")
    assert members(found, TOWN) == [("F", "1", age) for age in ages] + [("M", "1", "Y1")]
    assert sorted(factor.topics for factor in found.factors) == [("EMP",), ("SEX", "AGE")]


@each(
    ("text", "place", "wanted"),
    [
        ("employed", "at its end", "=, !=, <, <=, >, >=, in or not in after 'employed'"),
        ("EMP ~ 1", "at position 5, before '~ 1',", "=, !=, <, <=, >, >=, in or not in after 'EMP'"),
        ("EMP == 1", "at position 6, before '= 1',", "a code"),
        ("EMP =", "at its end", "a code"),
        ("EMP = 1 2", "at position 9, before '2',", "the word and, the word or, or nothing more"),
        ("EMP = 1 oder SEX = F", "at position 9, before 'oder SEX = F',", "the word and, the word or, or nothing more"),
        ("EMP = 1 or", "at its end", "a topic"),
        ("(EMP = 1", "at its end", "a closing bracket, the word and, or the word or"),
        ("EMP = 1)", "at position 8, before ')',", "the word and, the word or, or nothing more"),
        ("EMP < (1, 2)", "at position 7, before '(1, 2)',", "a code"),
        ("EMP = 1 and", "at its end", "a topic"),
        ("EMP = 1 and ()", "at position 14, before ')',", "a topic"),
        ("EMP in ()", "at position 9, before ')',", "a code"),
        ("EMP in (1, 2", "at its end", "a comma or a closing bracket"),
        ("EMP in (1, 2,)", "at position 14, before ')',", "a code"),
        ("EMP in 1, 2)", "at position 12, before ')',", "the word and, the word or, or nothing more"),
        ("EMP in1", "at position 5, before 'in1',", "=, !=, <, <=, >, >=, in or not in after 'EMP'"),
        ("not EMP = 1", "at position 5, before 'EMP = 1',", "=, !=, <, <=, >, >=, in or not in after 'not'"),
        ("EMP = '1", 'at position 7, before "\'1",', "a code with a closing quotation mark"),
        ("  ", "at its end", "a topic"),
    ],
)
def test_text_that_cannot_be_read_is_refused_with_its_place(text: str, place: str, wanted: str) -> None:
    message = re.escape(f"Universe of table 3: {text!r} cannot be read: {place} expected {wanted}. Example: EMP = 1")
    with pytest.raises(ProgrammeError, match=message):
        parsed(text)
    assert topics_named(text) == frozenset()


def test_unknown_names_are_refused_with_the_nearest() -> None:
    known = "Available: SEX, AGE, EMP, EDU"
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
    with pytest.raises(ProgrammeError, match=r"Universe of table 3: no record satisfies .* Correct the condition"):
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
    found = members(parse_universe("GEO != DE1", made, "1"), made)
    tree = made.topics["GEO"].tree
    assert tree
    assert found == [(leaf,) for leaf in tree.leaves if tree.path(leaf)[0] != "DE1"]


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


Clause = tuple[str, str, list[str]]
"""A condition: its topic, its sign and its codes."""
Expression = Clause | tuple[str, list["Expression"]]
"""A condition, or expressions joined by a word."""


@st.composite
def universes(draw: st.DrawFn) -> tuple[list[CategoryTree], Expression, str]:
    """Draw topics, conditions on them joined by `and` and `or`, and the corresponding text."""
    chosen = [draw(trees(name, 5)) for name in ("A", "in", "B.1")[: draw(st.integers(1, 3))]]

    def clause(tree: CategoryTree) -> st.SearchStrategy[Clause]:
        codes = st.sampled_from([c.code for c in tree.categories])
        one = st.tuples(
            st.just(tree.topic), st.sampled_from(["<", "<=", ">", ">="]), st.lists(codes, min_size=1, max_size=1)
        )
        several = st.tuples(st.just(tree.topic), st.sampled_from(["=", "!="]), st.lists(codes, min_size=1, max_size=3))
        return one | several if all(not c.code.startswith("_") for c in tree.categories) else several

    leaves = st.one_of([clause(tree) for tree in chosen])
    expression = draw(
        st.recursive(
            leaves,
            lambda parts: st.tuples(st.sampled_from(["and", "or"]), st.lists(parts, min_size=2, max_size=3)),
            max_leaves=6,
        )
    )
    return chosen, expression, draw(written(expression))


@st.composite
def written(draw: st.DrawFn, expression: Expression) -> str:
    if len(expression) == 2:
        word, parts = expression
        conjunction = draw(st.sampled_from([f" {word} ", f"\t{word.upper()}  ", f" {word.title()}\n"]))
        # `and` binds more closely than `or`: brackets are needed around `or` inside `and` alone.
        texts = [
            f"({text})" if (word == "and" and len(part) == 2 and part[0] == "or") or draw(st.booleans()) else text
            for part, text in ((part, draw(written(part))) for part in parts)
        ]
        return conjunction.join(texts)
    topic, sign, codes = expression
    codes = [draw(spelt(code)) for code in codes]
    if sign not in {"=", "!="} or (len(codes) == 1 and draw(st.booleans())):
        return draw(st.sampled_from([f"{topic} {sign} {codes[0]}", f"{topic}{sign}{codes[0]}"]))
    listed = draw(st.sampled_from([",", ", ", " ,"])).join(codes)
    word = draw(st.sampled_from(["not in", "NOT  IN"] if sign == "!=" else ["in", "IN"]))
    return f"{topic} {word} " + (f"({listed})" if draw(st.booleans()) else listed)


@st.composite
def spelt(draw: st.DrawFn, code: str) -> str:
    ways = [f"{sign}{code}{sign}" for sign in "'\"" if sign not in code]
    if not re.search(r"[\s,()]|^['\"=]", code):
        ways.append(code)
    return draw(st.sampled_from(ways))


def satisfies(record: dict[str, str], expression: Expression, by_name: dict[str, CategoryTree]) -> bool:
    """Return whether a record satisfies an expression, condition by condition."""
    if len(expression) == 2:
        word, parts = expression
        return (all if word == "and" else any)(satisfies(record, part, by_name) for part in parts)
    name, sign, codes = expression
    return record[name] in satisfying(by_name[name], sign, tuple(codes))


@cache
def satisfying(tree: CategoryTree, sign: str, codes: tuple[str, ...]) -> set[str]:
    """Return the finest codes that satisfy a condition: by climbing to the total, or by the order of the codes."""
    listed = tree.cut(tree.depth)
    if sign in {"=", "!="}:
        above = {category.code: category.parent for category in tree.categories}

        def inside(code: str) -> bool:
            return code in codes or (code in above and inside(above[code]))

        return {leaf for leaf in listed if inside(leaf) == (sign == "=")}
    order = sorted(listed, key=int) if all(code.isdigit() for code in listed) else list(listed)
    places = [order.index(code) for code in listed if codes[0] in tree.path(code)]
    kept = {
        "<": slice(min(places)),
        "<=": slice(max(places) + 1),
        ">": slice(max(places) + 1, None),
        ">=": slice(min(places), None),
    }
    return set(order[kept[sign]])


def named(expression: Expression) -> set[str]:
    return {expression[0]} if len(expression) == 3 else set().union(*map(named, expression[1]))


@given(universes())
@settings(max_examples=up_to(100), deadline=None)
def test_records_of_a_universe_are_those_that_satisfy_its_conditions(
    drawn: tuple[list[CategoryTree], Expression, str],
) -> None:
    chosen, expression, text = drawn
    made = programme(*map(topic_of, chosen))
    leaves = [[c.code for c in tree.categories if c.code not in {d.parent for d in tree.categories}] for tree in chosen]
    by_name = {tree.topic: tree for tree in chosen}
    records = [dict(zip(by_name, record, strict=True)) for record in product(*leaves)]
    wanted = [r for r in records if satisfies(r, expression, by_name)]
    assert topics_named(text) == named(expression)
    if not wanted:
        with pytest.raises(ProgrammeError, match="no record satisfies"):
            parse_universe(text, made, "3")
        return
    found = parse_universe(text, made, "3")
    assert set(found.topics) == named(expression)
    inside = set(members(found, made))
    assert [r for r in records if tuple(r[name] for name in found.topics) in inside] == wanted
    assert sorted(name for factor in found.factors for name in factor.topics) == sorted(found.topics)
    # Another text for the same records: the universe and one more condition that it satisfies already.
    assert members(parse_universe(narrowed_universe(text, text), made, "3"), made) == members(found, made)


@each(
    ("text", "factors"),
    [
        ("SEX = F or EMP = 1", [("SEX", "EMP")]),
        ("(SEX = F and EMP = 1) or (SEX = F and EMP = 2)", [("EMP",), ("SEX",)]),
        ("SEX = F or SEX = M", [("SEX",)]),
        ("(SEX = F or EMP = 1) and (AGE = Y or AGE = O1)", [("AGE",), ("SEX", "EMP")]),
        ("(SEX = F or EMP = 1) and (EMP = 1 or AGE = Y)", [("SEX", "EMP", "AGE")]),
        # A condition on one of the joined topics by itself may take them apart.
        ("(SEX = F or EMP = 1) and SEX = F", [("EMP",), ("SEX",)]),
    ],
)
def test_a_universe_has_as_many_factors_as_possible(text: str, factors: list[tuple[str, ...]]) -> None:
    assert sorted(factor.topics for factor in parse_universe(text, TOWN, "3").factors) == factors


NUMBERED = topic("N", ("10", ""), ("9", ""), ("-1", ""), ("2.5", ""))
LABELLED = topic("L", ("10", ""), ("9", ""), ("2+", ""), ("_U", ""))


@each(
    ("text", "codes"),
    [
        ("N < 9", {"-1", "2.5"}),
        ("N >= 9", {"9", "10"}),
        # Not all are numbers: the order in which they are declared.
        ("L < 9", {"10"}),
        ("L >= 9", {"9", "2+"}),
        ("L >= 10", {"10", "9", "2+"}),
    ],
)
def test_codes_have_the_order_of_their_numbers_or_of_their_declaration(text: str, codes: set[str]) -> None:
    made = programme(NUMBERED, LABELLED)
    assert {code for (code,) in members(parse_universe(text, made, "3"), made)} == codes


def test_a_code_without_a_place_in_the_order_is_refused() -> None:
    with pytest.raises(ProgrammeError, match="'_U' has no rank in the order of topic L, because it begins with _"):
        parse_universe("L > _U", programme(LABELLED), "3")


def test_everybody_is_in_a_universe_without_conditions() -> None:
    found = universe_of(TOWN, TOWN.tables[0])
    assert found.topics == ()
    assert found.members.shape == ()
    assert found.members


def test_topics_of_one_column_are_one_axis() -> None:
    from dataclasses import replace

    areas = replace(topic("GEO", ("d", ""), ("v1", "d"), ("v2", "d"), ("v3", "")), column="geo")
    regions = replace(topic("R", ("r", ""), ("s", ""), ("v2", "r"), ("v3", "r"), ("v1", "s")), column="geo")
    made = programme(areas, regions, SEX)
    found = parse_universe("GEO = d and (R = r or SEX = F)", made, "3")
    assert found.topics == ("GEO", "SEX")
    assert members(found, made) == [("v1", "F"), ("v2", "F"), ("v2", "M")]


def test_combinations_of_codes_are_limited() -> None:
    size = round(MOST_MEMBERS**0.5) + 1
    large = [Topic(name, (Level(name, name, size, tuple(map(str, range(size)))),)) for name in ("A", "B")]
    with pytest.raises(ProgrammeError, match=f"A, B have {size**2:,} combinations of codes; the maximum is 10,000,000"):
        parse_universe("A = 1 or B = 1", programme(*large), "3")
    # Conditions on each by itself need no array of combinations.
    apart = parse_universe("A = 1 and B != 1", programme(*large), "3")
    assert [factor.allowed.sum() for factor in apart.factors] == [1, size - 1]
    with pytest.raises(ProgrammeError, match="combinations"):
        _ = apart.members
    many = [topic(f"T{number}", ("0", ""), ("1", "")) for number in range(MOST_JOINED + 1)]
    with pytest.raises(ProgrammeError, match="combinations of 10 topics"):
        parse_universe(" or ".join(f"{each.name} = 1" for each in many), programme(*many), "3")


def test_brackets_may_not_be_nested_for_ever() -> None:
    assert parsed("(" * 50 + "EMP = 1" + ")" * 50) == {"EMP": {"1"}}
    with pytest.raises(ProgrammeError, match="at most 50 nested brackets"):
        parsed("(" * 5000 + "EMP = 1" + ")" * 5000)


@given(st.text(alphabet="A1 =!<>(),'\"inotadr", max_size=20))
@settings(max_examples=up_to(300), deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_universe(text, TOWN, "3")
    except (ProgrammeError, UnknownNameError):
        return
    assert found.members.any()
