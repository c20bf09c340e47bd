"""Panels of the paper: bars and curves.

Bars by size: the number in every bin, as expected and in one draw; and bars by name.

Curves that are named beside a point, with marks at values that matter.

A figure of the paper: panels with their data, for a page, for print and as numbers. On a page the panels stand below
each other; in files for print they stand side by side, under their message.
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
    """Return an axis from one value to another, logarithmic if asked for."""
    scale = {"domain": list(ends), "nice": False, "padding": 0, "type": "log" if log else "linear"}
    made: Axis = kind(f"{field}:Q", title=title, scale=scale)
    return made.axis(values=log_ticks(*ends), labelExpr=PLAIN) if log else made.axis(tickCount=6)


def named_colours(names: dict[str, str], **look: Any) -> dict[str, Any]:  # noqa: ANN401 - of a legend
    """Return scale and legend of a channel: every name with its colour, also where nothing has it."""
    scale = {"domain": list(names), "range": list(names.values())}
    return {"scale": scale, "legend": {"title": None, "labelLimit": 0, "labelFontSize": 12, "labelColor": DARK, **look}}


@dataclass(frozen=True)
class Series:
    """One kind of thing that is counted in every bin.

    Attributes:
        label: its name.
        heights: of the bars, one per bin.
        colour: of the bars.
        drawn: the same in one draw, as a line; nothing if there is none.
        outline: whether only its outline is drawn, over what is behind.
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
        title: of the panel.
        edges: limits of the bins, one more than there are bins.
        series: what is counted, the largest first.
        x_label: with its unit.
        y_label: the same.
        log_x: whether the bins go by ratio.
        log_y: whether the heights do.
        least: the smallest height that is shown where these go by ratio.
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
        """Give every bin of every series."""
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
        """Return one draw as a line, which leaves the panel where there is nothing."""
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
        title: of the panel.
        names: from top to bottom.
        values: one per name.
        name_label: what the names are.
        value_label: with its unit.
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
        """Give every bar."""
        yield from zip(self.names, self.values, strict=True)

    def chart(self) -> alt.LayerChart:
        """Return the bars with their values beside them."""
        import altair as alt

        data = rows(
            {"name": name, "value": value, "told": f"{value:,.0f}"}
            for name, value in zip(self.names, self.values, strict=True)
        )
        x = axis(alt.X, "value", self.value_label, (0.0, 1.15 * max(self.values)))
        y = alt.Y("name:N", sort=list(self.names), title=self.name_label).axis(ticks=False, labelFontSize=11)
        bars = alt.Chart(data).mark_bar(color=GREY).encode(x=x, y=y)
        return layered([bars, words("told", x, y, data, dx=4, fontSize=11)])


@dataclass(frozen=True)
class Curve:
    """One curve.

    Attributes:
        label: its name, written at a point of it.
        y: one for every x.
        colour: of the line.
        style: `-`, `--` or `:`.
        at: where along the curve the name stands, as a share of its points.
        above: whether the name stands to the upper right of that point, or to its lower left.
    """

    label: str
    y: tuple[float, ...]
    colour: str
    style: str = "-"
    at: float = 0.5
    above: bool = True


@dataclass(frozen=True)
class Mark:
    """A straight line across: a value that matters.

    Attributes:
        value: where.
        label: what it is.
        vertical: whether it stands at an x, or lies at a y.
        colour: of the line.
        style: `-`, `--` or `:`.
    """

    value: float
    label: str
    vertical: bool = True
    colour: str = GREY
    style: str = "--"


@dataclass(frozen=True)
class Curves:
    """Some curves over one axis.

    Attributes:
        title: of the panel.
        x: of all curves.
        curves: with their names.
        x_label: with its unit.
        y_label: the same.
        marks: values that matter.
        log_x: whether x goes by ratio.
        log_y: whether y does.
        y_limits: least and largest y that are shown; all if left out.
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
        """Give every curve, then the marks."""
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
        """Return the least and the largest y that are shown."""
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
        """Give the labels of marks: along upright ones from below; at the right end of flat ones, the lowest below."""
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
"""Distinct for people with any colour vision (Okabe and Ito)."""
INK = "#1c1e21"


class Panel(Protocol):
    """One drawing of a figure."""

    @property
    def title(self) -> str:
        """Return what it shows, in a few words; nothing if the figure says it."""

    @property
    def head(self) -> tuple[str, ...]:
        """Return the names of the columns of its data, with units."""

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Give its data."""

    def chart(self) -> alt.LayerChart:
        """Return it drawn, without title and size."""


@dataclass(frozen=True)
class PaperFigure:
    """One figure.

    Attributes:
        name: of its files.
        title: the message.
        caption: what is drawn, and which figure of the paper it is.
        alternative: the same in words for those who cannot see it, with the most important numbers.
        panels: its drawings.
        height: of one panel between its axes, in pixels.
        columns: how many panels stand side by side in print.
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
        """Return the drawing for a page, panels below each other."""
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
