"""Panels of the paper: bars and curves.

Bars by size: how many there are in every bin, as expected and as drawn; and bars by name.

Curves that are named where they end, with marks at the values that matter.

A figure of the paper: panels with their data, for a page, for print and as numbers.

On a page the panels stand below each other; in files for print they stand side by side, under their message.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol
from xml.sax.saxutils import escape

from discreet.charts.chart import DARK, GREY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Cell = str | float | int | None


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

    def draw(self, axes: Axes) -> None:
        """Draw the bars, and what was drawn as lines over them."""
        if self.log_x:
            axes.set_xscale("log")
        if self.log_y:
            axes.set_yscale("log")
        for each in self.series:
            axes.stairs(
                each.heights,
                self.edges,
                baseline=self.least if self.log_y else 0,
                fill=not each.outline,
                color=each.colour,
                lw=1.8 if each.outline else 0.5,
                label=each.label,
            )
            if each.drawn:
                middles = [(low + high) / 2 for low, high in zip(self.edges[:-1], self.edges[1:], strict=True)]
                axes.plot(middles, each.drawn, ".-", color=DARK, lw=0.9, markersize=3.5)
        highest = max(max(each.heights) for each in self.series)
        axes.set_ylim(self.least if self.log_y else 0, (3 if self.log_y else 1.08) * max(highest, 2 * self.least))
        axes.set_xlim(self.edges[0], self.edges[-1])
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        if len(self.series) > 1:
            axes.legend(frameon=False, fontsize=9, labelcolor=DARK, loc="upper left" if self.log_x else "upper right")
        if self.log_x:
            plain_ticks(axes)


def plain_ticks(axes: Axes) -> None:
    """Write 1, 2 and 5 of every power of ten as they are read."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())


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

    def draw(self, axes: Axes) -> None:
        """Draw the bars with their values beside them."""
        places = range(len(self.names))
        axes.barh(places, self.values, color=GREY, height=0.72)
        for place, value in zip(places, self.values, strict=True):
            axes.annotate(
                f"{value:,.0f}",
                (value, place),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=7.5,
                color=DARK,
            )
        axes.set_yticks(list(places), self.names)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.15 * max(self.values))
        axes.set_xlabel(self.value_label)
        axes.set_ylabel(self.name_label)


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


BLUE, YELLOW, ORANGE = "#0072b2", "#e6b800", "#d55e00"
"""Told apart by people with any colour vision (Okabe and Ito)."""
INK = "#1c1e21"
LETTERS_PER_INCH = 9.3
SHARP = 160
"""Dots per inch of what is drawn as an image."""


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

    def draw(self, axes: Axes) -> None:
        """Draw it."""


WIDTH = 5.3
"""Inches, that is 382 points: on a narrow screen letters keep about the size they have here."""
LETTERS = 10.5
"""Points."""


@dataclass(frozen=True)
class Picture:
    """One picture with one message.

    Attributes:
        title: the message; the page shows it above the drawing, where it can be wrapped.
        alternative: what is drawn, in words.
        svg: the drawing, an element that can stand in a page.
    """

    title: str
    alternative: str
    svg: str


def page_picture(figure: Figure, title: str, alternative: str) -> Picture:
    """Return a figure as a picture; the same figure gives the same text, whenever it is drawn."""
    from matplotlib import rc_context

    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["bottom", "left"]].set_color(GREY)
        axes.tick_params(labelsize=LETTERS, labelcolor=DARK, color=GREY)
        for label in (axes.xaxis.label, axes.yaxis.label):
            label.set_fontsize(LETTERS)
            label.set_color(DARK)
    text = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    # Names of shapes within a page must differ from picture to picture: they are salted with the title.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": title}):
        figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    return Picture(title, alternative, _inline(text.getvalue(), alternative))


