"""One table as an array over the codes of its columns, with the equations between parts and totals.

Every statistic of the table is a selection of these codes, one level per column. Along a
column the cells of a coarse level are sums of those of the next finer level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.programme.lattice import statistic_name
from discreet.programme.model import TOTAL, VALUE, WEIGHTED
from discreet.tabulation.cell_coordinates import CellCoordinates
from discreet.tabulation.distinct_cells import DistinctCells
from discreet.tabulation.plan import plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from discreet.arrays import Flags, Ints
    from discreet.programme.axis import Axis, ColumnLevel, Runs, TableColumn
    from discreet.programme.model import Programme, Table
    from discreet.tabulation.plan import TablePlan

BELONG = "Use the files of the release."
MOST_CELLS = 200_000_000
"""Maximum number of cells of a table as an array, including empty cells."""


@dataclass(frozen=True, eq=False)
class LevelChoice:
    """One statistic of a table: a level of every column.

    Attributes:
        depths: the depth of each level on the axis of its topic; 0 is the total.
        levels: the level of each column.
    """

    depths: tuple[int, ...]
    levels: tuple[ColumnLevel, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """Return the columns that are not summed over."""
        return tuple(number for number, depth in enumerate(self.depths) if depth)


@dataclass(frozen=True, eq=False)
class LevelSum:
    """The equations along one column: every category of a coarse level is the sum of categories of a finer level.

    Attributes:
        column: the index of the column.
        coarse: the indices of the codes of the coarse level in the column.
        fine: the indices of the codes of the fine level in the column.
        runs: the assignment of fine categories to coarse categories.
    """

    column: int
    coarse: Ints
    fine: Ints
    runs: Runs


@dataclass(frozen=True, eq=False)
class TableGrid:
    """The array layout of a table.

    Attributes:
        plan: the table with its columns.
        axes: the axis of every topic.
        distinct: the cells of the population.
    """

    plan: TablePlan
    axes: tuple[Axis, ...]
    distinct: DistinctCells

    @property
    def columns(self) -> tuple[TableColumn, ...]:
        """Return the columns of the table."""
        return self.plan.columns

    def axis(self, column: int) -> Axis:
        """Return the axis of the topic of a column."""
        return self.axes[self.plan.places[column]]

    def lay_out(self, rows: pa.Table) -> Ints:
        """Return the published or true values of a table as an array over codes; a cell without a row is 0."""
        if self.plan.cells > MOST_CELLS:
            raise InputError(
                f"Table {self.plan.table.id} has {self.plan.cells:,} cells; the maximum is {MOST_CELLS:,}. "
                "Use a release with coarser tables."
            )
        place = np.zeros(rows.num_rows, dtype=np.int64)
        for column in self.columns:
            place = place * len(column.codes) + _numbers(rows, column, self.plan.table.id)
        shape = tuple(len(column.codes) for column in self.columns)
        grid = np.zeros(shape, dtype=np.int64)
        grid.reshape(-1)[place] = _values(rows, self.plan.table.id)
        return grid

    @cached_property
    def choices(self) -> tuple[LevelChoice, ...]:
        """Return the statistics of the table, each once."""
        found: dict[tuple[int, ...], LevelChoice] = {}
        for levels in product(*(column.levels for column in self.columns)):
            depths = tuple(level.depth for level in levels)
            found.setdefault(depths, LevelChoice(depths, levels))
        return tuple(found.values())

    def cells(self, choice: LevelChoice, grid: Ints) -> Ints:
        """Return the cells of a statistic, with an axis for each column that is not summed over."""
        block = grid[np.ix_(*(level.labels.astype(np.int64) for level in choice.levels))]
        found: Ints = block[tuple(slice(None) if depth else 0 for depth in choice.depths)]
        return found

    def own(self, choice: LevelChoice, *, alone: bool = False) -> Flags:
        """Return a mask of the combinations of categories of a statistic that are cells (see `DistinctCells.own`).

        Args:
            choice: the statistic.
            alone: whether to consider only the statistics of this table, not those of the whole population.
        """
        found = self.distinct.own(self.plan.statistic(choice.depths), self.plan.statistics if alone else None)
        axes = sorted(self.plan.places[number] for number in choice.kept)
        return np.transpose(found, [axes.index(self.plan.places[number]) for number in choice.kept])

    def name(self, choice: LevelChoice) -> str:
        """Return the name of a statistic in the lattice of the programme."""
        return statistic_name(self.axes, self.plan.statistic(choice.depths))

    @cached_property
    def folds(self) -> tuple[LevelSum, ...]:
        """Return the equations along every column, from each depth to the next."""
        found = []
        for number, column in enumerate(self.columns):
            by_depth: dict[int, Ints] = {}
            for level in column.levels:
                by_depth.setdefault(level.depth, level.labels.astype(np.int64))
            for coarse, fine in pairwise(sorted(by_depth)):
                runs = self.axis(number).runs(fine, coarse)
                found.append(LevelSum(number, by_depth[coarse], by_depth[fine], runs))
        return tuple(found)

    def gaps(self, fold: LevelSum, grid: Ints) -> Ints:
        """Return total minus sum of parts, for every code of the coarse level and all codes of the other columns."""
        fine = fold.fine if fold.runs.order is None else fold.fine[fold.runs.order]
        parts = np.take(grid, fine, axis=fold.column)
        sums = np.add.reduceat(parts, fold.runs.starts[:-1], axis=fold.column)
        found: Ints = np.take(grid, fold.coarse, axis=fold.column) - sums
        return found

    def words(self, place: Sequence[int]) -> str:
        """Return the codes of a cell for messages, such as `GEO LU001, SEX F`, without totals."""
        kept = [
            f"{column.topic} {column.codes[number]}"
            for column, number in zip(self.columns, place, strict=True)
            if column.codes[number] != TOTAL
        ]
        return ", ".join(kept) or "the total"


def population_grids(programme: Programme, tables: Sequence[Table]) -> tuple[TableGrid, ...]:
    """Return the grids of the tables of one population, with common axes."""
    found = plan(replace(programme, tables=tuple(tables)), tables)
    distinct = DistinctCells(found, CellCoordinates(programme, tables[0], ""))
    return tuple(TableGrid(each, found.axes, distinct) for each in found.tables)


def _values(rows: pa.Table, table: str) -> Ints:
    """Return the counts of a table, or refuse a table without unweighted counts."""
    import pyarrow as pa

    if VALUE not in rows.column_names and WEIGHTED in rows.column_names:
        raise InputError(
            f"Table {table} contains only weighted counts, but unweighted counts are required. Make the release "
            "without --weighted-only."
        )
    if VALUE not in rows.column_names or not pa.types.is_integer(rows[VALUE].type) or rows[VALUE].null_count:
        raise InputError(f"Table {table} has no column {VALUE} of whole numbers. {BELONG}")
    counts: Ints = rows[VALUE].to_numpy().astype(np.int64)
    return counts


def _numbers(rows: pa.Table, column: TableColumn, table: str) -> Ints:
    """Return the index of every row's code among the codes of the column."""
    import pyarrow as pa

    if column.name not in rows.column_names:
        raise InputError(f"Table {table} has no column {column.name}. {BELONG}")
    found = code_numbers(rows[column.name].combine_chunks(), pa.array(column.codes))
    if found is None:
        what = f"Table {table} has codes in column {column.name} that its programme does not define."
        raise InputError(f"{what} {BELONG}")
    return found


def code_numbers(values: pa.Array, codes: pa.Array) -> Ints | None:
    """Return the index of every value among these codes; None if a value is not among them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        found = pc.take(pc.index_in(values.dictionary.cast(pa.string()), codes), values.indices)
    else:
        found = pc.index_in(values.cast(pa.string()), codes)
    numbers: Ints | None = None if found.null_count else found.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
