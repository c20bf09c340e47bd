"""Bars, columns and ranges.

Bars across: a name over each, its value beside it, a mark for another value and a stroke for a limit.

Columns over classes in their order: each with its value over it.

Ranges: for every published count the true counts that may stand behind it.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.charts.chart import ACCENT, DARK, GREY, LIGHT, finished, layered, rows, words

if TYPE_CHECKING:
    import altair as alt

    from discreet.charts.chart import Spec

STEP, LINE = 44, 14
"""Pixels of a bar with its name, and of every further line of names."""
ACROSS = 50
"""Letters of a name that fit on a narrow screen."""
LINES = 2
WRITTEN = 0.17
"""The share of a narrow screen that a value takes beside its bar."""
GAP = "\u2003"
"""Between what marks mean: a wide space, for browsers draw several as one."""
LONGEST = 1.19
"""Where an axis of shares ends, so that a value has room beside a bar of 100 %."""


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        name: written over it.
        value: its length.
        told: written beside it.
        other: another value, drawn as an open dot.
        is_marked: whether it has the accent.
    """

    name: str
    value: float
    told: str
    other: float | None = None
    is_marked: bool = True


@dataclass(frozen=True)
class BarChart:
    """Bars, the first on top.

    Attributes:
        name: of the chart.
        title: the message.
        bars: what is drawn.
        axis: what the length is, with its unit.
        said: what bars and dots are, for those who cannot see them.
        form: of the ticks, as Python and Vega both write it: `.0%` or `,.0f`.
        longest: where the axis ends.
        limit: a value that bars are held against, with its label; a stroke across every bar.
        other_label: what the open dots are.
    """

    name: str
    title: str
    bars: tuple[Bar, ...]
    axis: str
    said: str
    form: str = ".0%"
    longest: float | None = None
    limit: tuple[float, str] | None = None
    other_label: str = ""

    @property
    def top(self) -> float:
        """Return where the axis ends; beyond the longest bar its value is written."""
        values = [bar.value for bar in self.bars] + [bar.other or 0 for bar in self.bars]
        return self.longest or 1.18 * max(*values, 1e-9)

    @property
    def key(self) -> str:
        """Return what marks mean, one line over the bars."""
        marks = (f"○ {self.other_label}" if self.other_label else "", f"| {self.limit[1]}" if self.limit else "")
        return GAP.join(mark for mark in marks if mark)

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        told = "; ".join(
            f"{bar.name}: {bar.told}"
            + (f", {self.other_label} {bar.other:{self.form}}" if bar.other is not None else "")
            for bar in self.bars
        )
        limit = f" A line stands at {self.limit[0]:{self.form}}: {self.limit[1]}." if self.limit else ""
        return f"{self.said} {told}.{limit}"

    def beside(self, bar: Bar) -> float:
        """Return where the value of a bar begins: beyond bar, mark and limit, where nothing covers it."""
        end = max(bar.value, bar.other or 0)
        if self.limit and end <= self.limit[0] <= end + WRITTEN * self.top:
            return self.limit[0]
        return end

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        y = alt.Y("place:O", axis=None, sort=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
        x = alt.X("value:Q", title=self.axis, scale=alt.Scale(domain=[0, self.top], nice=False))
        x = x.axis(format=self.form, tickCount=5)
        names = [named_lines(bar.name, ACROSS) for bar in self.bars]
        most = max(len(lines) for lines in names)
        # Bars stand at the lower end of their rows, names over them.
        down = LINE * (most - 1) / 2
        data = rows(
            {
                "place": number,
                "name": bar.name,
                "value": bar.value,
                "told": bar.told,
                "colour": ACCENT if bar.is_marked else LIGHT,
            }
            for number, bar in enumerate(self.bars)
        )
        colour, told = alt.Color("colour:N", scale=None), ["name:N", "told:N"]
        layers: list[alt.Chart | alt.LayerChart] = [
            alt.Chart(data).mark_bar(size=13, yOffset=down).encode(x=x, y=y, color=colour, tooltip=told)
        ]
        if self.limit:
            strokes = rows({"place": number, "value": self.limit[0]} for number in range(len(self.bars)))
            stroke = alt.Chart(strokes).mark_tick(color=DARK, thickness=2, height=18, yOffset=down, orient="vertical")
            layers.append(stroke.encode(x=x, y=y))
        if self.other_label:
            layers.append(self._dots(x, y, down))
        values = rows({"place": n, "value": self.beside(bar), "told": bar.told} for n, bar in enumerate(self.bars))
        layers.append(words("told", x, y, values, dx=9 if self.other_label else 5, dy=down))
        for line in range(most):
            written = rows(
                {"place": number, "line": lines[len(lines) - 1 - line], "zero": 0}
                for number, lines in enumerate(names)
                if line < len(lines)
            )
            layers.append(words("line", alt.X("zero:Q"), y, written, dy=down - 16 - LINE * line))
        if self.key:
            layers.append(words("label", alt.X("zero:Q"), {"value": -11}, rows([{"zero": 0, "label": self.key}])))
        return finished(layered(layers), (STEP + LINE * (most - 1)) * len(self.bars), self.alternative)

    def _dots(self, x: alt.X, y: alt.Y, down: float) -> alt.Chart:
        import altair as alt

        dots = rows(
            {"place": number, "value": bar.other, "name": bar.name, "label": self.other_label}
            for number, bar in enumerate(self.bars)
            if bar.other is not None
        )
        look: dict[str, Any] = {
            "shape": "circle",
            "size": 60,
            "fill": "white",
            "stroke": DARK,
            "opacity": 1,
            "yOffset": down,
        }
        told = ["name:N", "label:N", alt.Tooltip("value:Q", format=self.form)]
        chart: alt.Chart = alt.Chart(dots).mark_point(**look).encode(x=x, y=y, tooltip=told)
        return chart


def named_lines(name: str, letters: int) -> list[str]:
    """Return a name in lines of so many letters, at most two; of a longer one the middle is left out.

    >>> named_lines("age by sex by region by health by industry", 16)
    ['age by sex by ..', 'by industry']
    """
    lines = textwrap.wrap(name, letters, break_on_hyphens=False) or [""]
    if len(lines) <= LINES:
        return lines
    # Names that begin alike differ at their ends.
    return [f"{lines[0][: letters - 3].rstrip()} ..", textwrap.wrap(name[::-1], letters)[0][::-1]]


COLUMNS_HEIGHT = 220
DENSE = 16
"""Columns from which on not every one has its value written over it."""


@dataclass(frozen=True)
class ChartColumn:
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
    columns: tuple[ChartColumn, ...]
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
    def _labelled(self) -> list[ChartColumn]:
        """Return the columns that have their value written over them; of many the highest alone."""
        if len(self.columns) < DENSE:
            return list(self.columns)
        return [max(self.columns, key=lambda column: column.value)]

    def spec(self) -> Spec:
        """Return the specification."""
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
        return finished(layered([drawn, labels]), COLUMNS_HEIGHT, self.alternative)


RANGES_HEIGHT = 260
PUBLISHED, TRUE = "published count, persons", "true count, persons"
AS_IT_IS = "as published"


@dataclass(frozen=True)
class CountRange:
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
    ranges: tuple[CountRange, ...]
    name: str = "intervals"

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        told = "; ".join(f"{each.published}: {each.low} to {each.high}" for each in self.ranges)
        return f"Upright lines: the true counts behind every published one. {told}."

    def spec(self) -> Spec:
        """Return the specification."""
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
        label = words("label", x, y, rows([{"published": last, "low": last, "label": AS_IT_IS}]), dx=8)
        marked = rows(
            {"published": r.published, "low": r.high, "label": f"{r.published}: {r.low} to {r.high}"}
            for r in self.ranges
            if r.is_marked
        )
        above = words("label", x, y, marked, align="right", dx=-4, dy=-8, color=ACCENT)
        return finished(layered([line, bars, label, above]), RANGES_HEIGHT, self.alternative)
