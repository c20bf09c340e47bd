"""Columns over classes in their order: each with its value over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, DARK, LIGHT, SMALL, paper_figure
from discreet.charts.vega import finished, layered, rows, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.charts.chart import Spec

HEIGHT = 220
DENSE = 16
"""Columns from which on not every one has its value written over it."""


@dataclass(frozen=True)
class Column:
    """One column: its class, its height, what is written over it, and whether it has the accent."""

    name: str
    value: float
    told: str
    is_marked: bool = True


@dataclass(frozen=True)
class ColumnChart:
    """Columns from left to right.

    Attributes:
        name: of the chart.
        title: the message.
        columns: what is drawn.
        across: what the classes are, with their unit.
        axis: what the height is, with its unit.
        said: what the columns are, for those who cannot see them.
        form: of the ticks, as Python and Vega both write it.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    across: str
    axis: str
    said: str
    form: str = ".0%"

    @property
    def top(self) -> float:
        """Return where the axis ends; over the highest column its value is written."""
        return 1.12 * max(*(column.value for column in self.columns), 1e-9)

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        return f"{self.said} {'; '.join(f'{column.name}: {column.told}' for column in self.columns)}."

    @property
    def _labelled(self) -> list[Column]:
        """Return the columns that have their value written over them; of many the highest alone."""
        if len(self.columns) < DENSE:
            return list(self.columns)
        return [max(self.columns, key=lambda column: column.value)]

    def spec(self) -> Spec:
        """Return the specification for a page."""
        import altair as alt

        data = [
            {"class": c.name, "value": c.value, "told": c.told, "colour": ACCENT if c.is_marked else LIGHT}
            for c in self.columns
        ]
        names = [column.name for column in self.columns]
        x = alt.X("class:O", sort=names, title=self.across)
        x = x.axis(labelAngle=0, labelOverlap=True, labelBound=1, domain=False, ticks=False)
        y = alt.Y("value:Q", title=self.axis, scale=alt.Scale(domain=[0, self.top], nice=False))
        y = y.axis(format=self.form, tickCount=5)
        bars = alt.Chart(rows(data)).mark_bar()
        told = {column.name for column in self._labelled}
        labels = words("told", x, y, rows(each for each in data if each["class"] in told), align="center", dy=-8)
        drawn = bars.encode(x=x, y=y, color=alt.Color("colour:N", scale=None), tooltip=["class:N", "told:N"])
        return finished(layered([drawn, labels]), HEIGHT, self.alternative)

    def figure(self) -> Figure:
        """Return the figure for a paper."""
        figure = paper_figure(6.6, 3.0, self.title)
        axes, places = figure.subplots(), range(len(self.columns))
        colours = [ACCENT if column.is_marked else LIGHT for column in self.columns]
        axes.bar(places, [column.value for column in self.columns], color=colours, width=0.86)
        for place, column in zip(places, self.columns, strict=True):
            if column in self._labelled:
                axes.annotate(
                    column.told,
                    (place, column.value),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="center",
                    fontsize=SMALL,
                    color=DARK,
                )
        every = 1 + len(self.columns) // 20
        axes.set_xticks(list(places)[::every], [column.name for column in self.columns][::every])
        axes.set_ylim(0, self.top)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:{self.form}}")
        axes.set_xlabel(self.across)
        axes.set_ylabel(self.axis)
        return figure
