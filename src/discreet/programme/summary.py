"""Summary of a programme: sizes of tables, statistics that tables share, and labels of statistics."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.programme.lattice import lattice

if TYPE_CHECKING:
    from discreet.programme.model import Breakdown, Level, Programme, Table, Topic


@dataclass(frozen=True)
class TableSize:
    """One table: its breakdowns, its maximum number of rows with all margins, and whether it is maximal."""

    id: str
    breakdowns: tuple[str, ...]
    rows: int
    maximal: bool

    def to_json(self) -> dict[str, Any]:
        """Return the table as a JSON object."""
        return {"id": self.id, "breakdowns": list(self.breakdowns), "rows": self.rows, "maximal": self.maximal}


def rows_of(table: Table) -> int:
    """Return the maximum number of rows of a table: one for every combination of the codes of its breakdowns."""
    return prod(_codes(breakdown) for breakdown in table.breakdowns)


def _codes(breakdown: Breakdown) -> int:
    """Return the number of distinct codes including the total; levels without a list of codes share no codes."""
    listed = {code for level in breakdown.levels for code in level.codes or ()}
    unlisted = sum(level.size for level in breakdown.levels if level.codes is None)
    return (breakdown.total or not breakdown.levels) + len(listed) + unlisted


def table_sizes(programme: Programme, population: str | None = None) -> list[TableSize]:
    """Return the tables of a population; a table is maximal if no other table publishes all its statistics."""
    tables = programme.of(population)
    offers = [{level for b in table.breakdowns for level in b.levels} for table in tables]
    found = []
    for number, table in enumerate(tables):
        # Of two tables with the same statistics, the first one is maximal.
        contained = any(
            offers[number] < other or (offers[number] == other and place < number)
            for place, other in enumerate(offers)
            if place != number
        )
        codes = tuple(b.code for b in table.breakdowns)
        found.append(TableSize(table.id, codes, rows_of(table), not contained))
    return found


@dataclass(frozen=True)
class SharedStatistic:
    """A statistic and the number of tables that publish it."""

    name: str
    tables: int
    cells: int

    def to_json(self) -> dict[str, Any]:
        """Return the statistic as a JSON object."""
        return {"statistic": self.name, "tables": self.tables, "cells": self.cells}


def shared_statistics(
    programme: Programme, rule: str = "levels", *, keep_single: bool = False, population: str | None = None
) -> list[SharedStatistic]:
    """Return every published statistic, those in the most tables first."""
    found = lattice(programme, rule, keep_single=keep_single, population=population)
    names = found.names()
    order = np.flatnonzero(found.published)
    order = order[np.lexsort((found.cells[order], -found.tables[order]))]
    return [SharedStatistic(names[k], int(found.tables[k]), int(found.cells[k])) for k in order.tolist()]


LANGUAGE = "en"
TOTAL = "the total"
BY, OF = " by ", " of "


def topic_words(topic: Topic) -> str:
    """Return the label of a topic for use within a sentence, or its name if it has no label."""
    label = topic.labels.get(LANGUAGE, "")
    return f"{label[0].lower()}{label[1:]}" if label else topic.name


def all_category_words(topic: Topic) -> dict[str, str]:
    """Return the label of every category of a topic, or its code if it has no label."""
    categories = topic.tree.categories if topic.tree else ()
    return {category.code: category.labels.get(LANGUAGE, "") or category.code for category in categories}


def statistic_label(programme: Programme, name: str) -> str:
    """Return a statistic in words; for a topic with several levels, with the number of categories.

    Names that are not levels, as under the rule `flat`, stay unchanged, and so does the population of a statistic.

    >>> from discreet.programme.programme_files import load_programme
    >>> statistic_label(load_programme("eu2021:LU"), "AGE.L SEX")
    'age (6 groups) by sex'
    """
    name, of, population = name.partition(OF)
    if name == "total":
        return f"{TOTAL}{of}{population}"
    levels = {level.name: level for topic in programme.topics.values() for level in topic.levels}
    words = BY.join(_level(programme, levels[part]) if part in levels else part for part in name.split())
    return f"{words}{of}{population}"


def _level(programme: Programme, level: Level) -> str:
    topic = programme.topics[level.topic]
    words = topic_words(topic)
    return words if len(topic.levels) == 1 else f"{words} ({level.size} groups)"
