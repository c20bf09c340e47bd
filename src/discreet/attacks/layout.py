"""The cells of one population in one vector: every statistic once, whichever tables show it.

The order is that of the margin equations: statistic by statistic, and within one by the
categories of its axes. A table is laid out over the codes of its columns; each of its
statistics is then a choice of these codes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.margins import MarginEquations
from discreet.errors import InputError
from discreet.programme.lattice import lattice
from discreet.programme.published import VALUE
from discreet.tabulation.plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.tabulation.axes import Column, Published
    from discreet.tabulation.plan import Plan, TablePlan

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

BELONG = "Take the files that belong to the release."
MOST_CELLS = 200_000_000
"""Cells of the largest table that is laid out, empty ones too."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the cells of a population's tables stand.

    Attributes:
        name: the population.
        programme: the programme with its tables alone.
        spsn: whether a statistic has one noise in all tables.
    """

    name: str
    programme: Programme
    spsn: bool

    @cached_property
    def lattice(self) -> Lattice:
        """Return the statistics."""
        return lattice(self.programme)

    @cached_property
    def equations(self) -> MarginEquations:
        """Return the equations between their cells."""
        return MarginEquations(self.lattice, self.spsn)

    @cached_property
    def _plan(self) -> Plan:
        return plan(self.programme, self.programme.tables)

    @property
    def cells(self) -> int:
        """Return the number of cells of all statistics."""
        return self.equations.cells

    @cached_property
    def names(self) -> list[str]:
        """Return the name of every published statistic, in order."""
        names = self.lattice.names()
        return [names[statistic] for statistic in self.equations.statistics.tolist()]

    @cached_property
    def statistic_of(self) -> NDArray[np.int32]:
        """Return for every cell the number of its statistic in `names`."""
        sizes = self.lattice.cells[self.equations.statistics].astype(np.int64)
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def vector(self, read: Callable[[str], pa.Table]) -> Floats:
        """Return the value of every cell; where tables have different noise, the mean over them."""
        total, times = np.zeros(self.cells), np.zeros(self.cells, dtype=np.int16)
        for table in self._plan.tables:
            grid = _grid(table, read(table.table.id))
            for place, values in self._statistics(table, grid):
                # With SPSN every table shows the same: the first is as good as the mean.
                if self.spsn and times[place][0]:
                    continue
                total[place] += values
                times[place] += 1
        return total / np.maximum(times, 1)

    def _statistics(self, table: TablePlan, grid: Floats) -> list[tuple[slice, Floats]]:
        """Return where each statistic of a table stands, and its cells."""
        found = {}
        for choice in product(*(column.levels for column in table.columns)):
            depths = dict(zip((column.topic for column in table.columns), (lev.depth for lev in choice), strict=True))
            place = self._place(depths)
            if place is None or place.start in found:
                continue
            found[place.start] = (place, self._cells(table.columns, choice, grid))
        return list(found.values())

    def _place(self, depths: dict[str, int]) -> slice | None:
        row = tuple(depths.get(axis.name, 0) for axis in self.lattice.axes)
        statistic = self._positions.get(row)
        return None if statistic is None else self.equations.cells_of(statistic)

    @cached_property
    def _positions(self) -> dict[tuple[int, ...], int]:
        return {tuple(self.lattice.depths[s].tolist()): s for s in self.equations.statistics.tolist()}

    def _cells(self, columns: Sequence[Column], choice: Sequence[Published], grid: Floats) -> Floats:
        """Return the cells of one statistic in the order of the lattice's axes."""
        block = grid[np.ix_(*(level.labels.astype(np.int64) for level in choice))]
        order = {axis.name: number for number, axis in enumerate(self.lattice.axes)}
        kept = [n for n, (column, level) in enumerate(zip(columns, choice, strict=True)) if level.depth]
        dropped = tuple(n for n in range(len(columns)) if n not in kept)
        block = block[tuple(0 if n in dropped else slice(None) for n in range(len(columns)))]
        return np.transpose(block, np.argsort([order[columns[n].topic] for n in kept])).ravel()

    def codes(self, place: int) -> str:
        """Return what a cell is called: its levels with their codes."""
        number = int(self.statistic_of[place])
        statistic = int(self.equations.statistics[number])
        shape = self.equations.shape(statistic)
        inside = np.unravel_index(place - self.equations.place(statistic), shape)
        words = []
        for axis, depth, at in zip(self.lattice.axes, self.lattice.depths[statistic].tolist(), inside, strict=True):
            codes = axis.codes[depth - 1] if depth else None
            if codes:
                words.append(f"{axis.name}={codes[int(at)]}")
        return " ".join(words) or "the total"


def layouts(programme: Programme, *, spsn: bool) -> dict[str, Layout]:
    """Return the layout of every population of a programme, the one with most tables first."""
    return {
        name: Layout(name, replace(programme, tables=tables), spsn) for name, tables in programme.populations.items()
    }


def table_grids(programme: Programme, table: str) -> Callable[[pa.Table], Floats]:
    """Return what lays a table, published or true, out over the codes of its columns."""
    wanted = next(each for each in programme.tables if each.id == table)
    found = plan(programme, [wanted]).tables[0]
    return lambda rows: _grid(found, rows)


def _grid(table: TablePlan, rows: pa.Table) -> Floats:
    """Return the values of a table by the codes of its columns; a cell without a row is 0."""
    shape = tuple(len(column.codes) for column in table.columns)
    if table.cells > MOST_CELLS:
        raise InputError(
            f"Table {table.table.id} has {table.cells:,} cells; attacks lay out up to {MOST_CELLS:,}. "
            "Attack a release of fewer or coarser tables."
        )
    place = np.zeros(rows.num_rows, dtype=np.int64)
    for column in table.columns:
        place = place * len(column.codes) + _numbers(rows, column, table.table.id)
    grid = np.zeros(shape).ravel()
    grid[place] = _values(rows, table.table.id)
    return grid.reshape(shape)


def _values(rows: pa.Table, table: str) -> Floats:
    """Return the counts of a table, or refuse what are none."""
    import pyarrow as pa

    if VALUE not in rows.column_names or not pa.types.is_integer(rows[VALUE].type) or rows[VALUE].null_count:
        raise InputError(f"Table {table} has no column {VALUE} of whole numbers. {BELONG}")
    counts: Floats = rows[VALUE].to_numpy().astype(np.float64)
    return counts


def _numbers(rows: pa.Table, column: Column, table: str) -> Ints:
    """Return the number of every row's code among those of the column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(column.codes)
    if column.name not in rows.column_names:
        raise InputError(f"Table {table} has no column {column.name}. {BELONG}")
    values = rows[column.name].combine_chunks()
    if pa.types.is_dictionary(values.type):
        places = pc.index_in(values.dictionary.cast(pa.string()), known)
        found = pc.take(places, values.indices)
    else:
        found = pc.index_in(values.cast(pa.string()), known)
    if found.null_count:
        raise InputError(f"Table {table} has codes in column {column.name} that its programme does not know. {BELONG}")
    numbers: Ints = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
