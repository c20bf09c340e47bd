"""Random programmes and random records, and the plainest way to count them."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import VALUE, WEIGHTED, Breakdown, Level, Programme, Table, Topic, code_columns
from discreet.tabulation.counting import CodedRecords

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.engines.engine import Engine
    from discreet.programme.lattice import Statistic
    from discreet.tabulation.plan import Plan

Record = dict[str, str]
Cell = tuple[str, ...]


# --- Made by hand ---


def topic(name: str, parents: str | Mapping[str, str]) -> Topic:
    """Return a topic with a level per depth: codes with their parents, or separated by blanks without any."""
    above = dict.fromkeys(parents.split(), "") if isinstance(parents, str) else parents
    tree = CategoryTree(name, tuple(Category(code, parent) for code, parent in above.items()))
    cuts = [tree.cut(depth) for depth in range(1, tree.depth + 1)]
    levels = [Level(name, f"{name}:{depth}", len(codes), codes) for depth, codes in enumerate(cuts, start=1)]
    return Topic(name, tuple(levels), tree)


def by(given: Topic, first: int = 1, last: int | None = None, *, total: bool = True) -> Breakdown:
    """Return a breakdown by the levels of a topic from one depth to another."""
    code = f"{given.name}.{first}{last or ''}" if first > 1 or last else given.name
    return Breakdown(code, given.name, given.levels[first - 1 : last], total)


def programme(topics: Sequence[Topic], *tables: Sequence[Breakdown], universes: Sequence[str | None] = ()) -> Programme:
    """Return a programme of tables numbered from 1, each a list of breakdowns."""
    asked = [*universes, *[None] * (len(tables) - len(universes))]
    made = [
        Table(str(n), tuple(table), universe=universe)
        for n, (table, universe) in enumerate(zip(tables, asked, strict=True), start=1)
    ]
    return Programme("small", {given.name: given for given in topics}, tuple(made))


# --- Random ---


@st.composite
def trees(draw: st.DrawFn, name: str) -> CategoryTree:
    """Return a tree of up to three levels in which some branches end early and some have a single child."""
    found: list[Category] = []

    def grow(parent: str, depth: int) -> None:
        for number in range(draw(st.integers(1, 3))):
            code = f"{parent or name}{number}"
            found.append(Category(code, parent))
            if depth < 3 and draw(st.booleans()):
                grow(code, depth + 1)

    grow("", 1)
    # The order in which categories are listed must not matter for what is counted.
    return CategoryTree(name, tuple(draw(st.permutations(found))))


@st.composite
def topics(draw: st.DrawFn, name: str, *, shuffled: bool = False) -> Topic:
    """Return a topic with a level per depth, some of them the same partition under other codes.

    Args:
        draw: given by hypothesis.
        name: the topic.
        shuffled: whether a level may list its categories in any order, not that of the tree.
    """
    tree = draw(trees(name))
    cuts = list(dict.fromkeys(tree.cut(depth) for depth in range(1, tree.depth + 1)))
    if shuffled and draw(st.booleans()):
        cuts = [tuple(draw(st.permutations(codes))) for codes in cuts]
    levels = [Level(name, f"{name}:{depth}", len(codes), codes) for depth, codes in enumerate(cuts, start=1)]
    return Topic(name, tuple(levels), tree)


@st.composite
def programmes(
    draw: st.DrawFn, *, shuffled: bool = False, universes: bool = True, joined: bool = False, most: int = 4
) -> Programme:
    """Return two to four topics and some tables, some with a universe and some without a total."""
    names = ["A", "B", "C", "D"][: draw(st.integers(2, 4))]
    found = {name: draw(topics(name, shuffled=shuffled)) for name in names}
    tables = []
    for number in range(draw(st.integers(1, most))):
        chosen = draw(st.lists(st.sampled_from(names), min_size=0 if number else 1, max_size=3, unique=True))
        breakdowns = []
        for name in chosen:
            among = found[name].levels
            first = draw(st.integers(0, len(among) - 1))
            last = draw(st.integers(first, len(among)))
            total = draw(st.booleans())
            breakdowns.append(Breakdown(f"{name}.{first}{last}{total}", name, among[first:last], total))
        coarsest = found[names[0]].levels[0].codes or ()
        left_out = universes and len(coarsest) > 1
        universe = draw(st.sampled_from([None, None, f"{names[0]} != {coarsest[0]}"])) if left_out else None
        if universe and joined and draw(st.booleans()):
            clauses = [f"{other} = {draw(st.sampled_from(found[other].levels[-1].codes or ()))}" for other in names[1:]]
            universe = f"{universe} or " + draw(st.sampled_from([" or ", " and "])).join(clauses)
        tables.append(Table(str(number), tuple(breakdowns), universe=universe))
    return Programme("random", found, tuple(tables))


@st.composite
def records(draw: st.DrawFn, given: Programme) -> list[Record]:
    """Return up to thirty records at the finest codes."""
    leaves = {name: topic.levels[-1].codes or () for name, topic in given.topics.items()}
    one = st.fixed_dictionaries({name: st.sampled_from(codes) for name, codes in leaves.items()})
    return draw(st.lists(one, min_size=1, max_size=30))


# --- The plainest way to count ---


def codes_of(given: Programme, breakdown: Breakdown, code: str) -> set[str]:
    """Return the codes under which a record appears in a column."""
    tree = given.topics[breakdown.topic].tree
    assert tree
    shown = {"_T"} if breakdown.total or not breakdown.levels else set()
    return shown | {step for level in breakdown.levels for step in tree.path(code) if step in (level.codes or ())}


def in_universe(given: Programme, table: Table, record: Record) -> bool:
    """Say whether a table counts a record; the only universe here leaves one category out."""
    if not table.universe:
        return True
    name, _, code = table.universe.split()
    tree = given.topics[name].tree
    assert tree
    return code not in tree.path(record[name])


def counted(
    given: Programme, table: Table, people: Sequence[Record], keys: Sequence[int], key_space: int
) -> dict[Cell, tuple[int, int]]:
    """Return count and key of every occupied cell, record by record."""
    count: Counter[Cell] = Counter()
    key: Counter[Cell] = Counter()
    for record, own in zip(people, keys, strict=True):
        if in_universe(given, table, record):
            columns = [sorted(codes_of(given, b, record[b.topic])) for b in table.breakdowns]
            for cell in product(*columns):
                count[cell] += 1
                key[cell] += own
    return {cell: (count[cell], key[cell] % key_space) for cell in count}


# --- Records in an engine, coded the plainest way ---


def position(given: Programme, plan: Plan, axis: int, depth: int, code: str) -> int:
    """Return the place of a record's category in the partition at a depth of an axis."""
    tree = given.topics[plan.axes[axis].name].tree
    listed = plan.axes[axis].codes[depth - 1]
    assert tree
    assert listed
    (found,) = [listed.index(step) for step in tree.path(code) if step in listed]
    return found


