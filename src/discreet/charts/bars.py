"""Bars across: a name over each, its value at its end, a mark for another value and a line for a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, DARK, LIGHT, SMALL, beside, paper_figure
from discreet.charts.vega import finished, layered, rows, words

if TYPE_CHECKING:
    import altair as alt
    from matplotlib.figure import Figure

    from discreet.charts.chart import Spec

STEP = 44
LONGEST = 330
"""Pixels of a name that fit on a narrow screen."""
LETTERS_ACROSS = 75


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        name: written over it.
        value: its length.
        told: written at its end.
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
        limit: a value that bars are held against, with its label.
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
    def alternative(self) -> str:
        """Return what is drawn, in words."""
        told = "; ".join(
            f"{bar.name}: {bar.told}"
            + (f", {self.other_label} {bar.other:{self.form}}" if bar.other is not None else "")
            for bar in self.bars
        )
        limit = f" A line stands at {self.limit[0]:{self.form}}: {self.limit[1]}." if self.limit else ""
        return f"{self.said} {told}.{limit}"

    def spec(self) -> Spec:
        """Return the specification for a page."""
        import altair as alt

        y = alt.Y("place:O", axis=None, sort=None)
        x = alt.X("value:Q", title=self.axis, scale=alt.Scale(domain=[0, self.top], nice=False))
        x = x.axis(format=self.form, tickCount=5)
        data = rows(
            {
                "place": number,
                "name": bar.name,
                "value": bar.value,
                "told": bar.told,
                "colour": ACCENT if bar.is_marked else LIGHT,
                "zero": 0,
            }
            for number, bar in enumerate(self.bars)
        )
        colour = alt.Color("colour:N", scale=None)
        layers: list[alt.Chart | alt.LayerChart] = [
            alt.Chart(data).mark_bar(size=13).encode(x=x, y=y, color=colour, tooltip=["name:N", "told:N"])
        ]
        if self.limit:
            line = rows([{"value": self.limit[0], "label": self.limit[1]}])
            layers.append(alt.Chart(line).mark_rule(color=DARK, strokeWidth=2, strokeDash=[5, 3]).encode(x=x))
            side = "left" if self.limit[0] < 0.5 * self.top else "right"
            layers.append(words("label", x, {"value": -9}, line, align=side))
        layers += [
            words("name", alt.X("zero:Q"), y, data, dy=-15, limit=LONGEST),
            words("told", x, y, data, dx=9 if self.other_label else 4),
        ]
        if self.other_label:
            layers += self._dots(x, y)
        return finished(layered(layers), STEP * len(self.bars), self.alternative)

    def _dots(self, x: alt.X, y: alt.Y) -> list[alt.Chart | alt.LayerChart]:
        import altair as alt

        there = [(number, bar) for number, bar in enumerate(self.bars) if bar.other is not None]
        dots = rows({"place": n, "value": bar.other, "name": bar.name, "label": self.other_label} for n, bar in there)
        drawn = alt.Chart(dots).mark_point(shape="circle", size=60, fill="white", stroke=DARK, opacity=1)
        told = ["name:N", "label:N", alt.Tooltip("value:Q", format=self.form)]
        found: list[alt.Chart | alt.LayerChart] = [drawn.encode(x=x, y=y, tooltip=told)]
        if there:
            number, bar = there[-1]
            last = rows([{"place": number, "value": bar.other, "label": f"○ {self.other_label}"}])
            side = "left" if (bar.other or 0) < 0.5 * self.top else "right"
            found.append(words("label", x, y, last, dy=19, align=side))
        return found

    def figure(self) -> Figure:
        """Return the figure for a paper."""
        last = len(self.bars) - 1
        figure = paper_figure(6.6, 0.42 * len(self.bars) + 1.2, self.title)
        axes = figure.subplots()
        colours = [ACCENT if bar.is_marked else LIGHT for bar in self.bars]
        axes.barh(range(len(self.bars)), [bar.value for bar in self.bars], color=colours, height=0.34)
        for place, bar in enumerate(self.bars):
            axes.annotate(_short(bar.name), (0, place - 0.26), va="bottom", fontsize=SMALL, color=DARK)
            beside(axes, bar.told, bar.value, place, "left", (8 if self.other_label else 3, 0))
            if bar.other is not None:
                axes.plot([bar.other], [place], "o", color="white", markeredgecolor=DARK, markersize=5, zorder=4)
        dots = [(place, bar.other) for place, bar in enumerate(self.bars) if bar.other is not None]
        if dots and self.other_label:
            place, value = dots[-1]
            side = "left" if value < 0.5 * self.top else "right"
            beside(axes, f"○ {self.other_label}", value, place + 0.42, side, (0, 0))
        if self.limit:
            axes.axvline(self.limit[0], color=DARK, lw=1.3, ls=(0, (4, 2)), zorder=1)
            side = "left" if self.limit[0] < 0.5 * self.top else "right"
            beside(axes, self.limit[1], self.limit[0], -0.85, side, (3 if side == "left" else -3, 0))
        axes.set_xlim(0, self.top)
        axes.set_ylim(last + 0.75, -1.1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:{self.form}}")
        axes.set_xlabel(self.axis)
        return figure


def _short(name: str) -> str:
    return name if len(name) <= LETTERS_ACROSS else f"{name[: LETTERS_ACROSS - 2]} .."
