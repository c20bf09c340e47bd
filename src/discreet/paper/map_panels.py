"""Panels of the figures with heat maps and planes.

A heat map shows a value over a plane of two parameters, with lines at which it reaches a limit. The plane of variance
and bound shows the feasible settings in the strict and in the relaxed reading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.charts.chart import ACCENT, DARK, GREY, LETTERS, PLAIN, layered, rows, words
from discreet.charts.variance_bound_plane import Frame, LabelPlacer
from discreet.paper.curve_panels import BLUE, DASHES, INK, WIDTH, YELLOW, axis, named_colours

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import altair as alt

    from discreet.arrays import Floats
    from discreet.charts.variance_bound_plane import Label
    from discreet.paper.curve_panels import Cell

COLOURS = "cividis"
"""A perceptually uniform colour scheme, also for colour-blind readers."""
SHADES = 60
"""Number of distinct colours; adjacent cells of one colour are drawn as one rectangle."""
MAP_HEIGHT = 320
"""Pixels of a map between its axes."""
EVERY = 3
"""Step between the points of a line that are tried as the position of its label."""


@dataclass(frozen=True, eq=False)
class MapLine:
    """A line over the map.

    Attributes:
        label: the label next to the line.
        x: the x values.
        y: the y values.
        style: `-`, `--` or `:`.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: str = "-"


