"""The cells of one population in one vector, with every statistic once, even if several tables contain it.

The order is that of the margin equations: by statistic, and within a statistic by the
categories of its axes. A table is an array over the codes of its columns; each of its
statistics is a selection of these codes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.joint_equations import JointEquations
from discreet.equations.margin_equations import MarginEquations
from discreet.programme.lattice import lattice, publishes_meets
from discreet.tabulation.table_grid import population_grids

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.tabulation.table_grid import LevelChoice, TableGrid


ALL_UNIVERSES = "{} of all universes"


@dataclass(frozen=True, eq=False)
class CellVector:
    """The positions of the cells of a population's tables in a vector.

    Attributes:
        name: the name of the population.
        programme: the programme with only the tables of the population.
        spsn: whether a statistic has the same noise in all tables.
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
        """Return the equations between the cells."""
        return MarginEquations(self.lattice, self.spsn)

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
        """Return the value of every cell; if tables have different noise, the mean over tables."""
        return self.vector_of(lambda grid: grid.lay_out(read(grid.plan.table.id)))

    def vector_of(self, laid_out: Callable[[TableGrid], Ints]) -> Floats:
        """Return the value of every cell from arrays of tables; if these have different noise, the mean over tables."""
        total, times = np.zeros(self.cells), np.zeros(self.cells, dtype=np.int16)
        for table in self._grids:
            values = laid_out(table)
            for choice in table.choices:
                place = self._place(table, choice)
                # With SPSN all tables have the same values, so the first is sufficient.
                if place is None or (self.spsn and times[place][0]):
                    continue
                total[place] += self._in_order(table, choice, values)
                times[place] += 1
        return total / np.maximum(times, 1)

    @cached_property
    def _grids(self) -> tuple[TableGrid, ...]:
        return population_grids(self.programme, self.programme.tables)

    def _place(self, table: TableGrid, choice: LevelChoice) -> slice | None:
        depths = {table.columns[number].topic: choice.depths[number] for number in choice.kept}
        statistic = self._positions.get(tuple(depths.get(axis.name, 0) for axis in self.lattice.axes))
        return None if statistic is None else self.equations.cells_of(statistic)

    @cached_property
    def _positions(self) -> dict[tuple[int, ...], int]:
        return {tuple(self.lattice.depths[s].tolist()): s for s in self.equations.statistics.tolist()}

    def _in_order(self, table: TableGrid, choice: LevelChoice, values: Ints) -> Ints:
        """Return the cells of one statistic in the order of the lattice's axes."""
        order = {axis.name: number for number, axis in enumerate(self.lattice.axes)}
        axes = np.argsort([order[table.columns[number].topic] for number in choice.kept])
        return np.transpose(table.cells(choice, values), axes).ravel()


@dataclass(frozen=True, eq=False)
class JointLayout:
    """The cells of all populations of one unit, one population after the other.

    Attributes:
        name: the name of the layout.
        programme: the programme with only the tables of the unit.
        layouts: the layouts of its populations, in order.
        spsn: whether a statistic has the same noise in all tables.
    """

    name: str
    programme: Programme
    layouts: tuple[CellVector, ...]
    spsn: bool

    @cached_property
    def equations(self) -> JointEquations:
        """Return the equations between all cells, including those across universes."""
        return JointEquations(self.programme, self.spsn)

    @property
    def cells(self) -> int:
        """Return the number of cells of all statistics."""
        return self.equations.cells

    @cached_property
    def names(self) -> list[str]:
        """Return the name of every published statistic, with its population, in order."""
        if len(self.layouts) == 1:
            return self.layouts[0].names
        return [f"{name} of {layout.name}" for layout in self.layouts for name in layout.names]

    @cached_property
    def statistic_of(self) -> NDArray[np.int32]:
        """Return for every cell the number of its statistic in `names`."""
        starts = np.cumsum([0, *(len(layout.names) for layout in self.layouts)], dtype=np.int32)
        parts = zip(self.layouts, starts[:-1], strict=True)
        return np.concatenate([layout.statistic_of + start for layout, start in parts])

    def vector_of(self, laid_out: Callable[[TableGrid], Ints]) -> Floats:
        """Return the value of every cell from arrays of tables."""
        return np.concatenate([layout.vector_of(laid_out) for layout in self.layouts])

    def vector(self, read: Callable[[str], pa.Table]) -> Floats:
        """Return the value of every cell; if tables have different noise, the mean over tables."""
        return np.concatenate([layout.vector(read) for layout in self.layouts])


def unit_layouts(programme: Programme, *, spsn: bool) -> dict[str, CellVector | JointLayout]:
    """Return the layout of every unit, with all its universes; the unit with the most tables comes first.

    A unit with a single population without a universe, whose margin equations are complete, has the layout and name of
    that population.
    """
    single = layouts(programme, spsn=spsn)
    units: dict[str, list[CellVector]] = {}
    for layout in single.values():
        units.setdefault(layout.programme.tables[0].unit, []).append(layout)
    found: dict[str, CellVector | JointLayout] = {}
    for unit, own in units.items():
        if len(own) == 1 and not own[0].programme.tables[0].universe and publishes_meets(own[0].programme):
            found[own[0].name] = own[0]
            continue
        tables = tuple(table for table in programme.tables if table.unit == unit)
        name = ALL_UNIVERSES.format(unit)
        found[name] = JointLayout(name, replace(programme, tables=tables), tuple(own), spsn)
    return found


def layouts(programme: Programme, *, spsn: bool) -> dict[str, CellVector]:
    """Return the layout of every population of a programme; the one with the most tables comes first."""
    return {
        name: CellVector(name, replace(programme, tables=tables), spsn)
        for name, tables in programme.populations.items()
    }
