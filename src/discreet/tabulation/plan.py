"""The counting plan of a set of tables: every statistic once, and the source of each.

A statistic is a tuple of depths, one per axis, as in the lattice of a programme: 0 is
the total. The maximal tables of a population are counted from the records. A table
whose finest statistic is coarser than that of another table is aggregated from it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, product
from typing import TYPE_CHECKING

from discreet.programme.axis import counted_axes
from discreet.programme.lattice import Statistic, contains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.programme.axis import Axis, TableColumn
    from discreet.programme.model import Programme, Table

PopulationStatistic = tuple[str, Statistic]
"""A population and one of its statistics."""


@dataclass(frozen=True, eq=False)
class TablePlan:
    """One table: its columns, and the statistic for every choice of one level per column.

    Attributes:
        table: the table.
        columns: the columns of the table.
        places: the axis of every column.
        axes: the number of axes.
    """

    table: Table
    columns: tuple[TableColumn, ...]
    places: tuple[int, ...]
    axes: int

    def statistic(self, depths: Sequence[int]) -> Statistic:
        """Return the statistic with these depths of the columns."""
        found = [0] * self.axes
        for place, depth in zip(self.places, depths, strict=True):
            found[place] = depth
        return tuple(found)

    @cached_property
    def base(self) -> Statistic:
        """Return the finest statistic, from which all others can be aggregated."""
        return self.statistic([column.deepest for column in self.columns])

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """Return the statistics of the table, finer ones first."""
        found = {self.statistic(choice) for choice in product(*(column.depths for column in self.columns))}
        return tuple(sorted(found, key=lambda statistic: (-sum(statistic), statistic)))

    @property
    def cells(self) -> int:
        """Return the number of cells of the table, including empty cells."""
        return math.prod(len(column.codes) for column in self.columns)


@dataclass(frozen=True, eq=False)
class Plan:
    """The tables of one population, their axes, and the statistics that are counted from records.

    Attributes:
        axes: the axes of the topics, in the order of the columns of the tables if the tables agree.
        tables: the tables in the order of computation.
    """

    axes: tuple[Axis, ...]
    tables: tuple[TablePlan, ...]

    def shape(self, statistic: Statistic) -> tuple[int, ...]:
        """Return the number of categories along every axis that is not summed over."""
        found = self._shapes.get(statistic)
        if found is None:
            found = tuple(axis.size(depth) for axis, depth in zip(self.axes, statistic, strict=True) if depth)
            self._shapes[statistic] = found
        return found

    def size(self, statistic: Statistic) -> int:
        """Return the number of cells of a statistic, including empty cells."""
        return math.prod(self.shape(statistic))

    @cached_property
    def _shapes(self) -> dict[Statistic, tuple[int, ...]]:
        return {}

    @cached_property
    def maximal(self) -> tuple[Statistic, ...]:
        """Return the finest statistics of tables that no other table contains, in the order of the tables."""
        bases = list(dict.fromkeys(table.base for table in self.tables))
        return tuple(base for base in bases if not any(contains(other, base) for other in bases if other != base))

    def counted_in(self, base: Statistic) -> Statistic:
        """Return the smallest maximal statistic that contains the finest statistic of a table, or itself."""
        return min((other for other in self.maximal if contains(other, base)), key=self.size)

    @cached_property
    def uses(self) -> Counter[Statistic]:
        """Return how often each statistic is needed: by the tables that contain it, and to aggregate other tables."""
        found = Counter(statistic for table in self.tables for statistic in table.statistics)
        found.update(source for base, source in self.sources.items() if source != base)
        return found

    @cached_property
    def sources(self) -> dict[Statistic, Statistic]:
        """Return the maximal statistic from which the finest statistic of every table is computed, in table order.

        The finest statistic of a table has no entry if it is a margin of an earlier table.
        """
        found: dict[Statistic, Statistic] = {}
        shown: set[Statistic] = set()
        for table in self.tables:
            if table.base not in shown:
                found[table.base] = self.counted_in(table.base)
            shown.update(table.statistics)
        return found

    def parent(self, table: TablePlan, statistic: Statistic) -> tuple[Statistic, int]:
        """Return the smallest statistic of the table that is one step finer, and the axis of that step."""
        growth = {}
        for place, column in zip(table.places, table.columns, strict=True):
            finer = column.finer.get(statistic[place])
            if finer is not None:
                # Sizes are products: the smallest parent has the smallest growth factor.
                growth[self.axes[place].size(finer) / self.axes[place].size(statistic[place]), place] = finer
        (_, place), finer = min(growth.items())
        return (*statistic[:place], finer, *statistic[place + 1 :]), place


def plan(programme: Programme, tables: Sequence[Table]) -> Plan:
    """Return the plan for the tables of one population; the axes have the levels of all tables of the programme."""
    by_topic = counted_axes(programme)
    order = _axis_order(tables)
    axes = tuple(by_topic[topic] for topic in order)
    place = {topic: number for number, topic in enumerate(order)}
    found = []
    for table in tables:
        shown = tuple(by_topic[breakdown.topic].column(breakdown) for breakdown in table.breakdowns)
        found.append(TablePlan(table, shown, tuple(place[column.topic] for column in shown), len(axes)))
    return Plan(axes, tuple(found))


def _axis_order(tables: Sequence[Table]) -> list[str]:
    """Return the topics in an order that agrees with the columns of all tables, or by first use if the tables disagree.

    Cells are sorted by axis; a table with columns in axis order needs no additional sorting.
    """
    before: dict[str, set[str]] = {}
    for table in tables:
        topics = [breakdown.topic for breakdown in table.breakdowns]
        for topic in topics:
            before.setdefault(topic, set())
        for first, second in pairwise(topics):
            before[second].add(first)
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError:
        return list(before)