@dataclass(frozen=True, eq=False)
class HeatMap:
    """A heat map.

    Attributes:
        title: the title of the panel.
        x: the centres of the columns.
        y: the centres of the rows.
        values: the values by row and column; NaN for empty cells.
        x_label: the title of the x axis, with unit.
        y_label: the title of the y axis, with unit.
        value_label: the title of the colour scale.
        lines: the lines over the map.
        log_y: whether the y axis is logarithmic.
        log_values: whether the colour scale is logarithmic.
        highest: the value above which the colour stays the same; None for no limit.
    """

    title: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: Floats
    x_label: str
    y_label: str
    value_label: str
    lines: tuple[MapLine, ...] = ()
    log_y: bool = False
    log_values: bool = False
    highest: float | None = None

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", self.x_label, self.y_label, self.value_label)

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the map row by row, then its lines."""
        for y, row in zip(self.y, self.values.tolist(), strict=True):
            for x, value in zip(self.x, row, strict=True):
                yield ("map", x, y, value if np.isfinite(value) else None)
        for line in self.lines:
            for x, y in zip(line.x, line.y, strict=True):
                yield (line.label, x, y, None)

    def chart(self) -> alt.LayerChart:
        """Return the map, its colours and its lines."""
        import altair as alt

        across, up = _edges(self.x), _edges(self.y, log=self.log_y)
        x = axis(alt.X, "x", self.x_label, (across[0], across[-1]))
        y = axis(alt.Y, "y", self.y_label, (up[0], up[-1]), log=self.log_y)
        shown = np.minimum(self.values, self.highest) if self.highest else self.values
        least, most = float(np.nanmin(shown)), float(np.nanmax(shown))
        scale = {"scheme": COLOURS, "domain": [least, most], "type": "log" if self.log_values else "linear"}
        ticks = {"labelExpr": PLAIN, "tickCount": 6} if self.log_values else {"tickCount": 6}
        look = {"orient": "bottom", "gradientLength": WIDTH, "titleFontWeight": "normal", "titleLimit": WIDTH}
        look |= {"labelFontSize": LETTERS, "titleFontSize": LETTERS, "labelColor": DARK, "titleColor": DARK}
        colour = alt.Color("value:Q", title=self.value_label, scale=scale, legend={**look, **ticks})
        cells = alt.Chart(rows(self._cells(shown, across, up))).mark_rect(aria=False, x2Offset=0.7, y2Offset=-0.7)
        return layered(
            [
                cells.encode(x=x, x2="to_x:Q", y=y, y2="to_y:Q", color=colour),
                *(each for line in self.lines for each in _over(line, x, y)),
                *(
                    words("label", x, y, rows([{"x": at.x, "y": at.y, "label": at.text}]), color=INK, **_side(at))
                    for at in self._names()
                ),
            ]
        )

    def _cells(self, shown: Floats, across: Sequence[float], up: Sequence[float]) -> Iterator[dict[str, float]]:
        """Yield the map as rectangles; adjacent cells of one colour form one rectangle."""
        scaled = np.log10(shown) if self.log_values else shown
        least, most = float(np.nanmin(scaled)), float(np.nanmax(scaled))
        shades = np.round((scaled - least) / ((most - least) or 1.0) * SHADES)
        for row, shade in enumerate(shades.tolist()):
            for _, run in groupby(range(len(shade)), lambda column, shade=shade: str(shade[column])):  # type: ignore[misc]
                columns = list(run)
                if np.isfinite(shade[columns[0]]):
                    value = float(shown[row, columns[len(columns) // 2]])
                    yield {
                        "x": across[columns[0]],
                        "to_x": across[columns[-1] + 1],
                        "y": up[row],
                        "to_y": up[row + 1],
                        "value": value,
                    }

    def _names(self) -> Iterator[Label]:
        """Yield the labels of lines that cross the map, at positions free of lines and other labels."""
        up = math.log if self.log_y else float
        inside = {
            line.label: [
                (x, up(y))
                for x, y in zip(line.x, line.y, strict=True)
                if self.x[0] <= x <= self.x[-1] and self.y[0] <= y <= self.y[-1]
            ][::EVERY]
            for line in self.lines
        }
        frame = Frame((self.x[0], self.x[-1]), (up(self.y[0]), up(self.y[-1])), MAP_HEIGHT)
        places = LabelPlacer(frame, list(inside.values()), widths=(WIDTH,))
        for text, points in inside.items():
            if points:
                label = places.of_line(text, points[::-1])
                yield replace(label, y=math.exp(label.y)) if self.log_y else label


def _side(label: Label) -> dict[str, Any]:
    return {"align": label.side, "dx": label.dx, "dy": label.dy}


def _edges(centres: Sequence[float], *, log: bool = False) -> list[float]:
    """Return the limits of cells from their centres, one more than cells.

    >>> _edges((1.0, 2.0, 4.0))
    [0.5, 1.5, 3.0, 5.0]
    """
    at = np.log(centres) if log else np.array(centres)
    middles = (at[1:] + at[:-1]) / 2
    found = np.array([2 * at[0] - middles[0], *middles, 2 * at[-1] - middles[-1]])
    edges: list[float] = (np.exp(found) if log else found).tolist()
    return edges


def _over(line: MapLine, x: alt.X, y: alt.Y) -> Iterator[alt.Chart]:
    """Yield a line that is visible on every colour: dark over white."""
    import altair as alt

    points = zip(line.x, line.y, strict=True)
    data = rows({"x": at, "y": up, "number": number} for number, (at, up) in enumerate(points))
    for colour, wide in (("white", 3.6), (INK, 1.8)):
        drawn = alt.Chart(data).mark_line(color=colour, strokeWidth=wide, strokeDash=DASHES[line.style], clip=True)
        yield drawn.encode(x=x, y=y, order="number:Q")


STRICT, RELAXED = "strict", "relaxed"


@dataclass(frozen=True)
class Span:
    """The feasible variances at one bound.

    Attributes:
        bound: E.
        low: the minimum variance.
        high: the maximum variance; the bound is infeasible if it is below the minimum.
    """

    bound: int
    low: float
    high: float


@dataclass(frozen=True)
class EdgeLine:
    """A constraint as a line.

    Attributes:
        label: the formula with its value.
        variance: the limit at every bound.
        bound: the bounds.
        colour: the colour of the line.
        style: `-`, `--` or `:`.
    """

    label: str
    variance: tuple[float, ...]
    bound: tuple[float, ...]
    colour: str = DARK
    style: str = "-"


@dataclass(frozen=True)
class VariancePlane:
    """Variance against bound.

    Attributes:
        title: the title of the panel.
        strict: the feasible variances by bound in the strict reading.
        relaxed: the feasible variances by bound in the relaxed reading.
        edges: the constraints as lines.
        most_bound: the largest bound that users accept.
        widest: the largest variance of the panel.
        x_label: the title of the x axis, with unit.
        y_label: the title of the y axis, with unit.
    """

    title: str
    strict: tuple[Span, ...]
    relaxed: tuple[Span, ...]
    edges: tuple[EdgeLine, ...]
    most_bound: int
    widest: float
    x_label: str = "variance V of one noise term, persons squared"
    y_label: str = "bound E, persons"

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", self.y_label, f"{self.x_label}, minimum", f"{self.x_label}, maximum")

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the feasible variances of every bound, then the edges."""
        for name, spans in self._readings():
            for span in spans:
                yield (name, span.bound, span.low, span.high)
        for edge in self.edges:
            for variance, bound in zip(edge.variance, edge.bound, strict=True):
                yield (f"edge: {edge.label}", bound, variance, None)

    def chart(self) -> alt.LayerChart:
        """Return the feasible variances as bars and the constraints as lines over them, with their legends."""
        import altair as alt

        left = {name: any(span.low <= span.high for span in spans) for name, spans in self._readings()}
        called = {name: name if some else f"{name}: infeasible" for name, some in left.items()}
        x = axis(alt.X, "x", self.x_label, (0.0, self.widest))
        y = axis(alt.Y, "y", self.y_label, (0.4, self.most_bound + 1.0))
        y = y.axis(values=[span.bound for span in self.strict], format="d")
        bars = rows(
            {
                "x": span.low,
                "to_x": min(span.high, self.widest),
                "y": span.bound - 0.4,
                "to_y": span.bound + 0.4,
                "reading": called[name],
            }
            for name, spans in reversed(self._readings())
            for span in spans
            if span.low <= min(span.high, self.widest)
        )
        areas = alt.Chart(bars).mark_rect().encode(x=x, x2="to_x:Q", y=y, y2="to_y:Q", fill=_areas_above(called))
        top = alt.Chart(rows([{"y": self.most_bound + 0.5}])).mark_rule(color=GREY, strokeDash=DASHES[":"]).encode(y=y)
        named = _lines_below({edge.label: (edge.colour, edge.style) for edge in self.edges})
        edges = rows(
            {"x": variance, "y": bound, "number": number, "line": edge.label}
            for edge in self.edges
            for number, (variance, bound) in enumerate(zip(edge.variance, edge.bound, strict=True))
        )
        lines = alt.Chart(edges).mark_line(strokeWidth=1.8, clip=True).encode(x=x, y=y, order="number:Q", **named)
        return layered([areas, top, lines])

    def _readings(self) -> tuple[tuple[str, tuple[Span, ...]], ...]:
        return (STRICT, self.strict), (RELAXED, self.relaxed)


