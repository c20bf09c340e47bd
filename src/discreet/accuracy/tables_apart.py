"""How far published tables are apart from true ones: Hellinger's distance of the finest statistic of every table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.accuracy.hellinger import hellinger
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.accuracy.table_pairs import TableBeside


@dataclass(frozen=True)
class TableApart:
    """How far the shares of one table's finest statistic are apart, on a scale from 0 to 1."""

    table: str
    statistic: str
    distance: float


def table_apart(beside: TableBeside) -> TableApart | None:
    """Return the distance of the finest statistic of a table; None where nobody is counted or published, or one cell.

    Args:
        beside: the table, true beside published.
    """
    shown = beside.finest
    if shown.true is None or shown.true.size == 1 or not shown.true.any() or not (shown.published > 0).any():
        return None
    distance = hellinger(shown.true.ravel(), shown.published.ravel())
    return TableApart(beside.grid.plan.table.id, shown.name, distance)


def apart_results(tables: Sequence[TableApart]) -> list[Result]:
    """Return the mean distance and the largest, with its table."""
    if not tables:
        return []
    worst = max(tables, key=lambda each: each.distance)
    mean = sum(each.distance for each in tables) / len(tables)
    return [
        Result(
            name="hellinger",
            value=mean,
            unit="1",
            sentence=f"The shares of the finest cells are {mean:.3f} apart on Hellinger's scale, the mean of "
            f"{len(tables):,} {'table' if len(tables) == 1 else 'tables'}; 0 is the same shares, 1 nothing in common. "
            f"Most in table {worst.table}: {worst.distance:.3f}.",
            worst=f"table {worst.table}",
            assumptions=("published counts below 0 are taken as 0",),
            equation="sqrt(1/2 sum (sqrt(p) - sqrt(q))^2), p and q the true and the published shares",
        )
    ]
