"""The picture of redundancy: how many statistics are published in how many tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.charts.bars import Bar, BarChart
from discreet.programme.words import statistic_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.programme.model import Programme
    from discreet.programme.summary import SharedStatistic


def repeated_chart(shared: Sequence[SharedStatistic], programme: Programme) -> BarChart:
    """Return how many statistics come back how often; each class reaches twice as far as the one before.

    Args:
        shared: the statistics, the one in most tables first.
        programme: to call them by their words.
    """
    times = [statistic.tables for statistic in shared]
    most, repeated = times[0], sum(n > 1 for n in times)
    bars, low = [], 1
    while low <= most:
        high = max(2 * (low - 1), low)
        last = min(high, most)
        tables = "one table" if last == 1 else f"{low} tables" if last == low else f"{low} to {last} tables"
        number = sum(low <= n <= high for n in times)
        bars.append(Bar(f"in {tables}", float(number), f"{number:,}", is_marked=low > 1))
        low = high + 1
    first = statistic_words(programme, shared[0].name)
    return BarChart(
        name="repeated-statistics",
        title=f"{repeated:,} of {len(times):,} statistics are in two tables or more, and {first} is in {most}",
        bars=tuple(bars),
        axis="number of statistics",
        said="Bars: how many statistics are published in how many tables.",
        form=",.0f",
    )
