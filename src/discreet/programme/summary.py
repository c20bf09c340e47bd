"""What a programme publishes, counted: sizes, shared statistics, maximal tables."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.programme.lattice import lattice

if TYPE_CHECKING:
    from discreet.programme.model import Programme, Table


@dataclass(frozen=True)
class TableSize:
    """One table: its breakdowns, its cells with all margins, and whether another table contains it."""

    id: str
    breakdowns: tuple[str, ...]
    cells: int
    maximal: bool

    def to_json(self) -> dict[str, Any]:
        """Return the table as a JSON object."""
        return {"id": self.id, "breakdowns": list(self.breakdowns), "cells": self.cells, "maximal": self.maximal}


def cells_of(table: Table) -> int:
    """Return the cells of a table with all its margins: the product of total and all levels, as far as published."""
    return prod(b.total + sum(level.size for level in b.levels) for b in table.breakdowns)


def table_sizes(programme: Programme, population: str | None = None) -> list[TableSize]:
    """Return the tables of a population; one is maximal if no other table publishes all it does."""
    tables = programme.of(population)
    offers = [{level for b in table.breakdowns for level in b.levels} for table in tables]
    found = []
    for number, table in enumerate(tables):
        # Of two tables that publish the same, the first is the maximal one.
        contained = any(
            offers[number] < other or (offers[number] == other and place < number)
            for place, other in enumerate(offers)
            if place != number
        )
        codes = tuple(b.code for b in table.breakdowns)
        found.append(TableSize(table.id, codes, cells_of(table), not contained))
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
    """Return every published statistic, those that come back most often first."""
    found = lattice(programme, rule, keep_single=keep_single, population=population)
    names = found.names()
    order = np.flatnonzero(found.published)
    order = order[np.lexsort((found.cells[order], -found.tables[order]))]
    return [SharedStatistic(names[k], int(found.tables[k]), int(found.cells[k])) for k in order.tolist()]
