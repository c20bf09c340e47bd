"""Additivity errors of published tables: a total has its own noise and differs from the sum of its parts.

gap = published total - sum of published parts. With k parts and independent noise of variance V its variance is about
(k + 1) V, and less for small counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.results import Result
from discreet.verdicts import ADDITIVITY, check, percent

if TYPE_CHECKING:
    from discreet.accuracy.table_pairs import TablePair
    from discreet.verdicts import Check, Policy


@dataclass(frozen=True)
class TableGaps:
    """The totals of one table, along every column.

    Attributes:
        table: the id of the table.
        totals: the number of totals of several parts, non-empty or with a non-empty part; counted by column.
        apart: the number of totals with an additivity error.
        mean: the mean absolute additivity error of these totals.
        largest: the largest absolute additivity error.
        worst: the codes of the total with the largest error.
    """

    table: str
    totals: int
    apart: int
    mean: float
    largest: int
    worst: str


@dataclass(frozen=True)
class Additivity:
    """The additivity errors of all tables of a release."""

    tables: tuple[TableGaps, ...]

    @property
    def totals(self) -> int:
        """Return the number of totals."""
        return sum(table.totals for table in self.tables)

    @property
    def share_of_tables(self) -> float:
        """Return the share of tables with at least one additivity error."""
        summed = [table for table in self.tables if table.totals]
        return sum(table.apart > 0 for table in summed) / len(summed) if summed else 0.0

    @property
    def share_of_totals(self) -> float:
        """Return the share of totals with an additivity error."""
        return sum(table.apart for table in self.tables) / self.totals if self.totals else 0.0

    def check(self, policy: Policy) -> Check:
        """Return the share of totals with an additivity error, compared with its target."""
        if not self.totals:
            return check(policy, ADDITIVITY, None, "No table has a total and its parts.")
        share = self.share_of_totals
        sentence = f"{percent(share)} of {self.totals:,} comparisons of a total with the sum of its parts differ."
        return check(policy, ADDITIVITY, share, sentence, cases=self.totals)

    @property
    def totals_apart(self) -> str:
        """Return the share of totals with an additivity error, as a clause."""
        return f"{self.share_of_totals:.1%} of totals have an additivity error"

    @property
    def mean(self) -> float:
        """Return the mean absolute additivity error of the totals that have one."""
        apart = sum(table.apart for table in self.tables)
        return sum(table.mean * table.apart for table in self.tables) / apart if apart else 0.0

    @property
    def worst(self) -> TableGaps:
        """Return the table with the largest additivity error."""
        return max(self.tables, key=lambda table: table.largest)

    def results(self) -> list[Result]:
        """Return the shares of tables and totals with additivity errors, and their sizes; empty without totals."""
        if not self.totals:
            return []
        tables = sum(table.apart > 0 for table in self.tables)
        summed = sum(table.totals > 0 for table in self.tables)
        once = "a total is compared with its parts along every column that subdivides it, in every table that shows it"
        return [
            Result(
                name="tables_apart",
                value=self.share_of_tables,
                unit="1",
                sentence=f"{tables:,} of {summed:,} tables with totals have at least one additivity error.",
                assumptions=(once,),
                equation="share of tables with published total - sum of published parts != 0 at least once",
            ),
            Result(
                name="totals_apart",
                value=self.share_of_totals,
                unit="1",
                sentence=f"Of {self.totals:,} comparisons of a total with its parts, {self.share_of_totals:.1%} have "
                f"an additivity error; the mean absolute error of these is {self.mean:.1f} persons.",
                assumptions=(once, "empty totals with only empty parts are excluded"),
                equation="share of totals with published total - sum of published parts != 0",
            ),
            Result(
                name="largest_gap",
                value=float(self.worst.largest),
                unit="persons",
                sentence=f"The largest additivity error is {self.worst.largest:,}, in table {self.worst.table} at "
                f"{self.worst.worst}."
                if self.worst.largest
                else "All totals equal the sums of their parts.",
                worst=f"table {self.worst.table}, {self.worst.worst}" if self.worst.largest else None,
                assumptions=(once,),
                equation="max |published total - sum of published parts|",
            ),
        ]


def table_gaps(pair: TablePair) -> TableGaps:
    """Return the additivity errors of one table."""
    grid, values = pair.grid, pair.published
    totals = apart = largest = 0
    whole, worst = 0.0, ""
    occupied = (values != 0).astype(np.int64)
    for fold in grid.folds:
        # A category that is not subdivided is its own only part.
        several = np.flatnonzero(np.diff(fold.runs.starts) > 1)
        gaps, filled, own = (
            np.take(counts, several, axis=fold.column)
            for counts in (
                np.abs(grid.gaps(fold, values)),
                grid.gaps(fold, occupied),
                np.take(occupied, fold.coarse, axis=fold.column),
            )
        )
        # An empty total with only empty parts is additive by construction.
        totals += int(((own > 0) | (filled != own)).sum())
        apart += int((gaps > 0).sum())
        whole += float(gaps.sum())
        if gaps.max(initial=0) > largest:
            largest = int(gaps.max())
            place = [int(number) for number in np.unravel_index(int(gaps.argmax()), gaps.shape)]
            place[fold.column] = int(fold.coarse[several[place[fold.column]]])
            worst = grid.words(place)
    return TableGaps(grid.plan.table.id, totals, apart, whole / apart if apart else 0.0, largest, worst)
