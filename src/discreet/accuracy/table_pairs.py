"""True and published counts of the tables of a release, paired statistic by statistic.

With consistent noise (SPSN), a statistic is compared once, even if several tables show it. If every table has its own
noise, it is compared in every table that shows it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.tabulation.table_grid import population_grids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.arrays import Flags, Ints
    from discreet.release.release import Release
    from discreet.release.true_tables import TrueTables
    from discreet.tabulation.table_grid import LevelChoice, TableGrid

ONCE = "a count that several tables show with the same noise is counted once"
EACH = "every table has independent noise, so a count is counted in each table that shows it"


@dataclass(frozen=True, eq=False)
class StatisticPair:
    """One statistic in one table, with an axis for every topic.

    Attributes:
        name: the name of the statistic.
        table: the layout of the table.
        choice: the levels of its columns.
        true: the true counts; None if unavailable.
        published: the published counts.
        first: whether no earlier table shows the statistic, with any noise.
        alone: whether the table has independent noise, so that cells of other tables are separate noisy counts.
    """

    name: str
    table: TableGrid
    choice: LevelChoice
    true: Ints | None
    published: Ints
    first: bool = True
    alone: bool = False

    @property
    def population(self) -> str:
        """Return the counted population."""
        return self.table.plan.table.population

    @property
    def topics(self) -> tuple[str, ...]:
        """Return the topic of every axis."""
        return tuple(self.table.columns[number].topic for number in self.choice.kept)

    def once(self, counts: Ints) -> Ints:
        """Return the true or published counts of distinct cells.

        A category that is not subdivided has the same code at the next level: the same count with the same noise. A
        category outside the universe of the table has no cell.
        """
        own = self._own
        if own.all():
            return counts
        found: Ints = counts[own]
        return found

    @cached_property
    def _own(self) -> Flags:
        return self.table.own(self.choice, alone=self.alone)

    def codes(self, axis: int) -> list[str]:
        """Return the codes of the categories along an axis."""
        number = self.choice.kept[axis]
        column = self.table.columns[number]
        return [column.codes[label] for label in self.choice.levels[number].labels.tolist()]


@dataclass(frozen=True, eq=False)
class TablePair:
    """One table with true and published counts, and the statistics to compare.

    Attributes:
        grid: the layout of the table.
        true: the true counts over the codes of its columns; None if unavailable.
        published: the published counts.
        statistics: the statistics that no earlier table shows with the same noise.
    """

    grid: TableGrid
    true: Ints | None
    published: Ints
    statistics: tuple[StatisticPair, ...]

    @property
    def finest(self) -> StatisticPair:
        """Return the finest statistic, even if an earlier table shows it with the same noise."""
        deepest = tuple(column.deepest for column in self.grid.columns)
        choice = next(choice for choice in self.grid.choices if choice.depths == deepest)
        return _shown(self.grid, choice, self.true, self.published)


class TablePairs:
    """An iterable over the tables of a release, with their true counts if available.

    Args:
        release: the release.
        truth: the true counts of the release, or None.
    """

    def __init__(self, release: Release, truth: TrueTables | None = None) -> None:
        self._release = release
        self.truth = truth

    @property
    def spsn(self) -> bool:
        """Return whether a count has the same noise in every table."""
        return bool(self._release.description["noise"].get("same_count_same_noise", True))

    @property
    def taken(self) -> str:
        """Return how often a count in several tables is counted, as an assumption."""
        return ONCE if self.spsn else EACH

    @cached_property
    def _grids(self) -> tuple[TableGrid, ...]:
        programme = self._release.programme
        return tuple(grid for tables in programme.populations.values() for grid in population_grids(programme, tables))

    @property
    def tables(self) -> int:
        """Return the number of tables."""
        return len(self._grids)

    def __iter__(self) -> Iterator[TablePair]:
        seen: set[tuple[str, tuple[int, ...]]] = set()
        for grid in self._grids:
            if self.truth is None:
                true, published = None, grid.lay_out(self._release.table(grid.plan.table.id))
            else:
                true, published = self.truth.with_published(grid)
            statistics = []
            for choice in grid.choices:
                key = (grid.plan.table.population, grid.plan.statistic(choice.depths))
                first = key not in seen
                if self.spsn and not first:
                    continue
                seen.add(key)
                shown = _shown(grid, choice, true, published)
                statistics.append(replace(shown, first=first, alone=not self.spsn))
            yield TablePair(grid, true, published, tuple(statistics))


def _shown(grid: TableGrid, choice: LevelChoice, true: Ints | None, published: Ints) -> StatisticPair:
    there = None if true is None else grid.cells(choice, true)
    return StatisticPair(grid.name(choice), grid, choice, there, grid.cells(choice, published))
