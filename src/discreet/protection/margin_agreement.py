"""Consistency check of pre-tabulated tables: a statistic that several tables contain must have the same counts.

The finest common statistic of two tables has the smaller of their depths on every axis. If its cells agree, the cells
of all coarser statistics agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DisagreementError
from discreet.programme.lattice import contains, statistic_name
from discreet.tabulation.counting import ROWS, CodedRecords

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discreet.arrays import Ints
    from discreet.engines.engine import Engine
    from discreet.programme.lattice import Statistic
    from discreet.tabulation.plan import Plan


@dataclass(frozen=True, eq=False)
class Agreement:
    """The pre-tabulated tables of one population.

    Attributes:
        plan: the tables.
        places: the engine's table with the finest cells of each table, by id; tables without one are not compared.
        columns: the coded column of a level, by the level's name.
        engine: the engine that contains the cells.
    """

    plan: Plan
    places: Mapping[str, str]
    columns: Mapping[str, str]
    engine: Engine

    def check(self) -> None:
        """Refuse inconsistent tables.

        Raises:
            DisagreementError: if two tables differ; it names the coarsest statistic in which they do.
        """
        agreed: list[tuple[Statistic, str, str]] = []
        for common in self._common_statistics:
            # Skip tables that already agree in a finer statistic.
            known = [pair for finer, *pair in agreed if contains(finer, common)]
            first, *others = _representatives(
                [name for name, base in self._bases.items() if contains(base, common)], known
            )
            for other in others:
                self._compare(first, other, common)
                agreed.append((common, first, other))

    @cached_property
    def _bases(self) -> dict[str, Statistic]:
        return {table.table.id: table.base for table in self.plan.tables if table.table.id in self.places}

    @property
    def _common_statistics(self) -> list[Statistic]:
        """Return the finest common statistics of all pairs of tables, from fine to coarse."""
        pairs = combinations(self._bases.values(), 2)
        found = {tuple(min(depths) for depths in zip(*pair, strict=True)) for pair in pairs}
        return sorted(found, key=lambda statistic: (-sum(statistic), statistic))

    def _compare(self, one: str, other: str, common: Statistic) -> None:
        if not len(self._difference(one, other, common)[0]):
            return
        coarser = product(*(range(depth + 1) for depth in common))
        for statistic in sorted(coarser, key=lambda depths: (sum(depths), depths)):
            index, apart = self._difference(one, other, statistic)
            if len(index):
                cell = self._cell(statistic, int(index[0]))
                raise DisagreementError.between(
                    one, other, statistic_name(self.plan.axes, statistic), cell, abs(int(apart[0]))
                )

    def _difference(self, one: str, other: str, statistic: Statistic) -> tuple[Ints, Ints]:
        """Return the flat indices of the cells in which two tables differ, and the differences."""
        (first, counts), (second, others) = self._counts(one, statistic), self._counts(other, statistic)
        index, place = np.unique(np.concatenate([first, second]), return_inverse=True)
        apart = np.zeros(len(index), dtype=np.int64)
        np.add.at(apart, place, np.concatenate([counts, -others]))
        return index[apart != 0], apart[apart != 0]

    def _counts(self, table: str, statistic: Statistic) -> tuple[Ints, Ints]:
        """Return flat indices of cells of a statistic, with repetitions, and counts that sum to those of the cells."""
        own = tuple(base if depth else 0 for base, depth in zip(self._bases[table], statistic, strict=True))
        if (table, own) not in self._grouped:
            sql = self._records(table).group_by(self.plan, own)
            rows = self.engine.table(sql)
            self._grouped[table, own] = tuple(rows.column(name).to_numpy().astype(np.int64) for name in ("i", "n"))
        index, counts = self._grouped[table, own]
        places = np.unravel_index(index, self.plan.shape(own)) if any(own) else ()
        shown = [(axis, fine, depth) for axis, fine, depth in zip(self.plan.axes, own, statistic, strict=True) if depth]
        found = np.zeros(len(index), dtype=np.int64)
        for place, (axis, fine, depth) in zip(places, shown, strict=True):
            found = found * axis.size(depth) + axis.up(fine, depth)[place]
        return found, counts

    @cached_property
    def _grouped(self) -> dict[tuple[str, Statistic], tuple[Ints, ...]]:
        return {}

    def _records(self, table: str) -> CodedRecords:
        def column(axis: int, depth: int) -> str:
            return self.columns[self.plan.axes[axis].levels[depth - 1]]

        return CodedRecords(self.engine, lambda _: self.places[table], column, None, 1, ROWS)

    def _cell(self, statistic: Statistic, index: int) -> str:
        """Return the codes of a cell, such as `SEX F, AGE Y15-29`; empty for the total."""
        shown = [(axis, depth) for axis, depth in zip(self.plan.axes, statistic, strict=True) if depth]
        places = np.unravel_index(index, self.plan.shape(statistic)) if shown else ()
        named = zip(shown, places, strict=True)
        return ", ".join(f"{axis.name} {axis.codes_at(depth)[place]}" for (axis, depth), place in named)


def _representatives(names: list[str], alike: list[list[str]]) -> Iterator[str]:
    """Yield one name of every connected component of the graph with these pairs as edges."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            continue
        yield name
        reached = [name]
        while reached:
            seen.add(last := reached.pop())
            reached += [other for pair in alike if last in pair for other in pair if other not in seen]
