"""Bars, columns, ranges of counts, and dot plots of possible releases."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.charts.chart import DARK, GREY, LIGHT, finished, layered, rows, words

if TYPE_CHECKING:
    import altair as alt

    from discreet.charts.chart import Spec

STEP, LINE = 44, 14
"""Pixels of a bar with its name, and of every further line of a name."""
ACROSS = 50
"""The number of letters of a name that fit on a narrow screen."""
LINES = 2
WRITTEN = 0.17
"""The share of a narrow screen that the value next to a bar takes."""
GAP = "\u2003"
"""The gap between entries of the legend: one wide space, because browsers collapse several."""
LONGEST = 1.19
"""The end of an axis of shares, with room for the value of a bar of 100 %."""


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        name: the label above it.
        value: its length.
        text: the value as it is written.
        other: another value, drawn as an open dot.
        colour: MEETS or MISSES for a verdict, otherwise grey.
    """

    name: str
    value: float
    text: str
    other: float | None = None
    colour: str = GREY


@dataclass(frozen=True)
class BarChart:
    """Bars, the first on top.

    Attributes:
        name: the name of the chart.
        title: the message.
        bars: the bars.
        axis: the quantity with its unit.
        meaning: the quantity in words, for the text alternative.
        form: the format of ticks in Python and Vega: `.0%` or `,.0f`.
        longest: the end of the axis.
        limit: a target with its label, drawn as a stroke across every bar.
        other_label: the meaning of the open dots.
    """

    name: str
    title: str
    bars: tuple[Bar, ...]
    axis: str
    meaning: str
    form: str = ".0%"
    longest: float | None = None
    limit: tuple[float, str] | None = None
    other_label: str = ""

    @property
    def top(self) -> float:
        """Return the end of the axis, with room for the value of the longest bar."""
        values = [bar.value for bar in self.bars] + [bar.other or 0 for bar in self.bars]
        return self.longest or 1.18 * max(*values, 1e-9)

    @property
    def key(self) -> str:
        """Return the legend, one line above the bars."""
        marks = (f"○ {self.other_label}" if self.other_label else "", f"| {self.limit[1]}" if self.limit else "")
        return GAP.join(mark for mark in marks if mark)

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        first, many = self.bars[0], len(self.bars)
        others = f" to {self.bars[-1].text} for {self.bars[-1].name}" if many > 1 else ""
        limit = f"; {self.limit[1]}" if self.limit else ""
        return f"Bar chart of {self.meaning} ({many} bars): {first.text} for {first.name}{others}{limit}."

    def beside(self, bar: Bar) -> float:
        """Return the place of the value of a bar, to the right of bar, dot and target."""
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
        # Bars stand at the lower end of their rows, below their names.
        down = LINE * (most - 1) / 2
        data = rows(
            {
                "place": number,
                "name": bar.name,
                "value": bar.value,
                "text": bar.text,
                "colour": bar.colour,
            }
            for number, bar in enumerate(self.bars)
        )
        colour, told = alt.Color("colour:N", scale=None), ["name:N", alt.Tooltip("text:N", title=self.axis)]
        layers: list[alt.Chart | alt.LayerChart] = [
            alt.Chart(data).mark_bar(size=13, yOffset=down).encode(x=x, y=y, color=colour, tooltip=told)
        ]
        if self.limit:
            strokes = rows({"place": number, "value": self.limit[0]} for number in range(len(self.bars)))
            stroke = alt.Chart(strokes).mark_tick(color=DARK, thickness=2, height=18, yOffset=down, orient="vertical")
            layers.append(stroke.encode(x=x, y=y))
        if self.other_label:
            layers.append(self._dots(x, y, down))
        values = rows({"place": n, "value": self.beside(bar), "text": bar.text} for n, bar in enumerate(self.bars))
        layers.append(words("text", x, y, values, dx=9 if self.other_label else 5, dy=down))
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
            {"place": number, "value": bar.other, "name": bar.name}
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
        told = ["name:N", alt.Tooltip("value:Q", title=self.other_label, format=self.form)]
        chart: alt.Chart = alt.Chart(dots).mark_point(**look).encode(x=x, y=y, tooltip=told)
        return chart


