"""Ranges: for every published count the true counts that may stand behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, GREY, LIGHT, beside, paper_figure
from discreet.charts.vega import finished, layered, rows, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.charts.chart import Spec

HEIGHT = 260
PUBLISHED, TRUE = "published count, persons", "true count, persons"
AS_IT_IS = "as published"


@dataclass(frozen=True)
class Range:
    """One published count and the smallest and largest true count of its interval; the marked one has the accent."""

    published: int
    low: int
    high: int
    is_marked: bool = False


@dataclass(frozen=True)
class RangeChart:
    """Intervals over published counts.

    Attributes:
        title: the message.
        ranges: by rising published count.
        name: of the chart.
    """

    title: str
    ranges: tuple[Range, ...]
    name: str = "intervals"

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        told = "; ".join(f"{each.published}: {each.low} to {each.high}" for each in self.ranges)
        return f"Upright lines: the true counts behind every published one. {told}."

    def spec(self) -> Spec:
        """Return the specification for a page."""
        import altair as alt

        data = rows(
            {
                "published": each.published,
                "low": each.low,
                "high": each.high,
                "stands for": f"{each.low} to {each.high}",
                "colour": ACCENT if each.is_marked else GREY,
            }
            for each in self.ranges
        )
        first, last = self.ranges[0].published, self.ranges[-1].published
        x = alt.X("published:Q", title=PUBLISHED, scale=alt.Scale(domain=[first - 1, last + 1], nice=False))
        y = alt.Y("low:Q", title=TRUE, scale=alt.Scale(zero=True))
        bars = alt.Chart(data).mark_bar(size=5).encode(x=x.axis(format="d"), y=y, y2="high:Q")
        bars = bars.encode(color=alt.Color("colour:N", scale=None), tooltip=["published:Q", "stands for:N"])
        ends = rows({"published": value, "low": max(value, 0)} for value in (max(first, 0), last))
        line = alt.Chart(ends).mark_line(color=LIGHT, strokeDash=[4, 3]).encode(x=x, y=y)
        label = words("label", x, y, rows([{"published": last, "low": last, "label": AS_IT_IS}]), align="right", dx=-16)
        marked = rows(
            {"published": r.published, "low": r.high, "label": f"{r.published}: {r.low} to {r.high}"}
            for r in self.ranges
            if r.is_marked
        )
        above = words("label", x, y, marked, align="right", dx=-4, dy=-8, color=ACCENT)
        return finished(layered([line, bars, label, above]), HEIGHT, self.alternative)

    def figure(self) -> Figure:
        """Return the figure for a paper."""
        figure = paper_figure(6.6, 3.4, self.title)
        axes = figure.subplots()
        first, last = max(self.ranges[0].published, 0), self.ranges[-1].published
        axes.plot([first, last], [first, last], color=LIGHT, ls=(0, (4, 2)))
        beside(axes, AS_IT_IS, last, last, "right", (-14, 0))
        for each in self.ranges:
            axes.vlines(each.published, each.low, each.high, color=ACCENT if each.is_marked else GREY, lw=3)
            if each.is_marked:
                told = f"{each.published}: {each.low} to {each.high}"
                beside(axes, told, each.published, each.high, "right", (-4, 5), color=ACCENT)
        axes.set_xlabel(PUBLISHED)
        axes.set_ylabel(TRUE)
        return figure
