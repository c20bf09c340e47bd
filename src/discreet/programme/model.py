"""The model of a table programme: topics, levels, breakdowns, tables, and the column names of published tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.results import NotebookView, html_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.programme.category_tree import CategoryTree

MOST_LEVELS = 100
MOST_CATEGORIES = 10**12
"""Maximum number of categories of a level, which keeps numbers of cells within double precision."""


@dataclass(frozen=True)
class Level:
    """One partition of the population by one topic.

    Attributes:
        topic: the topic it belongs to.
        name: its name in statistics, unique within a programme.
        size: the number of its categories.
        codes: the categories; None if only their number is known.
    """

    topic: str
    name: str
    size: int
    codes: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def marker(self) -> str:
        """Return its name in a column of levels, with blanks replaced since they separate names."""
        return "_".join(self.name.split())


def levels_by_depth(
    topic: str, partitions: Sequence[tuple[str, ...] | int], names: Mapping[int, str] | None = None
) -> tuple[Level, ...]:
    """Return the levels of a topic from coarse to fine.

    The finest level has the name of the topic. The others have a given name, or one made of topic and depth.

    Args:
        topic: the name of the topic.
        partitions: for every depth from 1 on, its categories or their number.
        names: names of levels by depth.
    """
    found = []
    for depth, each in enumerate(partitions, start=1):
        name = topic if depth == len(partitions) else (names or {}).get(depth, f"{topic}:{depth}")
        size, codes = (each, None) if isinstance(each, int) else (len(each), each)
        found.append(Level(topic, name, size, codes))
    return tuple(found)


@dataclass(frozen=True)
class Topic:
    """A characteristic of the counted units, with its levels from coarse to fine.

    Every level is a refinement of the one before it; the total is not among them.
    """

    name: str
    levels: tuple[Level, ...]
    tree: CategoryTree | None = field(default=None, compare=False, repr=False)
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)
    column: str | None = None

    def __post_init__(self) -> None:
        sizes = [level.size for level in self.levels]
        if not 1 <= len(sizes) <= MOST_LEVELS:
            what = f"Topic {self.name} has {len(sizes)} levels; it must have 1 to {MOST_LEVELS}."
            raise ProgrammeError(what, topic=self.name)
        if self.name == "total" or not self.name or any(sign.isspace() for sign in self.name):
            what = f"{self.name!r} is not a valid name of a topic: blanks separate names, and total is reserved."
            raise ProgrammeError(f"{what} Choose a name without blanks other than total.", topic=self.name)
        if any(size < 1 for size in sizes):
            raise ProgrammeError(
                f"Topic {self.name} has a level with no categories. Give at least one.", topic=self.name
            )
        if any(size > MOST_CATEGORIES for size in sizes):
            what = f"Topic {self.name} has a level of more than {MOST_CATEGORIES:,} categories. Correct its size."
            raise ProgrammeError(what, topic=self.name)
        if sizes != sorted(sizes):
            raise ProgrammeError(
                f"Topic {self.name}: sizes of levels must increase from coarse to fine, not {sizes}.", topic=self.name
            )


@dataclass(frozen=True)
class Breakdown:
    """A breakdown with its code: levels of one topic, coarse to fine, and the total if it is published."""

    code: str
    topic: str
    levels: tuple[Level, ...]
    total: bool = True

    @cached_property
    def shown_levels(self) -> tuple[Level, ...]:
        """Return the levels with at least one code that no coarser level has; a table does not show the others."""
        if len(self.levels) == 1:
            return self.levels
        found, seen = [], set[str]()
        for level in self.levels:
            if not seen.issuperset(level.codes or ()):
                found.append(level)
            seen.update(level.codes or ())
        return tuple(found)


@dataclass(frozen=True)
class Table:
    """A cross-tabulation, published with all its margins."""

    id: str
    breakdowns: tuple[Breakdown, ...]
    unit: str = "persons"
    universe: str | None = None

    def __post_init__(self) -> None:
        twice = [topic for topic, times in Counter(b.topic for b in self.breakdowns).items() if times > 1]
        if twice:
            codes = " and ".join(b.code for b in self.breakdowns if b.topic == twice[0])
            raise ProgrammeError(
                f"Table {self.id} uses topic {twice[0]} twice ({codes}). A table can use a topic once. Keep one of "
                "them.",
                topic=twice[0],
            )

    @property
    def population(self) -> str:
        """Return the counted population; tables of one population share their statistics."""
        return f"{self.unit} where {self.universe}" if self.universe else self.unit


@dataclass(frozen=True)
class Programme(NotebookView):
    """A static output: every table with all its margins.

    Attributes:
        name: the name of the programme.
        topics: the topics by name.
        tables: the tables in order of publication.
        notes: the notes on its source.
        areas: the topic whose categories are areas; "" if it has no such topic, None if it does not declare one.
    """

    name: str
    topics: Mapping[str, Topic]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    areas: str | None = None

    def __post_init__(self) -> None:
        if self.areas and self.areas not in self.topics:
            found = UnknownNameError.among("topic", self.areas, self.topics)
            raise ProgrammeError(f"The areas are declared as {self.areas!r}. {found}", topic="areas")
        if not self.tables:
            raise ProgrammeError(f"Programme {self.name!r} has no tables. Add at least one.", topic="")
        twice = [table for table, times in Counter(t.id for t in self.tables).items() if times > 1]
        if twice:
            raise ProgrammeError(f"Table {twice[0]} is defined twice. Give every table its own id.", topic="")

    def __repr__(self) -> str:
        return f"Programme({self.name!r}, {len(self.tables)} tables, {len(self.topics)} topics)"

    def _repr_html_(self) -> str:
        from discreet.programme.summary import rows_of

        rows = ((t.id, t.population, ", ".join(b.code for b in t.breakdowns), f"{rows_of(t):,}") for t in self.tables)
        title = f"Programme {self.name}: {len(self.tables):,} tables, {len(self.topics):,} variables"
        return html_view(title, ("table", "population", "variables", "cells"), rows, len(self.tables))

    @cached_property
    def populations(self) -> dict[str, tuple[Table, ...]]:
        """Return the tables by population, the one with the most tables first."""
        found: dict[str, list[Table]] = {}
        for table in self.tables:
            found.setdefault(table.population, []).append(table)
        return {name: tuple(found[name]) for name in sorted(found, key=lambda n: -len(found[n]))}

    def of(self, population: str | None = None) -> tuple[Table, ...]:
        """Return the tables of one population; by default of the one with the most tables."""
        name = population or next(iter(self.populations))
        if name not in self.populations:
            raise UnknownNameError.among("population", name, self.populations)
        return self.populations[name]

    @cached_property
    def breakdowns(self) -> dict[str, Breakdown]:
        """Return every breakdown in use, by code."""
        return {b.code: b for table in self.tables for b in table.breakdowns}


TOTAL = "_T"
"""The code of the total in every column."""
VALUE = "value"
"""The column of published counts."""
WEIGHTED = "weighted"
"""The column of weighted counts after it, if there are weights."""
LEVEL = "_level"
"""Suffix of a column of levels, which follows the column of codes."""
TOTAL_LEVEL = "total"
"""The level of the total; a topic cannot have this name."""


def code_columns(names: Sequence[str]) -> list[str]:
    """Return the columns of codes of a published table: those before the counts, except columns of levels.

    >>> code_columns(["AGE", "AGE_level", "SEX", "value", "weighted"])
    ['AGE', 'SEX']
    """
    end = next((place for place, name in enumerate(names) if name in (VALUE, WEIGHTED)), len(names))
    found = names[:end]
    return [name for name in found if not (name.endswith(LEVEL) and name.removesuffix(LEVEL) in found)]
