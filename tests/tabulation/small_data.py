"""Random programmes and random records, and the plainest way to count them."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.programme.tree import Category, CategoryTree

if TYPE_CHECKING:
    from collections.abc import Sequence

Record = dict[str, str]


@st.composite
def trees(draw: st.DrawFn, topic: str) -> CategoryTree:
    """Return a tree of up to three levels in which some branches end early and some have a single child."""
    found: list[Category] = []

    def grow(parent: str, depth: int) -> None:
        for number in range(draw(st.integers(1, 3))):
            code = f"{parent or topic}{number}"
            found.append(Category(code, parent))
            if depth < 3 and draw(st.booleans()):
                grow(code, depth + 1)

    grow("", 1)
    # The order in which categories are listed must not matter for what is counted.
    return CategoryTree(topic, tuple(draw(st.permutations(found))))


@st.composite
def programmes(draw: st.DrawFn) -> Programme:
    """Return two to four topics and one to four tables, some with a universe and some without a total."""
    names = ["A", "B", "C", "D"][: draw(st.integers(2, 4))]
    topics = {}
    for name in names:
        tree = draw(trees(name))
        cuts = dict.fromkeys(tree.cut(depth) for depth in range(1, tree.depth + 1))
        levels = tuple(Level(name, f"{name}:{d}", len(codes), codes) for d, codes in enumerate(cuts, start=1))
        topics[name] = Topic(name, levels, tree)
    tables = []
    for number in range(draw(st.integers(1, 4))):
        chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
        breakdowns = []
        for name in chosen:
            among = topics[name].levels
            first = draw(st.integers(0, len(among) - 1))
            last = draw(st.integers(first, len(among)))
            total = draw(st.booleans())
            breakdowns.append(Breakdown(f"{name}.{first}{last}{total}", name, among[first:last], total))
        coarsest = topics[names[0]].levels[0].codes or ()
        universe = draw(st.sampled_from([None, None, f"{names[0]} != {coarsest[0]}"])) if len(coarsest) > 1 else None
        tables.append(Table(str(number), tuple(breakdowns), universe=universe))
    return Programme("random", topics, tuple(tables))


@st.composite
def records(draw: st.DrawFn, programme: Programme) -> list[Record]:
    """Return up to thirty records at the finest codes."""
    leaves = {name: topic.levels[-1].codes or () for name, topic in programme.topics.items()}
    one = st.fixed_dictionaries({name: st.sampled_from(codes) for name, codes in leaves.items()})
    return draw(st.lists(one, min_size=1, max_size=30))


def codes_of(programme: Programme, breakdown: Breakdown, code: str) -> set[str]:
    """Return the codes under which a record appears in a column."""
    tree = programme.topics[breakdown.topic].tree
    assert tree
    shown = {"_T"} if breakdown.total or not breakdown.levels else set()
    return shown | {step for level in breakdown.levels for step in tree.path(code) if step in (level.codes or ())}


def in_universe(programme: Programme, table: Table, record: Record) -> bool:
    """Say whether a table counts a record; the only universe here leaves one category out."""
    if not table.universe:
        return True
    topic, _, code = table.universe.split()
    tree = programme.topics[topic].tree
    assert tree
    return code not in tree.path(record[topic])


def counted(
    programme: Programme, table: Table, people: Sequence[Record], keys: Sequence[int], key_space: int
) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return count and key of every occupied cell, record by record."""
    count: Counter[tuple[str, ...]] = Counter()
    key: Counter[tuple[str, ...]] = Counter()
    for record, own in zip(people, keys, strict=True):
        if in_universe(programme, table, record):
            columns = [sorted(codes_of(programme, b, record[b.topic])) for b in table.breakdowns]
            for cell in product(*columns):
                count[cell] += 1
                key[cell] += own
    return {cell: (count[cell], key[cell] % key_space) for cell in count}
