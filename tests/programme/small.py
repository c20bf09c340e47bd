"""Small programmes for tests: tables as lists of topics, topics as lists of level sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def programme(tables: Sequence[Sequence[str]], sizes: Mapping[str, Sequence[int]]) -> Programme:
    """Return a programme; `A` is the topic with all its levels, `A.2` the topic cut at its second."""
    topics = {
        name: Topic(name, tuple(Level(name, f"{name}{d}", size) for d, size in enumerate(levels, start=1)))
        for name, levels in sizes.items()
    }

    def breakdown(code: str) -> Breakdown:
        name, _, depth = code.partition(".")
        levels = topics[name].levels
        return Breakdown(code, name, levels[: int(depth)] if depth else levels)

    made = tuple(Table(str(number), tuple(map(breakdown, codes))) for number, codes in enumerate(tables, start=1))
    return Programme("small", topics, made)


TREES = {
    # A has a single child of another code, and c is not split: both of its levels show it under one code.
    "A": (("a", ""), ("b", ""), ("c", ""), ("a1", "a"), ("b1", "b"), ("b2", "b")),
    "B": (("x", ""), ("y", ""), ("z", "")),
    "S": (("f", ""), ("m", "")),
}
UNIVERSES = (
    None,
    None,
    "A = b",
    "A = a",
    "A != a1",
    "A in (a1, b1)",
    "B in (x, y)",
    "B != z",
    "B = z",
    "S = f",
    "A = b and B != x",
    "A != b1 and S = m",
    "A = b1 or B = x",
    "(S = f or A = a) and B != y",
)


def topics() -> dict[str, Topic]:
    found = {}
    for name, lines in TREES.items():
        tree = CategoryTree(name, tuple(Category(*line) for line in lines))
        levels = tuple(Level(name, f"{name}{d}", len(tree.cut(d)), tree.cut(d)) for d in range(1, tree.depth + 1))
        found[name] = Topic(name, levels, tree)
    return found


@st.composite
def with_universes(
    draw: st.DrawFn, most: int = 4, universes: tuple[str | None, ...] = UNIVERSES, *, totals: bool = False
) -> Programme:
    """Draw programmes of a few tables of some levels, with and without totals, in several universes."""
    known = topics()
    tables = []
    for number in range(draw(st.integers(1, most))):
        breakdowns = []
        for name in draw(st.lists(st.sampled_from("ABS"), min_size=0, max_size=3, unique=True)):
            levels = known[name].levels
            chosen = levels if totals else draw(st.lists(st.sampled_from(levels), min_size=1, unique=True))
            total = totals or draw(st.integers(0, 4)) > 0
            ordered = tuple(level for level in levels if level in chosen)
            breakdowns.append(Breakdown(f"{name}.{number}", name, ordered, total))
        tables.append(Table(str(number), tuple(breakdowns), universe=draw(st.sampled_from(universes))))
    return Programme("drawn", known, tuple(tables))
