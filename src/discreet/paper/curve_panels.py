"""Panels of the figures with bars and curves, and the figure itself.

Bars show the number in every bin, expected and in one draw, or a value by name. Curves have their names next to a point
and marks at selected values.

A figure consists of panels with their data, for a page, for print and as CSV. On a page the panels are stacked; in
files for print they are side by side below the title.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from discreet.charts.chart import DARK, GREY, PLAIN, layered, log_ticks, rows, specified, words
from discreet.charts.rendering import inline_svg, png, svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from discreet.charts.chart import Spec

    Cell = str | float | int | None
    Axis = TypeVar("Axis", alt.X, alt.Y)

WIDTH = 380
"""Pixels of a panel between its axes."""
DASHES: dict[str, list[float]] = {"-": [1, 0], "--": [6, 4], ":": [1.5, 3]}
"""Pixels of line and gap, by style."""


def axis(kind: type[Axis], field: str, title: str, ends: tuple[float, float], *, log: bool = False) -> Axis:
    """Return an axis from one value to another, optionally logarithmic."""
    scale = {"domain": list(ends), "nice": False, "padding": 0, "type": "log" if log else "linear"}
    made: Axis = kind(f"{field}:Q", title=title, scale=scale)
    return made.axis(values=log_ticks(*ends), labelExpr=PLAIN) if log else made.axis(tickCount=6)


def named_colours(names: dict[str, str], **look: Any) -> dict[str, Any]:  # noqa: ANN401 - of a legend
    """Return scale and legend of a channel: every name with its colour, also names without data."""
    scale = {"domain": list(names), "range": list(names.values())}
    return {"scale": scale, "legend": {"title": None, "labelLimit": 0, "labelFontSize": 12, "labelColor": DARK, **look}}


@dataclass(frozen=True)
class Series:
    """One series of bars.

    Attributes:
        label: the name of the series.
        heights: the heights of the bars, one per bin.
        colour: the colour of the bars.
        drawn: the values in one draw, shown as a line; empty without a draw.
        outline: whether to draw only the outline, over the other series.
    """

    label: str
    heights: tuple[float, ...]
    colour: str
    drawn: tuple[float, ...] = ()
    outline: bool = False


@dataclass(frozen=True)
class Bars:
    """Bars over bins.

    Attributes:
        title: the title of the panel.
        edges: the limits of the bins, one more than bins.
        series: the series, the largest first.
        x_label: the title of the x axis, with unit.
        y_label: the title of the y axis, with unit.
        log_x: whether the x axis is logarithmic.
        log_y: whether the y axis is logarithmic.
        least: the smallest height on a logarithmic axis.
    """

    title: str
    edges: tuple[float, ...]
    series: tuple[Series, ...]
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False
    least: float = 0.5

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", f"{self.x_label}, from", f"{self.x_label}, to", self.y_label, "in one draw")

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield every bin of every series."""
        for each in self.series:
            drawn = each.drawn or (None,) * len(each.heights)
            yield from zip(
                (each.label,) * len(each.heights), self.edges[:-1], self.edges[1:], each.heights, drawn, strict=True
            )

    def chart(self) -> alt.LayerChart:
        """Return the bars, and one draw as lines over them."""
        import altair as alt

        low = self.least if self.log_y else 0.0
        highest = max(max(each.heights) for each in self.series)
        top = (3 if self.log_y else 1.08) * max(highest, 2 * self.least)
        x = axis(alt.X, "x", self.x_label, (self.edges[0], self.edges[-1]), log=self.log_x)
        y = axis(alt.Y, "y", self.y_label, (low, top), log=self.log_y)
        look = {"orient": "top", "symbolType": "square", "columnPadding": 24}
        key = named_colours({each.label: each.colour for each in self.series}, **look)
        colour = alt.Color("series:N", **(key if len(self.series) > 1 else {**key, "legend": None}))
        layers: list[alt.Chart | alt.LayerChart] = []
        for each in self.series:
            heights = [max(height, low) for height in (*each.heights, each.heights[-1])]
            data = rows({"x": at, "y": h, "series": each.label} for at, h in zip(self.edges, heights, strict=True))
            steps = alt.Chart(data).encode(x=x, y=y, color=colour)
            if each.outline:
                layers.append(steps.mark_line(interpolate="step-after", strokeWidth=2))
            else:
                layers.append(steps.mark_area(interpolate="step-after", opacity=1).encode(y2=alt.datum(low)))
        layers += [self._draw_of(each, x, y, low) for each in self.series if each.drawn]
        return layered(layers)

    def _draw_of(self, series: Series, x: alt.X, y: alt.Y, low: float) -> alt.Chart:
        """Return one draw as a line, which leaves the panel at empty bins."""
        import altair as alt

        middles = [(begin + end) / 2 for begin, end in zip(self.edges[:-1], self.edges[1:], strict=True)]
        data = rows({"x": at, "y": max(y, low / 10)} for at, y in zip(middles, series.drawn, strict=True))
        line = alt.Chart(data).mark_line(color=DARK, strokeWidth=1, clip=True, point={"color": DARK, "size": 9})
        made: alt.Chart = line.encode(x=x, y=y)
        return made


