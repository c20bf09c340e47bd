"""Batches of cells of several statistics, whose noise is drawn together."""

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
        statistics: the statistics.
        index: the flat index of every cell in its statistic.
        words: the count and key of every cell.
        ends: the offset of the first cell of each statistic, and the total number of cells.
    """

    statistics: Sequence[Statistic]
    index: Ints
    words: Words
    ends: Ints

    def by_statistic(self, value: NDArray[Any], kept: Ints) -> dict[Statistic, StatisticValues]:
        """Return the selected cells by statistic, in their order."""
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
    """Return the non-empty cells."""
    occupied = [counted.cells[statistic].occupied() for statistic in statistics]
    index = np.concatenate([place for place, _ in occupied])
    words = np.concatenate([word for _, word in occupied])
    return CellBatch(statistics, index, words, np.cumsum([0, *(len(place) for place, _ in occupied)]))


def with_empty(plan: Plan, counted: CountedTable, statistic: Statistic, places: CellCoordinates) -> CellBatch:
    """Return the cells of a statistic that the universe allows, including empty cells."""
    index = places.possible(plan, statistic)
    words = counted.cells[statistic].at(index)
    return CellBatch([statistic], index, words, np.array([0, len(index)]))


def check_size(plan: Plan) -> None:
    """Refuse noise on empty cells for a statistic with too many cells."""
    for table in plan.tables:
        size = max(plan.size(statistic) for statistic in table.statistics)
        if size > DENSE_MOST:
            raise ParameterError(
                f"Noise on empty cells is limited to statistics of {DENSE_MOST:,} cells, but table {table.table.id} "
                f"has one of {size:,}. Use coarser categories, exclude the table, or keep zeros unperturbed.",
                parameter="perturb_zeros",
            )
