"""The picture of one count: what a village of so many people will be published as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.charts.columns import Column, ColumnChart

if TYPE_CHECKING:
    from discreet.noise.published_counts import PublishedCounts

RARE = 0.005


def village_chart(found: PublishedCounts) -> ColumnChart:
    """Return the law of what is published for one true count; the usual range has the accent."""
    usual = found.usual
    span = f"{usual.low}" if usual.low == usual.high else f"{usual.low} to {usual.high}"
    return ColumnChart(
        name="village",
        title=f"A village of {usual.count} people is published as {span} in {usual.words}",
        columns=tuple(
            Column(
                str(value), chance, f"{100 * chance:.0f}" if chance >= RARE else "<1", usual.low <= value <= usual.high
            )
            for value, chance in zip(found.published, found.chances, strict=True)
        ),
        across=f"published number of people, where {usual.count} are there",
        axis="chance, in percent",
        said=f"Columns: the chance of every published number for {usual.count} people, in percent.",
    )