@dataclass(frozen=True)
class EpsilonLine:
    """Epsilon of a count: the error that no total exceeds, and the largest epsilon that averaging allows.

    Attributes:
        title: the title of the panel.
        epsilons: the values of the x axis.
        errors: by formula, the error that no total exceeds, strict first.
        most: by formula, the largest epsilon that averaging allows, strict first.
        accurate: the largest accepted error.
        strict: the minimum and the maximum epsilon in the strict reading; infeasible if the minimum is larger.
        relaxed: the minimum and the maximum epsilon in the relaxed reading.
    """

    title: str
    epsilons: tuple[float, ...]
    errors: dict[str, tuple[float, ...]]
    most: dict[str, float]
    accurate: float
    strict: tuple[float, float]
    relaxed: tuple[float, float]
    x_label: str = "epsilon of one count"
    y_label: str = "largest error of a total, persons"

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", self.x_label, self.y_label)

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the curves, the limits and the feasible ranges."""
        for name, errors in self.errors.items():
            for epsilon, error in zip(self.epsilons, errors, strict=True):
                yield (name, epsilon, error)
        for label, epsilon in self.most.items():
            yield (f"limit: {label}", epsilon, None)
        for name, ends in ((STRICT, self.strict), (RELAXED, self.relaxed)):
            for epsilon in ends:
                yield (name, epsilon, self.accurate)

    def chart(self) -> alt.LayerChart:
        """Return the feasible epsilons as bands and the constraints as lines over them, with their legends."""
        import altair as alt

        called = {STRICT: _left(STRICT, self.strict), RELAXED: _left(RELAXED, self.relaxed)}
        every = [error for errors in self.errors.values() for error in errors]
        x = axis(alt.X, "x", self.x_label, (self.epsilons[0], self.epsilons[-1]))
        y = axis(alt.Y, "y", self.y_label, (min(every), max(every)), log=True)
        bands = rows(
            {"x": low, "to_x": high, "reading": called[name]}
            for name, (low, high) in ((RELAXED, self.relaxed), (STRICT, self.strict))
            if low <= high
        )
        styles = ("-", "--")
        limits = {label: (ACCENT, style) for label, style in zip(self.most, styles, strict=True)}
        curves = {label: (DARK, style) for label, style in zip(self.errors, styles, strict=True)}
        named = _lines_below({**limits, **curves})
        upright = rows({"x": epsilon, "line": label} for label, epsilon in self.most.items())
        errors = rows(
            {"x": epsilon, "y": error, "line": label}
            for label, values in self.errors.items()
            for epsilon, error in zip(self.epsilons, values, strict=True)
        )
        accurate = rows([{"x": self.epsilons[-1], "y": self.accurate, "label": f"{self.accurate:g} persons"}])
        return layered(
            [
                alt.Chart(bands).mark_rect().encode(x=x, x2="to_x:Q", fill=_areas_above(called)),
                alt.Chart(accurate).mark_rule(color=GREY, strokeDash=DASHES[":"]).encode(y=y),
                alt.Chart(upright).mark_rule(strokeWidth=1.8).encode(x=x, **named),
                alt.Chart(errors).mark_line(strokeWidth=1.8, clip=True).encode(x=x, y=y, **named),
                words("label", x, y, accurate, align="right", dx=-3, dy=-8),
            ]
        )


def _left(name: str, ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{name}: {low:.3f} to {high:.3f}" if low <= high else f"{name}: infeasible"


def _areas_above(called: dict[str, str]) -> alt.Fill:
    """Return the colours of both readings, with the legend above: two legends below are wider than the panel."""
    import altair as alt

    colours = {called[STRICT]: BLUE, called[RELAXED]: YELLOW}
    return alt.Fill("reading:N", **named_colours(colours, symbolType="square", orient="top", columnPadding=24))


def _lines_below(lines: dict[str, tuple[str, str]]) -> dict[str, alt.Stroke | alt.StrokeDash]:
    """Return the colours and styles of lines by their formulas, with the legend below the axes."""
    import altair as alt

    below = {"orient": "bottom", "columns": 1, "symbolType": "stroke"}
    colours = named_colours({label: colour for label, (colour, _) in lines.items()}, **below)
    dashes = {"domain": list(lines), "range": [DASHES[style] for _, style in lines.values()]}
    look = {**colours["legend"], "symbolStrokeWidth": 2, "symbolSize": 300}
    return {
        "stroke": alt.Stroke("line:N", scale=colours["scale"], legend=look),
        "strokeDash": alt.StrokeDash("line:N", scale=dashes, legend=look),
    }
