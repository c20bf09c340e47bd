"""Bars across: a name over each, its value beside it, a mark for another value and a stroke for a limit."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.charts.paper import ACCENT, DARK, LIGHT, SMALL, beside, paper_figure
from discreet.charts.vega import finished, layered, rows, words

if TYPE_CHECKING:
    import altair as alt
    from matplotlib.figure import Figure

    from discreet.charts.chart import Spec

STEP, LINE = 44, 14
"""Pixels of a bar with its name, and of every further line of names."""
ACROSS, ACROSS_PAPER = 50, 75
"""Letters of a name that fit on a narrow screen, and on paper."""
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
        """Return the specification for a page."""
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

    def figure(self) -> Figure:
        """Return the figure for a paper."""
        last = len(self.bars) - 1
        names = [named_lines(bar.name, ACROSS_PAPER) for bar in self.bars]
        most = max(len(lines) for lines in names)
        figure = paper_figure(6.6, (0.42 + 0.13 * (most - 1)) * len(self.bars) + 1.2, self.title)
        axes = figure.subplots()
        colours = [ACCENT if bar.is_marked else LIGHT for bar in self.bars]
        axes.barh(range(len(self.bars)), [bar.value for bar in self.bars], color=colours, height=0.34)
        for place, (bar, lines) in enumerate(zip(self.bars, names, strict=True)):
            axes.annotate("\n".join(lines), (0, place - 0.26), va="bottom", fontsize=SMALL, color=DARK)
            beside(axes, bar.told, self.beside(bar), place, "left", (8 if self.other_label else 4, 0))
            if bar.other is not None:
                axes.plot([bar.other], [place], "o", color="white", markeredgecolor=DARK, markersize=5, zorder=4)
            if self.limit:
                axes.vlines(self.limit[0], place - 0.24, place + 0.24, color=DARK, lw=1.6, zorder=3)
        axes.annotate(self.key, (0, -0.5 - 0.42 * most), va="bottom", fontsize=SMALL, color=DARK)
        axes.set_xlim(0, self.top)
        axes.set_ylim(last + 0.5, -0.8 - 0.42 * most)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:{self.form}}")
        axes.set_xlabel(self.axis)
        return figure


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
