"""A figure of the paper: panels with their data, for a page, for print and as numbers.

On a page the panels stand below each other; in files for print they stand side by side, under their message.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from discreet.charts.paper import DARK, blank_figure
from discreet.charts.svg import LETTERS, WIDTH, page_picture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discreet.charts.svg import Picture

    Cell = str | float | int | None

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
