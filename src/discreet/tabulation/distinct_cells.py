"""Numbers of statistics and cells of a programme, and the definitions of statistic, cell and published row.

A *statistic* is a choice of one level, or the total, for every topic, counted for one population: one unit and one
universe. It is one statistic, even if several tables contain it.

A *cell* is a combination of categories of a statistic. It is one cell, even if several tables contain it. Two kinds of
combinations are not counted as cells:

- a combination that the universe of the population excludes: no person can be in it, and it has no noise;
- a combination that a coarser published statistic contains under the same codes, because a category is not divided
  further: the coarser statistic already has this cell.

A *published row* is a row of a table file: a cell in one table. A cell in three tables has three rows, and a cell that
is published as 0 has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.tabulation.cell_coordinates import CellCoordinates
from discreet.tabulation.plan import plan

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from discreet.arrays import Flags, Ints
    from discreet.programme.axis import Axis
    from discreet.programme.lattice import Statistic
    from discreet.programme.model import Programme
    from discreet.tabulation.plan import Plan


@dataclass(frozen=True)
class ProgrammeSize:
    """The numbers of statistics and cells of a programme, over all its populations."""

    statistics: int
    cells: int

    @property
    def sentence(self) -> str:
        """Return a sentence with both numbers."""
        statistics = f"{self.statistics:,} {'statistic' if self.statistics == 1 else 'statistics'}"
        return f"The release has {statistics} and {self.cells:,} {'cell' if self.cells == 1 else 'cells'}."


def programme_size(programme: Programme) -> ProgrammeSize:
    """Return the numbers of statistics and cells of a programme, each counted once."""
    statistics = cells = 0
    for tables in programme.populations.values():
        planned = plan(replace(programme, tables=tables), tables)
        distinct = DistinctCells(planned, CellCoordinates(programme, tables[0], ""))
        statistics += len(distinct.published)
        cells += sum(distinct.number(statistic) for statistic in distinct.published)
    return ProgrammeSize(statistics, cells)


@dataclass(frozen=True, eq=False)
class DistinctCells:
    """The cells of one population.

    Attributes:
        plan: the tables of the population.
        places: the coordinates, which determine the combinations that the universe excludes.
    """

    plan: Plan
    places: CellCoordinates

    @cached_property
    def published(self) -> frozenset[Statistic]:
        """Return the statistics of the tables."""
        return frozenset(statistic for table in self.plan.tables for statistic in table.statistics)

    def number(self, statistic: Statistic) -> int:
        """Return the number of cells of a statistic."""
        if self.places.joins_topics:
            return int(self.own(statistic).sum())
        kinds = [self._kinds(number, depth) for number, depth in enumerate(statistic) if depth]
        repeated = _repeated(statistic, [same for same, _ in kinds], self.published)
        times = reduce(np.multiply.outer, [times for _, times in kinds], np.ones((), dtype=np.int64))
        return int(times[~repeated].sum())

    def own(self, statistic: Statistic, among: Collection[Statistic] | None = None) -> Flags:
        """Return a mask of the combinations of categories of a statistic that are cells.

        The mask has an axis for every topic that is not summed over.

        Args:
            statistic: the statistic.
            among: the statistics whose cells are counted once together; by default all of the population.
        """
        shown = [(number, depth) for number, depth in enumerate(statistic) if depth]
        same = [self._same(number, depth) for number, depth in shown]
        possible = [self._possible(number, depth) for number, depth in shown]
        found = reduce(np.logical_and.outer, possible, np.ones((), dtype=bool))
        empty = self.places.jointly_excluded([(self.plan.axes[number], depth) for number, depth in shown])
        found = found if empty is None else found & ~empty
        return found & ~_repeated(statistic, same, self.published if among is None else among)

    def _possible(self, number: int, depth: int) -> Flags:
        return ~self.places.excluded(self.plan.axes[number], depth)

    def _kinds(self, number: int, depth: int) -> tuple[Mapping[int, Flags], Ints]:
        """Return the kinds of possible categories at a depth, by coarser depths with the same code, and their sizes."""
        if (number, depth) not in self._known:
            same = self._same(number, depth)
            rows = np.array([same[coarse] for coarse in same])[:, self._possible(number, depth)]
            kinds, times = np.unique(rows, axis=1, return_counts=True)
            self._known[number, depth] = dict(zip(same, kinds, strict=True)), times
        return self._known[number, depth]

    @cached_property
    def _known(self) -> dict[tuple[int, int], tuple[Mapping[int, Flags], Ints]]:
        return {}

    def _same(self, number: int, depth: int) -> Mapping[int, Flags]:
        """Return for every depth up to this one a mask of the categories with the same code there.

        Depths without such a category are omitted. A depth may have several codes for a category: those of all levels
        with this partition.
        """
        axis = self.plan.axes[number]
        own = self._codes(axis, depth)
        found = {depth: np.ones(len(own), dtype=bool)}
        for coarse in range(1, depth):
            above, up = self._codes(axis, coarse), axis.up(depth, coarse).tolist()
            shared = np.array([not codes.isdisjoint(above[place]) for codes, place in zip(own, up, strict=True)])
            if shared.any():
                found[coarse] = shared
        return found

    def _codes(self, axis: Axis, depth: int) -> list[set[str]]:
        listed = [axis.codes_of(level) for level in axis.partitions[depth - 1]]
        return [set(codes) for codes in zip(*listed, strict=True)]


def _repeated(statistic: Statistic, same: Sequence[Mapping[int, Flags]], published: Collection[Statistic]) -> Flags:
    """Return a mask of the combinations that a coarser published statistic contains under the same codes."""
    found = np.zeros([len(next(iter(depths.values()))) for depths in same], dtype=bool)
    if math.prod(len(depths) for depths in same) == 1:
        return found
    shown = [number for number, depth in enumerate(statistic) if depth]
    for choice in product(*same):
        coarser = list(statistic)
        for number, depth in zip(shown, choice, strict=True):
            coarser[number] = depth
        if tuple(coarser) != statistic and tuple(coarser) in published:
            masks = [depths[depth] for depths, depth in zip(same, choice, strict=True)]
            found |= reduce(np.logical_and.outer, masks, np.ones((), dtype=bool))
    return found
