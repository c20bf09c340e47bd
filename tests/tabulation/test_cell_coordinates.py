"""Words of cells: one for all cells that must hold the same records, wherever and however they are shown."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, given, settings

from discreet.programme.regions import with_regions
from discreet.programme.universe import finest_codes, parse_universe
from discreet.tabulation.cell_coordinates import CellCoordinates
from discreet.tabulation.plan import plan as plan_tables
from tests.each import each
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, programmes, topic

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.programme.model import Programme, Topic
    from discreet.tabulation.plan import Plan

Held = tuple[tuple[str, ...], frozenset[tuple[str, ...]]]
"""A cell by what it may hold: the columns that it restricts, and the combinations of their finest codes."""
Cell = tuple[tuple[str, str], ...]


def words_of(spec: Programme, version: str = "1") -> dict[str, dict[Cell, int]]:
    """Return the word of every cell of every statistic by topic and code, population by population."""
    found: dict[str, dict[Cell, int]] = {}
    for name, tables in spec.populations.items():
        plan, places = plan_tables(spec, tables), CellCoordinates(spec, tables[0], version)
        found[name] = {}
        for statistic in {s for table in plan.tables for s in table.statistics}:
            words = places.words(plan, statistic, np.arange(plan.size(statistic)))
            assert (words.dtype.name, len(words)) == ("uint64", plan.size(statistic))
            # One cell alone has the word that it has among all.
            last = plan.size(statistic) - 1
            assert places.words(plan, statistic, np.array([last])).tolist() == [words[last]]
            found[name] |= dict(zip(cells_of(plan, statistic), words.tolist(), strict=True))
    return found


def total_word(spec: Programme, version: str, *, labelled: bool = True) -> int:
    """Return the word of the grand total of the first population."""
    tables = next(iter(spec.populations.values()))
    plan = plan_tables(spec, tables)
    places = CellCoordinates(spec, tables[0], version, labelled_total=labelled)
    return int(places.words(plan, (0,) * len(plan.axes), np.array([0]))[0])


def test_the_grand_total_has_a_word_of_its_label_and_its_unit() -> None:
    sex = topic("SEX", "F M")
    spec = programme([sex], [by(sex)])
    homes = replace(spec, tables=tuple(replace(table, unit="household") for table in spec.tables))
    found = [total_word(each, version) for each in (spec, homes) for version in ("1", "2", "3", "4", "5")]
    assert len({0, *found}) == 11


@settings(deadline=None, max_examples=up_to(25), suppress_health_check=[HealthCheck.too_slow])
@given(spec=programmes())
def test_all_other_words_are_those_of_releases_without_the_mark(spec: Programme) -> None:
    for tables in spec.populations.values():
        plan = plan_tables(spec, tables)
        old, new = (CellCoordinates(spec, tables[0], "1", labelled_total=labelled) for labelled in (False, True))
        for statistic in {s for table in plan.tables for s in table.statistics}:
            index = np.arange(plan.size(statistic))
            before, after = (places.words(plan, statistic, index) for places in (old, new))
            assert np.array_equal(before != after, before == 0)
            if not any(statistic) and tables[0].universe is None:
                assert before.tolist() == [0]


def cells_of(plan: Plan, statistic: tuple[int, ...]) -> list[Cell]:
    axes = [(axis, axis.codes[d - 1] or ()) for axis, d in zip(plan.axes, statistic, strict=True) if d]
    return list(product(*([(axis.name, code) for code in codes] for axis, codes in axes)))


def below(given_topic: Topic, code: str) -> frozenset[str]:
    tree = given_topic.tree
    assert tree
    return frozenset(leaf for leaf in tree.leaves if code in tree.path(leaf))


def content(spec: Programme, cell: Cell, universe: str | None) -> Held:
    """Return what a cell may hold, by hand: every combination of codes of the columns, one by one."""
    conditions = parse_universe(universe or "", spec, "")
    leaves = {t.column or name: t.tree.leaves for name, t in spec.topics.items() if t.tree}
    column = {name: t.column or name for name, t in spec.topics.items()}
    codes = [finest_codes(spec.topics[name]) for name in conditions.topics]
    named = dict.fromkeys([column[name] for name, _ in cell] + [column[name] for name in conditions.topics])
    held = set()
    for record in product(*(leaves[one] for one in named)):
        code = dict(zip(named, record, strict=True))
        place = [listed.index(code[column[name]]) for name, listed in zip(conditions.topics, codes, strict=True)]
        if conditions.members[tuple(place)] and all(code[column[n]] in below(spec.topics[n], c) for n, c in cell):
            held.add(record)
    # A column that is not restricted is left out: with every combination of the others all of its codes are there.
    kept = list(named)
    for one in list(named):
        at = kept.index(one)
        others = {(*record[:at], *record[at + 1 :]) for record in held}
        if len(others) * len(leaves[one]) == len(held):
            held, kept = others, [*kept[:at], *kept[at + 1 :]]
    order = sorted(range(len(kept)), key=kept.__getitem__)
    return tuple(kept[n] for n in order), frozenset(tuple(record[n] for n in order) for record in held)


def test_words_follow_the_equation() -> None:
    a, b = topic("A", {"a0": "", "a1": "", "a00": "a0", "a01": "a0"}), topic("B", "b0 b1 b2")
    spec = programme([a, b], [by(a), by(b)], universes=["B != b2"])

    def word(text: str) -> int:
        key = hashlib.blake2b(b"1\0persons", digest_size=32).digest()
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=key).digest(), "little")

    def of(column: str, *codes: str) -> int:
        total = sum(word(f"code of {column}\0{code}") for code in codes) % 2**64
        return word(f"set of {column}\0{total}")

    found = words_of(spec)["persons where B != b2"]
    assert found[()] == of("B", "b0", "b1")
    assert found[("A", "a0"),] == (of("A", "a00", "a01") + of("B", "b0", "b1")) % 2**64
    assert found[("A", "a1"), ("B", "b0")] == (of("A", "a1") + of("B", "b0")) % 2**64


@settings(max_examples=up_to(40), suppress_health_check=[HealthCheck.too_slow])
@given(programmes(shuffled=True, joined=True))
def test_cells_have_one_word_if_and_only_if_they_must_hold_the_same_records(spec: Programme) -> None:
    universes = {name: tables[0].universe for name, tables in spec.populations.items()}
    by_content: dict[Held, set[int]] = {}
    for name, words in words_of(spec).items():
        for cell, word in words.items():
            held = content(spec, cell, universes[name])
            # A cell that nobody can be in is not published with noise.
            by_content.setdefault(held, set()).update([word] if held[1] else [])
    by_content = {held: words for held, words in by_content.items() if words}
    assert all(len(words) == 1 for words in by_content.values())
    assert len(set.union(*by_content.values())) == len(by_content)


def test_a_column_of_its_own_has_the_word_of_its_set_beside_columns_that_are_joined() -> None:
    a, b, c, d = topic("A", "a0 a1"), topic("B", "b0 b1"), topic("C", "c0 c1 c2"), topic("D", "d0 d1")
    both = "(A = a1 or B = b1) and C != c2"
    texts = [f"D = d0 or ({both})", both]
    spec = programme([a, b, c, d], *[[by(d)]] * 2, universes=texts)
    wide, narrow = words_of(spec).values()
    # In the first universe D is joined with the others, and yet the same persons are D = d1 in both.
    assert wide[("D", "d1"),] == narrow[("D", "d1"),]
    assert wide[("D", "d0"),] != narrow[("D", "d0"),]


def test_a_universe_may_be_worded_in_any_way() -> None:
    sex, age = topic("SEX", "F M"), topic("AGE", {"Y": "", "O": "", "Y1": "Y", "Y2": "Y"})
    texts = ["AGE = Y", "AGE in (Y1, Y2)", "AGE != O"]
    spec = programme([sex, age], *[[by(sex)]] * 3, universes=texts)
    first, *others = words_of(spec).values()
    assert all(other == first for other in others)


def test_a_region_has_the_words_of_the_areas_it_is_made_of(tmp_path: Path) -> None:
    area, sex = topic("GEO", {"d1": "", "d2": "", "v1": "d1", "v2": "d1", "v3": "d2"}), topic("SEX", "F M")
    path = tmp_path / "r.csv"
    path.write_text("area,region\nv1,A\nv2,A\n", encoding="utf-8")
    spec = with_regions(programme([area, sex], [by(area), by(sex)]), path)
    plain, regions = words_of(spec).values()
    assert regions[("GEO_R", "A"),] == plain[("GEO", "d1"),]
    assert regions[("GEO_R", "A"), ("SEX", "F")] == plain[("GEO", "d1"), ("SEX", "F")]
    # In no region are those of v3, so that the total of the regions is that of A.
    assert regions[()] == plain[("GEO", "d1"),]


@each("universe", [None, "A = a0", "B != b2 and A != a01", "A = a01 or B = b1", "A = a1 or (A = a00 and B > b0)"])
def test_cells_that_nobody_can_be_in_are_left_out(universe: str | None) -> None:
    a, b = topic("A", {"a0": "", "a1": "", "a00": "a0", "a01": "a0"}), topic("B", "b0 b1 b2")
    spec = programme([a, b], [by(a), by(b)], universes=[universe])
    plan = plan_tables(spec, spec.tables)
    places = CellCoordinates(spec, spec.tables[0], "1")
    for statistic in plan.tables[0].statistics:
        cells = cells_of(plan, statistic)
        expected = [n for n, cell in enumerate(cells) if content(spec, cell, universe)[1]]
        assert places.possible(plan, statistic).tolist() == expected
        shown = [(axis, depth) for axis, depth in zip(plan.axes, statistic, strict=True) if depth]
        there = np.ones((), dtype=bool)
        for axis, depth in shown:
            there = np.logical_and.outer(there, ~places.excluded(axis, depth))
        jointly = places.jointly_excluded(shown)
        assert (jointly is None) == (" or " not in (universe or ""))
        there = there if jointly is None else there & ~jointly
        assert np.flatnonzero(there).tolist() == expected


def test_the_word_of_a_cell_does_not_depend_on_the_tables_beside_it() -> None:
    # Of district and town, which are the same here, one release shows the one and another both.
    area = topic("G", {"d1": "", "d2": "", "t1": "d1", "t2": "d2", "t3": "d2", "x1": "t1", "x2": "t2", "x3": "t3"})
    sex = topic("S", "F M")
    (some,), (more,) = (
        words_of(spec).values()
        for spec in (
            programme([area, sex], [by(area, 2, 2)]),
            programme([area, sex], [by(sex), by(area)], [by(area, 3)]),
        )
    )
    assert some == {cell: word for cell, word in more.items() if cell in some}


def test_another_version_gives_other_words() -> None:
    spec = programme([topic("A", "a0 a1")], [by(topic("A", "a0 a1"))])
    first, second = (words_of(spec, version)["persons"] for version in ("1", "2"))
    assert all(first[cell] != second[cell] for cell in first if cell)
