"""The picture of one count: what a village of so many people will be published as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.charts.paper import ACCENT, DARK, LIGHT
from discreet.charts.svg import LETTERS, Picture, page_figure, page_picture
from discreet.noise.ranges import PublishedRange, published_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.noise.ptable import PTable


@dataclass(frozen=True)
class VillageChart:
    """Published counts of one true count with their probabilities, and which of them are within the usual range."""

    title: str
    count: int
    published: tuple[int, ...]
    probability: tuple[float, ...]
    low: int
    high: int
    within: float


def village_chart(ptable: PTable, count: int) -> VillageChart:
    """Return the law of what is published for one true count."""
    usual = published_range(ptable, count)
    row = ptable.rows[int(ptable.row_numbers([count])[0])]
    values = np.arange(min(row.values), max(row.values) + 1)
    title = f"A village of {count} people is published as {usual.low} to {usual.high} in {usual.words}"
    return VillageChart(
        title,
        count,
        tuple((count + values).tolist()),
        tuple(row.pmf(values).tolist()),
        usual.low,
        usual.high,
        usual.probability,
    )


@dataclass(frozen=True)
class CountRow:
    """One true count: where it is published, how often as it is, and how often as 0."""

    count: int
    usual: PublishedRange
    stays: float
    vanishes: float


def count_rows(ptable: PTable, counts: Sequence[int]) -> tuple[CountRow, ...]:
    """Return what becomes of some true counts."""
    found = []
    for count, number in zip(counts, ptable.row_numbers(counts).tolist(), strict=True):
        row = ptable.rows[number]
        found.append(CountRow(count, published_range(ptable, count), row.stay, float(row.pmf(-count))))
    return tuple(found)


def village_picture(ptable: PTable, count: int) -> Picture:
    """Return the picture."""
    chart = village_chart(ptable, count)
    figure, axes = page_figure(2.7)
    within = [chart.low <= value <= chart.high for value in chart.published]
    axes.bar(chart.published, chart.probability, color=[ACCENT if inside else LIGHT for inside in within], width=0.86)
    top = max(chart.probability)
    for value, probability in zip(chart.published, chart.probability, strict=True):
        axes.annotate(
            f"{100 * probability:.0f}" if probability >= 0.005 else "<1",
            (value, probability),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=LETTERS,
            color=DARK,
        )
    axes.set_ylim(0, 1.12 * top)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xticks(chart.published)
    axes.set_xlabel(f"published number of people, where {chart.count} are there")
    axes.set_ylabel("chance, in percent")
    return page_picture(figure, chart.title, _words(chart))


def _words(chart: VillageChart) -> str:
    bars = "; ".join(
        f"{value}: {probability:.1%}" for value, probability in zip(chart.published, chart.probability, strict=True)
    )
    return (
        f"Bars: the chance of every published number for {chart.count} people. {bars}. "
        f"The bars from {chart.low} to {chart.high} are marked; together they are {chart.within:.1%}."
    )
