"""Effect of noise on the association of two topics: Cramer's V of a two-way table, before and after noise.

    V = sqrt(chi2 / (N min(r - 1, c - 1)))

with Pearson's chi-square of the r non-empty rows and c non-empty columns, and N persons. It is 0 for independent rows
and columns and 1 if one determines the other. Noise adds random differences between rows, so weak associations in small
tables are overstated and strong ones are understated. Cramer, "Mathematical Methods of Statistics" (1946), chapter 21.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.independence_test import pearson_statistics, two_way
from discreet.errors import ParameterError
from discreet.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

EQUATION = "V = sqrt(chi2 / (N min(r - 1, c - 1)))"
FLAT = "has fewer than two non-empty rows or columns"


@dataclass(frozen=True)
class Association:
    """Cramer's V of one table before and after noise.

    Attributes:
        name: the name of the table.
        before: Cramer's V of the true counts; None if undefined.
        after: Cramer's V of the published counts; None if undefined.
        negatives: the number of negative published counts, which were set to 0.
        reason: the reason why one of the two is undefined; empty otherwise.
    """

    name: str
    before: float | None
    after: float | None
    negatives: int
    reason: str = ""

    @property
    def difference(self) -> float | None:
        """Return after minus before; None if one is undefined."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return the treatment of empty and negative counts, as assumptions."""
        empty = "empty rows and columns are excluded, separately for the true and the published table"
        taken = (f"negative published counts set to 0: {self.negatives:,}",) if self.negatives else ()
        return (empty, *taken)

    def result(self) -> Result:
        """Return the change of Cramer's V."""
        if self.before is None or self.after is None:
            value, sentence = math.nan, f"The change of Cramer's V of table {self.name} is undefined: {self.reason}."
        else:
            value = self.after - self.before
            sentence = (
                f"Cramer's V of table {self.name} is {self.before:.3f} for the true counts and {self.after:.3f} for "
                f"the published counts."
            )
        return Result(
            name="association_change",
            value=value,
            unit="1",
            sentence=sentence,
            assumptions=self.assumptions,
            equation=EQUATION,
        )


@dataclass(frozen=True)
class Associations:
    """Cramer's V of several tables before and after noise."""

    tables: tuple[Association, ...]

    @property
    def measured(self) -> tuple[Association, ...]:
        """Return the tables with a defined V before and after noise."""
        return tuple(table for table in self.tables if table.difference is not None)

    @property
    def worst(self) -> Association | None:
        """Return the first table with the largest absolute change; None without tables."""
        return max(self.measured, key=lambda table: abs(table.difference or 0.0), default=None)

    def results(self) -> list[Result]:
        """Return the largest change with its table, and the mean absolute change."""
        worst, measured = self.worst, self.measured
        if worst is None:
            return []
        changes = [abs(table.difference or 0.0) for table in measured]
        mean = sum(changes) / len(changes)
        without = len(self.tables) - len(measured)
        negatives = sum(table.negatives for table in measured)
        assumptions = Association("", None, None, negatives).assumptions
        if without:
            assumptions = (*assumptions, f"excluded tables, whose true or published side {FLAT}: {without:,}")
        return [
            Result(
                name="largest_association_change",
                value=max(changes),
                unit="1",
                sentence=f"Of {len(measured):,} two-way statistics, {worst.name} has the largest change of Cramer's V: "
                f"{worst.before:.3f} for the true counts, {worst.after:.3f} for the published counts.",
                worst=worst.name,
                assumptions=worst.assumptions,
                equation=f"max |V after - V before|, {EQUATION}",
            ),
            Result(
                name="mean_association_change",
                value=mean,
                unit="1",
                sentence=f"Mean absolute change of Cramer's V over {len(measured):,} two-way statistics: {mean:.3f}.",
                worst=worst.name,
                assumptions=assumptions,
                equation=f"mean |V after - V before|, {EQUATION}",
            ),
        ]


def cramers_v(counts: ArrayLike) -> float | None:
    """Return Cramer's V of a two-way table; None with fewer than two non-empty rows or columns.

    Negative counts are set to 0.

    >>> cramers_v([[8, 0], [0, 4]]), cramers_v([[1, 2], [2, 4]]), cramers_v([[1, 2], [0, 0]])
    (1.0, 0.0, None)
    """
    table = np.maximum(two_way(counts), 0)
    found = pearson_statistics(table[None])
    if not found.degrees[0]:
        return None
    shorter = min(int(found.rows.sum()), int(found.columns.sum())) - 1
    return math.sqrt(float(found.statistic[0]) / (float(table.sum()) * shorter))


def association(true: ArrayLike, published: ArrayLike, name: str = "") -> Association:
    """Return Cramer's V of one table before and after noise.

    Args:
        true: the true counts, rows and columns without totals.
        published: the published counts of the same cells.
        name: the name of the table.
    """
    exact, shown = two_way(true), two_way(published)
    if exact.shape != shown.shape:
        raise ParameterError(
            f"Table {name}: the published table has {shown.shape[0]} rows and {shown.shape[1]} columns, the true one "
            f"{exact.shape[0]} and {exact.shape[1]}. Give both with the same rows and columns.",
            parameter="published",
        )
    before, after = cramers_v(exact), cramers_v(shown)
    reasons = [f"the {side} table {FLAT}" for side, v in (("true", before), ("published", after)) if v is None]
    return Association(name, before, after, int((shown < 0).sum()), " and ".join(reasons))
