"""Curves that are named where they end, with marks at the values that matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import DARK, GREY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from discreet.paper.paper_figure import Cell


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

    def draw(self, axes: Axes) -> None:
        """Draw curves and marks."""
        for set_scale, log in ((axes.set_xscale, self.log_x), (axes.set_yscale, self.log_y)):
            if log:
                set_scale("log")
        for mark in self.marks:
            (axes.axvline if mark.vertical else axes.axhline)(mark.value, color=mark.colour, ls=mark.style, lw=1)
        for curve in self.curves:
            axes.plot(self.x, curve.y, curve.style, color=curve.colour, lw=2)
        axes.set_xlim(self.x[0], self.x[-1])
        if self.y_limits:
            axes.set_ylim(*self.y_limits)
        for curve in self.curves:
            self._name(axes, curve)
        for mark in self.marks:
            self._mark(axes, mark)
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)

    def _name(self, axes: Axes, curve: Curve) -> None:
        low, high = axes.get_ylim()
        inside = [(x, y) for x, y in zip(self.x, curve.y, strict=True) if low <= y <= high]
        axes.annotate(
            curve.label,
            inside[round(curve.at * (len(inside) - 1))],
            xytext=(5, 4) if curve.above else (-5, -4),
            textcoords="offset points",
            ha="left" if curve.above else "right",
            va="bottom" if curve.above else "top",
            fontsize=9,
            color=DARK,
            fontweight="bold",
        )

    def _mark(self, axes: Axes, mark: Mark) -> None:
        if not mark.label:
            return
        if mark.vertical:
            axes.annotate(
                mark.label,
                (mark.value, 0.02),
                xycoords=("data", "axes fraction"),
                xytext=(-3, 0),
                textcoords="offset points",
                ha="right",
                rotation=90,
                fontsize=8.5,
                color=DARK,
            )
        else:
            axes.annotate(
                mark.label,
                (0.99, mark.value),
                xycoords=("axes fraction", "data"),
                xytext=(0, 2),
                textcoords="offset points",
                ha="right",
                fontsize=8.5,
                color=DARK,
            )
