"""Hellinger distance between the true and the published table: the change of its distribution.

With p and q the shares of the cells in the two totals

    H = sqrt(1/2 sum (sqrt(p) - sqrt(q))^2),

0 for equal shares and 1 if no cell is above 0 in both. Disclosure control also uses the counts n and y themselves,
sqrt(1/2 sum (sqrt(y) - sqrt(n))^2), which grows with the number of cells and with a change of the total (Shlomo, Antal
and Elliot, Measuring disclosure risk and data utility for flexible table generators, Journal of Official Statistics 31,
2015). Negative published counts are set to 0 in both. Both refer to one statistic, whose cells count once each; a table
is represented by its finest statistic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.count_pairs import pair_times
from discreet.errors import NothingToCountError
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from discreet.accuracy.count_pairs import CountPairs
    from discreet.accuracy.table_pairs import TablePair
    from discreet.arrays import Floats, Ints


def hellinger(true: ArrayLike, published: ArrayLike) -> float:
    """Return H of the shares of the cells of one statistic, from 0 to 1.

    >>> round(hellinger([1, 0], [0, 5]), 12), hellinger([1, 2], [10, 20])
    (1.0, 0.0)
    """
    return _of_shares(pair_times(true, published))


def hellinger_of_counts(true: ArrayLike, published: ArrayLike) -> float:
    """Return the distance on the counts themselves, 0 or more.

    >>> hellinger_of_counts([1, 1], [4, 4])
    1.0
    """
    return _of_counts(pair_times(true, published))


def _of_shares(found: CountPairs) -> float:
    shown = np.maximum(found.published, 0)
    totals = [int(counts @ found.times) for counts in (found.true, shown)]
    for total, which in zip(totals, ("true", "published"), strict=True):
        if not total:
            raise NothingToCountError(
                f"The {which} table has no count above 0, so the shares of its cells are undefined. Leave the table "
                "out, or compare counts with hellinger_of_counts."
            )
    return _apart(found.true / totals[0], shown / totals[1], found.times)


def _of_counts(found: CountPairs) -> float:
    if not found.cells:
        raise NothingToCountError("The table is empty. Give a table with at least one cell.")
    return _apart(found.true, np.maximum(found.published, 0), found.times)


def _apart(before: Ints | Floats, after: Ints | Floats, times: Ints) -> float:
    return math.sqrt(float((np.sqrt(after) - np.sqrt(before)) ** 2 @ times) / 2)


@dataclass(frozen=True)
class TableDistance:
    """The Hellinger distance of the finest statistic of one table, from 0 to 1."""

    table: str
    statistic: str
    distance: float


def table_distance(pair: TablePair) -> TableDistance | None:
    """Return the distance of the finest statistic of a table; None for a single cell or without positive counts.

    Args:
        pair: the table with true and published counts.
    """
    shown = pair.finest
    if shown.true is None or shown.true.size == 1 or not shown.true.any() or not (shown.published > 0).any():
        return None
    distance = hellinger(shown.true.ravel(), shown.published.ravel())
    return TableDistance(pair.grid.plan.table.id, shown.name, distance)


def hellinger_results(tables: Sequence[TableDistance]) -> list[Result]:
    """Return the mean distance, and the largest one with its table."""
    if not tables:
        return []
    worst = max(tables, key=lambda each: each.distance)
    mean = sum(each.distance for each in tables) / len(tables)
    return [
        Result(
            name="hellinger",
            value=mean,
            unit="1",
            sentence=f"The mean Hellinger distance of the finest cells is {mean:.3f} over {len(tables):,} "
            f"{'table' if len(tables) == 1 else 'tables'} (0: equal shares, 1: disjoint). The largest is "
            f"{worst.distance:.3f}, in table {worst.table}.",
            worst=f"table {worst.table}",
            assumptions=("negative published counts are set to 0",),
            equation="sqrt(1/2 sum (sqrt(p) - sqrt(q))^2), p and q the true and the published shares",
        )
    ]
