"""What tables show of statistics that are still needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.programme.published import VALUE, WEIGHTED
from discreet.tabulation.table_rows import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from discreet.arrays import Floats, Ints
    from discreet.tabulation.cell_batch import Batch
    from discreet.tabulation.plan import Plan, Statistic, TablePlan
    from discreet.tabulation.table_rows import Values


@dataclass(frozen=True, eq=False)
class Shown:
    """What tables show of statistics that are still needed: values and, where there are weights, weighted ones.

    Attributes:
        weighted_only: whether tables show weighted values alone.
    """

    weighted_only: bool = False
    values: dict[Statistic, Values] = field(default_factory=dict)
    weighted: dict[Statistic, Values] = field(default_factory=dict)

    def add(self, batch: Batch, value: Ints, mean_weight: Floats | None) -> None:
        """Take cells, without those that are 0: these are not written."""
        kept = np.flatnonzero(value)
        self.values.update(batch.by_statistic(value, kept))
        if mean_weight is not None:
            # Whole numbers: with decimals the mean weight would tell the true count, of which it is a fraction.
            whole = np.rint(value * mean_weight).astype(np.int64)
            self.weighted.update(batch.by_statistic(whole, kept))

    def rows(self, plan: Plan, table: TablePlan) -> pa.Table:
        """Return the rows of a table."""
        import pyarrow.compute as pc

        found = rows(plan, table, self.values)
        if not self.weighted:
            return found
        found = found.append_column(WEIGHTED, rows(plan, table, self.weighted).column(VALUE))
        if not self.weighted_only:
            return found
        # A row with a weighted count of 0 would show that the unweighted one is not 0.
        return found.filter(pc.field(WEIGHTED) != 0).drop_columns([VALUE])

    def forget(self, statistics: Sequence[Statistic]) -> None:
        """Drop what no table shows any more."""
        for statistic in statistics:
            self.values.pop(statistic, None)
            self.weighted.pop(statistic, None)
