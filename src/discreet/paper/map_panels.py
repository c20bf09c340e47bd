"""Panels of the paper: heat maps and planes.

A heat map with lines over it: what happens over a plane of two numbers, and where it passes a limit.

The plane of variance and bound: which settings every constraint leaves, read strictly and with some slack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.charts.chart import ACCENT, DARK, GREY
from discreet.paper.curve_panels import BLUE, INK, YELLOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from discreet.arrays import Floats
    from discreet.paper.curve_panels import Cell

COLOURS = "cividis"
"""Even steps of brightness, also for the colour blind."""


@dataclass(frozen=True, eq=False)
class MapLine:
    """A line over the map.

    Attributes:
        label: what it is, written beside it.
        x: along the first axis.
        y: along the second.
        style: `-`, `--` or `:`.
        at: where along the line the label stands, as a share of its points.
        side: of the point on which the label stands.
        above: whether the label stands above the line, or below it.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: str = "-"
    at: float = 1.0
    side: str = "left"
    above: bool = True


@dataclass(frozen=True, eq=False)
class HeatMap:
    """A heat map.

    Attributes:
        title: of the panel.
        x: centres of the columns.
        y: centres of the rows.
        values: by row and column; not a number where there is nothing.
        x_label: with its unit.
        y_label: the same.
        value_label: what the colours mean.
        lines: over it.
        log_y: whether rows go by ratio.
        log_values: whether colours go by power of ten.
        highest: from which on the colour stays the same.
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
        """Give the map row by row, then its lines."""
        for y, row in zip(self.y, self.values.tolist(), strict=True):
            for x, value in zip(self.x, row, strict=True):
                yield ("map", x, y, value if np.isfinite(value) else None)
        for line in self.lines:
            for x, y in zip(line.x, line.y, strict=True):
                yield (line.label, x, y, None)

    def draw(self, axes: Axes) -> None:
        """Draw the map, its colours and its lines."""
        from matplotlib.colors import LogNorm, Normalize

        shown = np.minimum(self.values, self.highest) if self.highest else self.values
        kind = LogNorm if self.log_values else Normalize
        scale = kind(vmin=float(np.nanmin(shown)), vmax=float(np.nanmax(shown)))
        mesh = axes.pcolormesh(self.x, self.y, shown, cmap=COLOURS, norm=scale, shading="nearest", rasterized=True)
        bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02)
        bar.set_label(self.value_label)
        if self.log_y:
            axes.set_yscale("log")
        # The lines may lead out of the map: the axes stay with it.
        limits = axes.get_xlim(), axes.get_ylim()
        for line in self.lines:
            self._line(axes, line)
        axes.set_xlim(limits[0])
        axes.set_ylim(limits[1])
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)

    def _line(self, axes: Axes, line: MapLine) -> None:
        axes.plot(line.x, line.y, line.style, color="white", lw=3.4, solid_capstyle="round")
        axes.plot(line.x, line.y, line.style, color=INK, lw=1.8)
        inside = [
            (x, y)
            for x, y in zip(line.x, line.y, strict=True)
            if self.x[0] <= x <= self.x[-1] and self.y[0] <= y <= self.y[-1]
        ]
        if not inside:
            return
        x, y = inside[round(line.at * (len(inside) - 1))]
        axes.annotate(
            line.label,
            (x, y),
            xytext=(6 if line.side == "left" else -6, 5 if line.above else -5),
            textcoords="offset points",
            ha=line.side,
            va="bottom" if line.above else "top",
            fontsize=9,
            color=INK,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.82},
        )


STRICT, RELAXED = "strict", "relaxed"


@dataclass(frozen=True)
class Span:
    """What one bound leaves.

    Attributes:
        bound: E.
        low: the least variance.
        high: the largest; below the least, nothing is left.
    """

    bound: int
    low: float
    high: float


@dataclass(frozen=True)
class EdgeLine:
    """A constraint as a line.

    Attributes:
        label: its formula with its number.
        variance: that it gives at every bound.
        bound: the bounds.
        colour: of the line.
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
        title: of the panel.
        strict: what is left by bound.
        relaxed: the same with some slack.
        edges: the constraints as lines.
        most_bound: the largest bound that users accept.
        widest: the largest variance shown.
        x_label: with its unit.
        y_label: the same.
    """

    title: str
    strict: tuple[Span, ...]
    relaxed: tuple[Span, ...]
    edges: tuple[EdgeLine, ...]
    most_bound: int
    widest: float
    x_label: str = "variance V of one noise, persons squared"
    y_label: str = "bound E, persons"

    @property
    def head(self) -> tuple[str, ...]:
        """Return the columns of the data."""
        return ("series", self.y_label, f"{self.x_label}, least", f"{self.x_label}, largest")

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Give what every bound leaves, then the edges."""
        for name, spans in self._readings():
            for span in spans:
                yield (name, span.bound, span.low, span.high)
        for edge in self.edges:
            for variance, bound in zip(edge.variance, edge.bound, strict=True):
                yield (f"edge: {edge.label}", bound, variance, None)

    def draw(self, axes: Axes) -> None:
        """Draw what is left as bars, the edges over them, and name all below."""
        for spans, colour in ((self.relaxed, YELLOW), (self.strict, BLUE)):
            shown = [span for span in spans if span.low <= span.high]
            widths = [min(span.high, self.widest) - span.low for span in shown]
            lows, bounds = [span.low for span in shown], [span.bound for span in shown]
            axes.barh(bounds, widths, left=lows, height=0.8, color=colour)
        for edge in self.edges:
            axes.plot(edge.variance, edge.bound, edge.style, color=edge.colour, lw=1.6, label=edge.label)
        axes.axhline(self.most_bound + 0.5, color=GREY, lw=1, ls=":")
        axes.set_xlim(0, self.widest)
        axes.set_ylim(0.4, self.most_bound + 1)
        axes.set_yticks([span.bound for span in self.strict])
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        left = {name: any(span.low <= span.high for span in spans) for name, spans in self._readings()}
        name_below(axes, {name: name if some else f"{name}: nothing is left" for name, some in left.items()})

    def _readings(self) -> tuple[tuple[str, tuple[Span, ...]], ...]:
        return (STRICT, self.strict), (RELAXED, self.relaxed)


