"""Small programmes for tests: tables as lists of topics, topics as lists of level sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