def cell_of(given: Programme, plan: Plan, statistic: Statistic, record: Record) -> tuple[int, ...]:
    """Return the positions of a record along the axes of a statistic."""
    return tuple(
        position(given, plan, number, depth, record[plan.axes[number].name])
        for number, depth in enumerate(statistic)
        if depth
    )


def in_engine(
    given: Programme,
    plan: Plan,
    people: Sequence[Record],
    keys: Sequence[int],
    key_space: int,
    *,
    engine: Engine,
    condition: str | None = None,
) -> CodedRecords:
    """Put records into an engine with a column for every depth of every axis, and one with their number."""
    columns = {
        f"a{number}_{depth}": np.array(
            [position(given, plan, number, depth, record[axis.name]) for record in people], dtype=np.uint16
        )
        for number, axis in enumerate(plan.axes)
        for depth in range(1, len(axis.partitions) + 1)
    }
    engine.drop("micro")
    columns |= {"k": np.array(keys, dtype=np.uint32), "number": np.arange(len(people), dtype=np.uint32)}
    engine.append("micro", pa.record_batch(columns))
    return CodedRecords(engine, lambda _: "micro", lambda axis, depth: f"a{axis}_{depth}", condition, key_space)


def without_levels(table: pa.Table) -> pa.Table:
    """Return a published table with codes and counts alone."""
    names = table.column_names
    return table.select([name for name in names if name in {*code_columns(names), VALUE, WEIGHTED}])
