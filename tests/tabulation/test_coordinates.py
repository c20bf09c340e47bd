"""Words of cells: the sum of the hashes of their codes, the same wherever a cell is shown."""

from __future__ import annotations

import hashlib
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import given, settings

from discreet.tabulation.coordinates import coordinate_words
from discreet.tabulation.plan import plan as plan_tables
from tests.tabulation.small_data import by, programme, programmes, topic

if TYPE_CHECKING:
    from discreet.programme.model import Programme
    from discreet.programme.tree import CategoryTree
    from discreet.tabulation.plan import Plan

KEY = b"what this release is known by"

Held = frozenset[tuple[str, frozenset[str]]]
"""A cell by what it holds: for every topic that is not summed over, the finest codes."""


def direct(name: str, code: str, key: bytes = KEY) -> int:
    """Return the word of a category by its equation."""
    return int.from_bytes(hashlib.blake2b(f"{name}\0{code}".encode(), digest_size=8, key=key).digest(), "little")


def words_of(plan: Plan, key: bytes = KEY) -> dict[tuple[tuple[str, str], ...], int]:
    """Return the word of every cell of every statistic, by topic and code."""
    found: dict[tuple[tuple[str, str], ...], int] = {}
    for statistic in {s for table in plan.tables for s in table.statistics}:
        axes = [(axis, axis.depths[d - 1][0].codes or ()) for axis, d in zip(plan.axes, statistic, strict=True) if d]
        cells = product(*([(axis.topic, code) for code in codes] for axis, codes in axes))
        words = coordinate_words(plan, statistic, key)
        assert (words.dtype.name, len(words)) == ("uint64", plan.size(statistic))
        found |= dict(zip(cells, words.tolist(), strict=True))
    return found


def test_words_follow_the_equation() -> None:
    a, b = topic("A", {"a0": "", "a1": "", "a00": "a0", "a01": "a0"}), topic("B", "b0 b1")
    spec = programme([a, b], [by(a), by(b)])
    found = words_of(plan_tables(spec, spec.tables))
    assert len(found) == 1 + 2 + 3 + 2 + 4 + 6 - 1 - 2  # a1 alone and with each of B is on two levels
    for cell, word in found.items():
        assert word == sum(direct(name, code) for name, code in cell) % 2**64
    assert len(set(found.values())) == len(found)


def held(tree: CategoryTree, code: str) -> frozenset[str]:
    return frozenset(leaf for leaf in tree.leaves if code in tree.path(leaf))


@settings(max_examples=40)
@given(programmes(shuffled=True, universes=False))
def test_cells_have_one_word_if_and_only_if_they_must_hold_the_same_records(spec: Programme) -> None:
    trees = {name: given_topic.tree for name, given_topic in spec.topics.items()}
    by_content: dict[Held, set[int]] = {}
    for cell, word in words_of(plan_tables(spec, spec.tables)).items():
        content = frozenset((name, held(tree, code)) for name, code in cell if (tree := trees[name]))
        by_content.setdefault(content, set()).add(word)
    assert all(len(words) == 1 for words in by_content.values())
    assert len(set.union(*by_content.values())) == len(by_content)


def test_the_word_of_a_cell_does_not_depend_on_the_tables_beside_it() -> None:
    # Of district and town, which are the same here, one release shows the one and another both.
    area = topic("G", {"d1": "", "d2": "", "t1": "d1", "t2": "d2", "t3": "d2", "x1": "t1", "x2": "t2", "x3": "t3"})
    sex = topic("S", "F M")
    alone = programme([area, sex], [by(area, 2, 2)])
    among = programme([area, sex], [by(sex), by(area)], [by(area, 3)])
    some, more = (words_of(plan_tables(spec, spec.tables)) for spec in (alone, among))
    assert some == {cell: word for cell, word in more.items() if cell in some}
    assert some[("G", "t1"),] == more[("G", "d1"),]


def test_another_key_gives_other_words() -> None:
    a = topic("A", "a0 a1")
    spec = programme([a], [by(a)])
    plan = plan_tables(spec, spec.tables)
    one, other = words_of(plan), words_of(plan, b"another release")
    assert [one[cell] == other[cell] for cell in one] == [not cell for cell in one]
    assert other[("A", "a1"),] == direct("A", "a1", b"another release")
