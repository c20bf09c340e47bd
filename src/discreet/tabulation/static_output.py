"""What an output shows of one person: its tables and the statistics of each."""

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
    """The tables of a programme, each with the statistics it shows.

    A person falls into one cell of every statistic. She may belong to every population, so statistics of different
    ones are different.

    Attributes:
        statistics: by table, the statistics it shows, each with the name of its population.
        cells: the cells of all statistics, empty ones too.
    """

    statistics: Mapping[str, tuple[PopulationStatistic, ...]]
    cells: int = 0

    @cached_property
    def tables_of(self) -> Counter[PopulationStatistic]:
        """Return in how many tables every statistic is shown."""
        return Counter(shown for table in self.statistics.values() for shown in table)

    def sensitivity(self, *, spsn: bool) -> int:
        """Return Delta, the number of noisy counts that one person changes, each by 1.

        With the same noise in every table a statistic is one count, else one for every table that shows it.
        """
        return len(self.tables_of) if spsn else self.tables_of.total()


def output_of(programme: Programme) -> StaticOutput:
    """Return what a programme shows."""
    found = {}
    for name, tables in programme.populations.items():
        for table in plan(programme, tables).tables:
            found[table.table.id] = tuple((name, statistic) for statistic in table.statistics)
    return StaticOutput(found, programme_size(programme).cells)
