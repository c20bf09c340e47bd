"""True and published counts of the tables of a release, paired statistic by statistic.

With consistent noise (SPSN) a statistic is compared once, whichever tables show it. If every table has its own noise,
it is compared each time it is shown.
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

ONCE = "a count that several tables show with the same noise is taken once"
EACH = "every table has noise of its own, so a count is taken in each table that shows it"


@dataclass(frozen=True, eq=False)
class StatisticPair:
    """One statistic as one table shows it, with an axis for every topic.

    Attributes:
        name: of the statistic.
        table: the table, laid out.
        choice: the levels of its columns.
        true: true counts, None where they are not at hand.
        published: published counts.
        first: whether no earlier table shows it, with whatever noise.
        alone: whether its table has noise of its own, so that cells of other tables are other noisy counts.
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
        """Return what is counted."""
        return self.table.plan.table.population

    @property
    def topics(self) -> tuple[str, ...]:
        """Return the topic of every axis."""
        return tuple(self.table.columns[number].topic for number in self.choice.kept)

    def once(self, counts: Ints) -> Ints:
        """Return the cells of true or published counts that are cells of their own.

        A category that is not split again stands under the same code at the next level: one count, one noise. Where
        the universe of the table leaves a category empty, there is no cell at all.
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
    """One table, true beside published, and those of its statistics that are looked at here.

    Attributes:
        grid: how it is laid out.
        true: true counts over the codes of its columns, None where they are not at hand.
        published: published counts.
        statistics: those that no earlier table showed with the same noise.
    """

    grid: TableGrid
    true: Ints | None
    published: Ints
    statistics: tuple[StatisticPair, ...]

    @property
    def finest(self) -> StatisticPair:
        """Return its finest statistic, also where an earlier table showed it with the same noise."""
        deepest = tuple(column.deepest for column in self.grid.columns)
        choice = next(choice for choice in self.grid.choices if choice.depths == deepest)
        return _shown(self.grid, choice, self.true, self.published)


class TablePairs:
    """The tables of a release one after the other, with their true counts where these are at hand.

    Args:
        release: the release.
        truth: its true counts, or None.
    """

    def __init__(self, release: Release, truth: TrueTables | None = None) -> None:
        self._release = release
        self.truth = truth

    @property
    def spsn(self) -> bool:
        """Say whether a count has the same noise in every table."""
        return bool(self._release.description["noise"].get("same_count_same_noise", True))

    @property
    def taken(self) -> str:
        """Return how often a count is taken that several tables show, an assumption of whatever is counted here."""
        return ONCE if self.spsn else EACH

    @cached_property
    def _grids(self) -> tuple[TableGrid, ...]:
        programme = self._release.programme
        return tuple(grid for tables in programme.populations.values() for grid in population_grids(programme, tables))

    @property
    def tables(self) -> int:
        """Return how many tables there are."""
        return len(self._grids)

    def __iter__(self) -> Iterator[TablePair]:
        seen: set[tuple[str, tuple[int, ...]]] = set()
        for grid in self._grids:
            if self.truth is None:
                true, published = None, grid.lay_out(self._release.table(grid.plan.table.id))
            else:
                true, published = self.truth.beside(grid)
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