@dataclass(frozen=True)
class EpsilonLine:
    """Epsilon of a count: the error that all totals keep to, and what averaging allows.

    Attributes:
        title: of the panel.
        epsilons: the first axis.
        errors: by formula, the error that no total exceeds, strict first.
        most: by formula, the largest epsilon that averaging allows, strict first.
        accurate: the error that is accepted.
        strict: least and largest epsilon, nothing left if the least is larger.
        relaxed: the same.
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
        """Give the curves, the limits and what is left."""
        for name, errors in self.errors.items():
            for epsilon, error in zip(self.epsilons, errors, strict=True):
                yield (name, epsilon, error)
        for label, epsilon in self.most.items():
            yield (f"limit: {label}", epsilon, None)
        for name, ends in ((STRICT, self.strict), (RELAXED, self.relaxed)):
            for epsilon in ends:
                yield (name, epsilon, self.accurate)

    def draw(self, axes: Axes) -> None:
        """Draw what is left as bands, the limits over them, and name all below."""
        axes.set_yscale("log")
        for (low, high), colour in ((self.relaxed, YELLOW), (self.strict, BLUE)):
            if low <= high:
                axes.axvspan(low, high, color=colour, lw=0)
        for (label, epsilon), style in zip(self.most.items(), ("-", "--"), strict=True):
            axes.axvline(epsilon, color=ACCENT, ls=style, lw=1.6, label=label)
        for (name, errors), style in zip(self.errors.items(), ("-", "--"), strict=True):
            axes.plot(self.epsilons, errors, style, color=DARK, lw=1.8, label=name)
        axes.axhline(self.accurate, color=GREY, lw=1, ls=":")
        axes.annotate(
            f"{self.accurate:g} persons",
            (1, self.accurate),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 3),
            textcoords="offset points",
            ha="right",
            fontsize=8.5,
            color=DARK,
        )
        axes.set_xlim(self.epsilons[0], self.epsilons[-1])
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        name_below(axes, {STRICT: _left(STRICT, self.strict), RELAXED: _left(RELAXED, self.relaxed)})


def _left(name: str, ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{name}: {low:.3f} to {high:.3f}" if low <= high else f"{name}: nothing is left"


def name_below(axes: Axes, readings: dict[str, str]) -> None:
    """Name every line and area below the axes, where there is room for a formula."""
    from matplotlib.patches import Patch

    areas = [Patch(color=colour, label=readings[name]) for name, colour in ((STRICT, BLUE), (RELAXED, YELLOW))]
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    axes.legend(
        handles=[*areas, *lines],
        loc="upper left",
        bbox_to_anchor=(-0.02, -0.15),
        frameon=False,
        fontsize=9.5,
        labelcolor=DARK,
    )