def _inline(document: str, alternative: str) -> str:
    """Return the drawing of an SVG document: without its header, with words, and with the fonts of the page."""
    opening = re.search(r'<svg\b[^>]*?viewBox="([^"]+)"[^>]*>', document)
    assert opening  # noqa: S101 - matplotlib writes it
    drawing = document[opening.end() :]
    # A rule for all shapes would reach the whole page.
    drawing = re.sub(r"<(metadata|style)\b.*?</\1>", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r'<g id="[^"]*">', "<g>", drawing)
    drawing = re.sub(r"font-family: [^;\"]*", "font-family: inherit", drawing)
    drawing = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1; font-family: inherit", drawing)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{opening[1]}"'
    return f'{head} role="img">\n <title>{escape(alternative)}</title>{drawing.rstrip()}'


def blank_figure(width: float, height: float, title: str) -> Figure:
    """Return an empty figure in inches, with the message as its title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left", color=DARK)
    return figure


@dataclass(frozen=True)
class PaperFigure:
    """One figure.

    Attributes:
        name: of its files.
        title: the message.
        caption: what is drawn, and which figure of the paper it is.
        alternative: the same in words for those who cannot see it, with the most important numbers.
        panels: its drawings.
        height: of one panel, in inches.
        columns: how many panels stand side by side in print.
    """

    name: str
    title: str
    caption: str
    alternative: str
    panels: tuple[Panel, ...]
    height: float = 3.2
    columns: int = 2


def figure_picture(shown: PaperFigure) -> Picture:
    """Return the figure for a page, its panels below each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, shown.height * len(shown.panels)), layout="constrained", dpi=SHARP)
    _draw(shown, list(figure.subplots(len(shown.panels), 1, squeeze=False).flat), LETTERS)
    picture = page_picture(figure, shown.title, shown.alternative)
    # Images and empty groups bear names that come back in every picture, and nothing refers to them.
    svg = re.sub(r'(<image\b[^>]*?) id="[^"]*"', r"\1", re.sub(r'<g id="[^"]*"/>', "", picture.svg))
    return replace(picture, svg=svg)


def figure_files(shown: PaperFigure) -> dict[str, bytes]:
    """Return the files of a figure by name: PNG and SVG for print, and the data of every panel as CSV."""
    from matplotlib import rc_context

    figure = _print(shown)
    png, svg = io.BytesIO(), io.BytesIO()
    figure.savefig(png, format="png", dpi=SHARP)
    words = {**dict.fromkeys(("Creator", "Date", "Format", "Type")), "Description": shown.alternative}
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": shown.name}):
        figure.savefig(svg, format="svg", metadata=words)
    found = {f"{shown.name}.png": png.getvalue(), f"{shown.name}.svg": svg.getvalue()}
    for number, panel in enumerate(shown.panels, start=1):
        name = f"{shown.name}.csv" if len(shown.panels) == 1 else f"{shown.name}-{number}.csv"
        found[name] = _csv(panel)
    return found


def _print(shown: PaperFigure) -> Figure:
    columns = min(shown.columns, len(shown.panels))
    rows = -(-len(shown.panels) // columns)
    width = 5.0 * columns + 0.4
    title = textwrap.wrap(shown.title, int(LETTERS_PER_INCH * width))
    figure = blank_figure(width, shown.height * rows + 0.22 * len(title), "\n".join(title))
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    _draw(shown, grid[: len(shown.panels)], 9)
    for axes in grid[: len(shown.panels)]:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8, colors=DARK)
        axes.xaxis.label.set_fontsize(9)
        axes.yaxis.label.set_fontsize(9)
    for axes in grid[len(shown.panels) :]:
        axes.set_axis_off()
    return figure


def _draw(shown: PaperFigure, grid: list[Axes], letters: float) -> None:
    for axes, panel in zip(grid, shown.panels, strict=True):
        panel.draw(axes)
        if panel.title:
            axes.set_title(panel.title, fontsize=letters, loc="left", color=DARK)


def _csv(panel: Panel) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(panel.head)
    for row in panel.rows():
        writer.writerow(["" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else cell for cell in row])
    return text.getvalue().encode()
