"""The output of a programme: its tables and the statistics of each, which determine the sensitivity."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.tabulation.distinct_cells import programme_size
from discreet.tabulation.plan import plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.programme.model import Programme
    from discreet.tabulation.plan import PopulationStatistic


@dataclass(frozen=True, eq=False)
class StaticOutput:
    """The tables of a programme, each with its statistics.

    A person is in one cell of every statistic. A person may belong to every population, so the statistics of different
    populations are distinct.

    Attributes:
        statistics: the statistics of each table, each with the name of its population.
        cells: the number of cells of all statistics, including empty cells.
    """

    statistics: Mapping[str, tuple[PopulationStatistic, ...]]
    cells: int = 0

    @cached_property
    def tables_of(self) -> Counter[PopulationStatistic]:
        """Return the number of tables that contain each statistic."""
        return Counter(shown for table in self.statistics.values() for shown in table)

    def sensitivity(self, *, spsn: bool) -> int:
        """Return Delta, the number of noisy counts that one person changes, each by 1.

        With consistent noise (SPSN) a statistic is one count; otherwise, one for every table that contains it.
        """
        return len(self.tables_of) if spsn else self.tables_of.total()


def output_of(programme: Programme) -> StaticOutput:
    """Return the output of a programme."""
    found = {}
    for name, tables in programme.populations.items():
        for table in plan(programme, tables).tables:
            found[table.table.id] = tuple((name, statistic) for statistic in table.statistics)
    return StaticOutput(found, programme_size(programme).cells)
