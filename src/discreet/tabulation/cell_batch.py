"""Cells of several statistics that get their noise together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.records.record_columns import STEPS
from discreet.tabulation.cell_counts import DENSE_MOST
from discreet.tabulation.table_rows import StatisticValues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints, Words
    from discreet.programme.lattice import Statistic
    from discreet.tabulation.cell_coordinates import CellCoordinates
    from discreet.tabulation.counting import CountedTable
    from discreet.tabulation.plan import Plan


@dataclass(frozen=True, eq=False)
class CellBatch:
    """Cells of several statistics, one statistic after the other.

    Attributes:
        statistics: which.
        index: the flat index of every cell in its statistic.
        words: count and key of every cell.
        ends: where the cells of each statistic begin, and where the last ones end.
    """

    statistics: Sequence[Statistic]
    index: Ints
    words: Words
    ends: Ints

    def by_statistic(self, value: NDArray[Any], kept: Ints) -> dict[Statistic, StatisticValues]:
        """Return some of the cells of every statistic for themselves, in their order."""
        index, value = self.index[kept], value[kept]
        pairs = pairwise(np.searchsorted(kept, self.ends).tolist())
        return {
            statistic: StatisticValues(index[first:last], value[first:last])
            for statistic, (first, last) in zip(self.statistics, pairs, strict=True)
        }

    def mean_weight(self, counts: Ints, weights: CountedTable) -> Floats:
        """Return the mean weight of the persons in every cell."""
        pairs = zip(self.statistics, pairwise(self.ends.tolist()), strict=True)
        steps = [weights.cells[statistic].at(self.index[first:last]) for statistic, (first, last) in pairs]
        return np.concatenate(steps) / (STEPS * counts)

    def coordinates(self, plan: Plan, places: CellCoordinates) -> Words:
        """Return the coordinate word of every cell."""
        pairs = zip(self.statistics, pairwise(self.ends.tolist()), strict=True)
        parts = [places.words(plan, statistic, self.index[first:last]) for statistic, (first, last) in pairs]
        return np.concatenate(parts)


def occupied(counted: CountedTable, statistics: Sequence[Statistic]) -> CellBatch:
    """Return the cells that hold someone."""
    occupied = [counted.cells[statistic].occupied() for statistic in statistics]
    index = np.concatenate([place for place, _ in occupied])
    words = np.concatenate([word for _, word in occupied])
    return CellBatch(statistics, index, words, np.cumsum([0, *(len(place) for place, _ in occupied)]))


def with_empty(plan: Plan, counted: CountedTable, statistic: Statistic, places: CellCoordinates) -> CellBatch:
    """Return the cells of a statistic that somebody can be in, empty ones too."""
    index = places.possible(plan, statistic)
    words = counted.cells[statistic].at(index)
    return CellBatch([statistic], index, words, np.array([0, len(index)]))


def check_size(plan: Plan) -> None:
    """Refuse noise on empty cells for a statistic that has too many of them."""
    for table in plan.tables:
        size = max(plan.size(statistic) for statistic in table.statistics)
        if size > DENSE_MOST:
            raise ParameterError(
                f"Noise on empty cells is made for up to {DENSE_MOST:,} cells of a statistic; table {table.table.id} "
                f"has one of {size:,}. Coarsen it, or leave the table out, or zeros as they are.",
                parameter="perturb_zeros",
            )
