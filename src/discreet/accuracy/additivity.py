"""Additivity errors of published tables: a total has its own noise and differs from the sum of its parts.

gap = published total - sum of published parts. With k parts and independent noise of variance V its variance is about
(k + 1) V, and less for small counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.results import Result

if TYPE_CHECKING:
    from discreet.accuracy.table_pairs import TablePair


@dataclass(frozen=True)
class TableGaps:
    """The totals of one table, along every column.

    Attributes:
        table: its id.
        totals: totals of several parts, with persons in them or in a part; one for each column that splits them.
        apart: how many of them are not the sums of their parts.
        mean: the mean absolute gap of those.
        largest: the largest absolute gap.
        worst: the codes of the total that has it.
    """

    table: str
    totals: int
    apart: int
    mean: float
    largest: int
    worst: str


@dataclass(frozen=True)
class Additivity:
    """The gaps of all tables of a release."""

    tables: tuple[TableGaps, ...]

    @property
    def totals(self) -> int:
        """Return how many totals there are."""
        return sum(table.totals for table in self.tables)

    @property
    def share_of_tables(self) -> float:
        """Return the share of the tables in which at least one total is not the sum of its parts."""
        summed = [table for table in self.tables if table.totals]
        return sum(table.apart > 0 for table in summed) / len(summed) if summed else 0.0

    @property
    def share_of_totals(self) -> float:
        """Return the share of the totals that are not the sums of their parts."""
        return sum(table.apart for table in self.tables) / self.totals if self.totals else 0.0

    @property
    def totals_apart(self) -> str:
        """Return the share of the totals that are not the sums of their parts, as a clause."""
        return f"{self.share_of_totals:.1%} of totals are not the sums of their parts"

    @property
    def mean(self) -> float:
        """Return the mean absolute gap of the totals that have one."""
        apart = sum(table.apart for table in self.tables)
        return sum(table.mean * table.apart for table in self.tables) / apart if apart else 0.0

    @property
    def worst(self) -> TableGaps:
        """Return the table with the largest gap."""
        return max(self.tables, key=lambda table: table.largest)

    def results(self) -> list[Result]:
        """Return how many tables and totals are apart, and how far; nothing where there are no totals."""
        if not self.totals:
            return []
        tables = sum(table.apart > 0 for table in self.tables)
        summed = sum(table.totals > 0 for table in self.tables)
        once = "a total is compared with its parts along every column that splits it, in every table that shows it"
        return [
            Result(
                name="tables_apart",
                value=self.share_of_tables,
                unit="1",
                sentence=f"In {tables:,} of {summed:,} tables with totals, parts do not add up somewhere.",
                assumptions=(once,),
                equation="share of tables with published total - sum of published parts != 0 at least once",
            ),
            Result(
                name="totals_apart",
                value=self.share_of_totals,
                unit="1",
                sentence=f"Of {self.totals:,} comparisons of a total with its parts, {self.share_of_totals:.1%} do not "
                f"add up; these are {self.mean:.1f} persons off on average.",
                assumptions=(once, "totals that are empty with all their parts are left out"),
                equation="share of totals with published total - sum of published parts != 0",
            ),
            Result(
                name="largest_gap",
                value=float(self.worst.largest),
                unit="persons",
                sentence=f"The largest gap is {self.worst.largest:,}, in table {self.worst.table} at "
                f"{self.worst.worst}."
                if self.worst.largest
                else "No total has a gap to its parts.",
                worst=f"table {self.worst.table}, {self.worst.worst}" if self.worst.largest else None,
                assumptions=(once,),
                equation="max |published total - sum of published parts|",
            ),
        ]


def table_gaps(beside: TablePair) -> TableGaps:
    """Return how far the totals of one table are from the sums of their parts."""
    grid, values = beside.grid, beside.published
    totals = apart = largest = 0
    whole, worst = 0.0, ""
    occupied = (values != 0).astype(np.int64)
    for fold in grid.folds:
        # A category that is not split again is its own only part.
        several = np.flatnonzero(np.diff(fold.runs.starts) > 1)
        gaps, filled, own = (
            np.take(counts, several, axis=fold.column)
            for counts in (
                np.abs(grid.gaps(fold, values)),
                grid.gaps(fold, occupied),
                np.take(occupied, fold.coarse, axis=fold.column),
            )
        )
        # A total and parts that are all empty add up by themselves.
        totals += int(((own > 0) | (filled != own)).sum())
        apart += int((gaps > 0).sum())
        whole += float(gaps.sum())
        if gaps.max(initial=0) > largest:
            largest = int(gaps.max())
            place = [int(number) for number in np.unravel_index(int(gaps.argmax()), gaps.shape)]
            place[fold.column] = int(fold.coarse[several[place[fold.column]]])
            worst = grid.words(place)
    return TableGaps(grid.plan.table.id, totals, apart, whole / apart if apart else 0.0, largest, worst)