def named_lines(name: str, letters: int) -> list[str]:
    """Return a name in at most two lines of so many letters; the middle of a longer name is omitted.

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
"""The number of columns from which on only the highest has its value above it."""


@dataclass(frozen=True)
class ChartColumn:
    """One column: its class, its height, and the value as it is written."""

    name: str
    value: float
    text: str


@dataclass(frozen=True)
class ColumnChart:
    """Columns from left to right.

    Attributes:
        name: the name of the chart.
        title: the message.
        columns: the columns.
        across: the meaning of the classes, with their unit.
        axis: the quantity with its unit.
        meaning: the quantity in words, for the text alternative.
        form: the format of ticks in Python and Vega.
    """

    name: str
    title: str
    columns: tuple[ChartColumn, ...]
    across: str
    axis: str
    meaning: str
    form: str = ".0%"

    @property
    def top(self) -> float:
        """Return the end of the axis, with room for the value of the highest column."""
        return 1.12 * max(*(column.value for column in self.columns), 1e-9)

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        first, last = self.columns[0], self.columns[-1]
        ends = f"{first.text} for {first.name}" + (f" to {last.text} for {last.name}" if last is not first else "")
        return f"Column chart of {self.meaning} ({len(self.columns)} columns): {ends}."

    @property
    def _labelled(self) -> list[ChartColumn]:
        """Return the columns with their value above them; of many only the highest."""
        if len(self.columns) < DENSE:
            return list(self.columns)
        return [max(self.columns, key=lambda column: column.value)]

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        data = [{"class": column.name, "value": column.value, "text": column.text} for column in self.columns]
        names = [column.name for column in self.columns]
        x = alt.X("class:O", sort=names, title=self.across)
        x = x.axis(labelAngle=0, labelOverlap=True, labelBound=1, domain=False, ticks=False)
        y = alt.Y("value:Q", title=self.axis, scale=alt.Scale(domain=[0, self.top], nice=False))
        y = y.axis(format=self.form, tickCount=5)
        bars = alt.Chart(rows(data)).mark_bar(color=GREY)
        labelled = {column.name for column in self._labelled}
        labels = words("text", x, y, rows(each for each in data if each["class"] in labelled), align="center", dy=-8)
        told = [alt.Tooltip("class:N", title=self.across), alt.Tooltip("text:N", title=self.axis)]
        drawn = bars.encode(x=x, y=y, tooltip=told)
        return finished(layered([drawn, labels]), COLUMNS_HEIGHT, self.alternative)


RANGES_HEIGHT = 260
PUBLISHED, TRUE = "published count, persons", "true count, persons"
EQUAL = "true = published"


@dataclass(frozen=True)
class CountRange:
    """One published count with the smallest and largest true count of its interval."""

    published: int
    low: int
    high: int
    is_marked: bool = False


@dataclass(frozen=True)
class RangeChart:
    """Intervals over published counts.

    Attributes:
        title: the message.
        ranges: the intervals by increasing published count.
        name: the name of the chart.
    """

    title: str
    ranges: tuple[CountRange, ...]
    name: str = "intervals"

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        shown = next((each for each in self.ranges if each.is_marked), self.ranges[-1])
        span = f"published {self.ranges[0].published} to {self.ranges[-1].published}"
        example = f"a published {shown.published} has a true count from {shown.low} to {shown.high}"
        return f"Intervals of the true count for every count {span}; {example}."

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        data = rows(
            {
                "published": each.published,
                "low": each.low,
                "high": each.high,
                "true": f"{each.low} to {each.high}",
                "colour": DARK if each.is_marked else GREY,
            }
            for each in self.ranges
        )
        first, last = self.ranges[0].published, self.ranges[-1].published
        x = alt.X("published:Q", title=PUBLISHED, scale=alt.Scale(domain=[first - 1, last + 1], nice=False))
        y = alt.Y("low:Q", title=TRUE, scale=alt.Scale(zero=True))
        bars = alt.Chart(data).mark_bar(size=5).encode(x=x.axis(format="d"), y=y, y2="high:Q")
        bars = bars.encode(
            color=alt.Color("colour:N", scale=None),
            tooltip=[alt.Tooltip("published:Q", title=PUBLISHED), alt.Tooltip("true:N", title=TRUE)],
        )
        ends = rows({"published": value, "low": max(value, 0)} for value in (max(first, 0), last))
        line = alt.Chart(ends).mark_line(color=LIGHT, strokeDash=[4, 3]).encode(x=x, y=y)
        label = words("label", x, y, rows([{"published": last, "low": last, "label": EQUAL}]), dx=8)
        marked = rows(
            {"published": r.published, "low": r.high, "label": f"{r.published}: {r.low} to {r.high}"}
            for r in self.ranges
            if r.is_marked
        )
        above = words("label", x, y, marked, align="right", dx=-4, dy=-8, fontWeight="bold")
        return finished(layered([line, bars, label, above]), RANGES_HEIGHT, self.alternative)


DOTS_HEIGHT = 200
RELEASES = 20
"""The number of dots: each stands for one of 20 equally likely releases."""


@dataclass(frozen=True)
class DotPlot:
    """The published values of one true count in 20 equally likely releases: the quantiles of its distribution.

    Attributes:
        title: the message.
        count: the true count.
        values: the published values, in increasing order.
        usual: the smallest and the largest value of the range in the title.
        name: the name of the chart.
    """

    title: str
    count: int
    values: tuple[int, ...]
    usual: tuple[int, int]
    name: str = "possible-releases"

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        span = f"{self.values[0]} to {self.values[-1]}"
        return f"Dot plot of {len(self.values)} possible releases of a count of {self.count}, published as {span}."

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        low, high = self.usual
        stacked = [self.values[:place].count(value) + 1 for place, value in enumerate(self.values)]
        data = rows(
            {"published": value, "height": height, "colour": DARK if low <= value <= high else LIGHT}
            for value, height in zip(self.values, stacked, strict=True)
        )
        first, last = min(self.values[0], low) - 1, max(self.values[-1], high) + 1
        x = alt.X(
            "published:Q", title=f"published count in {len(self.values)} possible releases; true count {self.count}"
        )
        x = x.scale(domain=[first, last], nice=False).axis(format="d", tickMinStep=1)
        y = alt.Y("height:Q", axis=None, scale=alt.Scale(domain=[0, max(stacked) + 1]))
        dots = alt.Chart(data).mark_point(filled=True, size=150, opacity=1)
        told = [alt.Tooltip("published:Q", title="published count")]
        true = alt.Chart(rows([{"published": self.count}])).mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=x)
        drawn = dots.encode(x=x, y=y, color=alt.Color("colour:N", scale=None), tooltip=told)
        return finished(layered([true, drawn]), DOTS_HEIGHT, self.alternative)
