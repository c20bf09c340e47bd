"""A heat map with lines over it: what happens over a plane of two numbers, and where it passes a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.paper.paper_figure import INK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from discreet.arrays import Floats
    from discreet.paper.paper_figure import Cell

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