@dataclass(frozen=True)
class NamedBars:
    """Bars with names.

    Attributes:
        title: the title of the panel.
        names: the names from top to bottom.
        values: the values, one per name.
        name_label: the title of the names.
        value_label: the title of the values, with unit.
    """

    title: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    name_label: str
    value_label: str

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return (self.name_label, self.value_label)

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield every bar."""
        yield from zip(self.names, self.values, strict=True)

    def chart(self) -> alt.LayerChart:
        """Return the bars with their values next to them."""
        import altair as alt

        data = rows(
            {"name": name, "value": value, "label": f"{value:,.0f}"}
            for name, value in zip(self.names, self.values, strict=True)
        )
        x = axis(alt.X, "value", self.value_label, (0.0, 1.15 * max(self.values)))
        y = alt.Y("name:N", sort=list(self.names), title=self.name_label).axis(ticks=False, labelFontSize=11)
        bars = alt.Chart(data).mark_bar(color=GREY).encode(x=x, y=y)
        return layered([bars, words("label", x, y, data, dx=4, fontSize=11)])


@dataclass(frozen=True)
class Curve:
    """One curve.

    Attributes:
        label: the name, shown at a point of the curve.
        y: the values, one for every x.
        colour: the colour of the line.
        style: `-`, `--` or `:`.
        at: the position of the name along the curve, as a share of its points.
        above: whether the name is at the upper right of this point; otherwise at its lower left.
    """

    label: str
    y: tuple[float, ...]
    colour: str
    style: str = "-"
    at: float = 0.5
    above: bool = True


@dataclass(frozen=True)
class Mark:
    """A straight line that marks a value.

    Attributes:
        value: the marked value.
        label: the label of the line.
        vertical: whether the line is vertical at an x; otherwise it is horizontal at a y.
        colour: the colour of the line.
        style: `-`, `--` or `:`.
    """

    value: float
    label: str
    vertical: bool = True
    colour: str = GREY
    style: str = "--"


@dataclass(frozen=True)
class Curves:
    """Curves over one axis.

    Attributes:
        title: the title of the panel.
        x: the x values of all curves.
        curves: the curves with their names.
        x_label: the title of the x axis, with unit.
        y_label: the title of the y axis, with unit.
        marks: the marked values.
        log_x: whether the x axis is logarithmic.
        log_y: whether the y axis is logarithmic.
        y_limits: the smallest and the largest y; by default those of the curves.
    """

    title: str
    x: tuple[float, ...]
    curves: tuple[Curve, ...]
    x_label: str
    y_label: str
    marks: tuple[Mark, ...] = ()
    log_x: bool = False
    log_y: bool = False
    y_limits: tuple[float, float] | None = None

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", self.x_label, self.y_label)

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield every curve, then the marks."""
        for curve in self.curves:
            for x, y in zip(self.x, curve.y, strict=True):
                yield (curve.label, x, y)
        for mark in self.marks:
            yield (
                (f"mark: {mark.label}", mark.value, None)
                if mark.vertical
                else (f"mark: {mark.label}", None, mark.value)
            )

    @property
    def limits(self) -> tuple[float, float]:
        """Return the smallest and the largest y of the panel."""
        every = [y for curve in self.curves for y in curve.y]
        return self.y_limits or (min(every), max(every))

    def chart(self) -> alt.LayerChart:
        """Return curves and marks."""
        import altair as alt

        x = axis(alt.X, "x", self.x_label, (self.x[0], self.x[-1]), log=self.log_x)
        y = axis(alt.Y, "y", self.y_label, self.limits, log=self.log_y)
        layers: list[alt.Chart | alt.LayerChart] = []
        for mark in self.marks:
            rule = alt.Chart(rows([{"x": mark.value, "y": mark.value}]))
            look = rule.mark_rule(color=mark.colour, strokeDash=DASHES[mark.style])
            layers.append(look.encode(x=x) if mark.vertical else look.encode(y=y))
        for curve in self.curves:
            data = rows({"x": at, "y": value} for at, value in zip(self.x, curve.y, strict=True))
            line = alt.Chart(data).mark_line(color=curve.colour, strokeDash=DASHES[curve.style], clip=True)
            layers.append(line.encode(x=x, y=y))
        layers += [self._name(curve, x, y) for curve in self.curves]
        return layered([*layers, *self._mark_labels(x, y)])

    def _name(self, curve: Curve, x: alt.X, y: alt.Y) -> alt.LayerChart:
        low, high = self.limits
        inside = [(x, y) for x, y in zip(self.x, curve.y, strict=True) if low <= y <= high]
        at = inside[round(curve.at * (len(inside) - 1))]
        where = {"align": "left", "dx": 6, "dy": -10} if curve.above else {"align": "right", "dx": -6, "dy": 10}
        label = rows([{"x": at[0], "y": at[1], "label": curve.label}])
        return words("label", x, y, label, fontWeight="bold", **where)

    def _mark_labels(self, x: alt.X, y: alt.Y) -> Iterator[alt.LayerChart]:
        """Yield the labels of marks: along vertical ones from below; at the right end of horizontal ones."""
        flat = sorted((mark for mark in self.marks if mark.label and not mark.vertical), key=lambda mark: mark.value)
        for number, mark in enumerate(flat):
            at = rows([{"y": mark.value, "label": mark.label}])
            below = number == 0 and len(flat) > 1
            yield words("label", {"value": WIDTH}, y, at, align="right", dx=-2, dy=9 if below else -7)
        for mark in self.marks:
            if mark.label and mark.vertical:
                at = rows([{"x": mark.value, "y": self.limits[0], "label": mark.label}])
                yield words("label", x, y, at, angle=270, baseline="bottom", dx=5, dy=-3)


