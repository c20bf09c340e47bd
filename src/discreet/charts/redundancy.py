"""The picture of redundancy: how many statistics are published in how many tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, DARK, LIGHT
from discreet.charts.svg import LETTERS, Picture, page_figure, page_picture
from discreet.programme.words import statistic_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.programme.model import Programme
    from discreet.programme.summary import SharedStatistic


@dataclass(frozen=True)
class RedundancyChart:
    """Statistics by the number of tables that publish them; each class reaches twice as far as the one before.

    Attributes:
        title: the message.
        classes: how many tables, as in `3 to 4`.
        statistics: how many statistics are published that often.
    """

    title: str
    classes: tuple[str, ...]
    statistics: tuple[int, ...]


def redundancy_chart(shared: Sequence[SharedStatistic], programme: Programme) -> RedundancyChart:
    """Return how many statistics come back how often; the one that does most often comes first."""
    times = [statistic.tables for statistic in shared]
    most, repeated = times[0], sum(n > 1 for n in times)
    classes, numbers, low = [], [], 1
    while low <= most:
        high = max(2 * (low - 1), low)
        last = min(high, most)
        classes.append(str(low) if last == low else f"{low} to {last}")
        numbers.append(sum(low <= n <= high for n in times))
        low = high + 1
    first = statistic_words(programme, shared[0].name)
    title = f"{repeated:,} of {len(times):,} statistics are in two tables or more, and {first} is in {most}"
    return RedundancyChart(title, tuple(classes), tuple(numbers))


def redundancy_picture(shared: Sequence[SharedStatistic], programme: Programme) -> Picture:
    """Return the picture."""
    chart = redundancy_chart(shared, programme)
    figure, axes = page_figure(0.34 * len(chart.classes) + 0.8)
    places = range(len(chart.classes))
    colours = [LIGHT, *[ACCENT] * (len(chart.classes) - 1)]
    axes.barh(places, chart.statistics, color=colours, height=0.72)
    for place, number in zip(places, chart.statistics, strict=True):
        axes.annotate(
            f"{number:,}",
            (number, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=LETTERS,
            color=DARK,
        )
    axes.set_yticks(list(places), chart.classes)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * max(chart.statistics))
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_xlabel("number of statistics")
    axes.set_ylabel("published in so many tables")
    return page_picture(figure, chart.title, _words(chart))


def _words(chart: RedundancyChart) -> str:
    bars = "; ".join(
        f"{tables} {'table' if tables == '1' else 'tables'}: {number:,}"
        for tables, number in zip(chart.classes, chart.statistics, strict=True)
    )
    return f"Bars: how many statistics are published in how many tables. {bars}."