BLUE, YELLOW, ORANGE = "#0072b2", "#e6b800", "#d55e00"
"""Colours that are distinct with any colour vision (Okabe and Ito)."""
INK = "#1c1e21"


class Panel(Protocol):
    """One drawing of a figure."""

    @property
    def title(self) -> str:
        """Return the title of the panel; empty if the title of the figure suffices."""

    @property
    def head(self) -> tuple[str, ...]:
        """Return the names of the columns of its data, with units."""

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the rows of its data."""

    def chart(self) -> alt.LayerChart:
        """Return the chart without title and size."""


@dataclass(frozen=True)
class PaperFigure:
    """One figure.

    Attributes:
        name: the name of its files.
        title: the title, which states the main result.
        caption: the content, and the number of the figure in the paper.
        alternative: the text alternative with the most important numbers.
        panels: the panels.
        height: the height of one panel between its axes, in pixels.
        columns: the number of panels side by side in print.
    """

    name: str
    title: str
    caption: str
    alternative: str
    panels: tuple[Panel, ...]
    height: int = 220
    columns: int = 2

    def spec(self) -> Spec:
        """Return the specification for print."""
        return self._specified(min(self.columns, len(self.panels)))

    def page_svg(self) -> str:
        """Return the drawing for a page, with stacked panels."""
        return inline_svg(self._specified(1), self.name, self.alternative)

    def _specified(self, columns: int) -> Spec:
        import altair as alt

        panels = [panel.chart().properties(width=WIDTH, height=self.height) for panel in self.panels]
        named = [
            drawn.properties(title=panel.title) if panel.title else drawn
            for drawn, panel in zip(panels, self.panels, strict=True)
        ]
        every = alt.concat(*named, columns=columns, spacing=24).resolve_scale(
            color="independent", fill="independent", stroke="independent", strokeDash="independent"
        )
        return specified(every, self.alternative)


def figure_files(shown: PaperFigure) -> dict[str, bytes]:
    """Return the files of a figure by name: PNG and SVG for print, and the data of every panel as CSV."""
    found = {f"{shown.name}.png": png(shown), f"{shown.name}.svg": svg(shown)}
    for number, panel in enumerate(shown.panels, start=1):
        name = f"{shown.name}.csv" if len(shown.panels) == 1 else f"{shown.name}-{number}.csv"
        found[name] = _csv(panel)
    return found


def _csv(panel: Panel) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(panel.head)
    for row in panel.rows():
        writer.writerow(["" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else cell for cell in row])
    return text.getvalue().encode()
