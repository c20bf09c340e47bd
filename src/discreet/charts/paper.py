"""The paper every picture is drawn on: size, colours, fonts, marks, and writing it to disk."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING, Any

from discreet.whole_file import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACCENT = "#c1440e"
"""The one accent colour, told from the greys by people with any colour vision."""
GREY = "#8a8f98"
LIGHT = "#c9ccd1"
DARK = "#33373d"
SMALL = 8
"""Points, of letters beside the axes."""
TITLE_LETTERS = 10.5
"""Letters of a title in an inch."""


def blank_figure(width: float, height: float, title: str) -> Figure:
    """Return an empty figure in inches, with the message as its title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left", color=DARK)
    return figure


def paper_figure(width: float, height: float, title: str) -> Figure:
    """Return an empty figure whose title is broken into lines; these make it higher."""
    lines = textwrap.wrap(title, int(TITLE_LETTERS * width), break_on_hyphens=False)
    return blank_figure(width, height + 0.2 * (len(lines) - 1), "\n".join(lines))


def here(  # noqa: PLR0917 - where, then how far from it
    axes: Axes, x: float, y: float, label: str, side: str = "left", moved: tuple[float, float] = (0, -13)
) -> None:
    """Draw the mark for `you are here`, the same in every picture, with its label, below if nothing else is said."""
    axes.plot([x], [y], "D", color=ACCENT, markeredgecolor=DARK, markersize=9, zorder=5)
    beside(axes, label, x, y, side, moved, color=ACCENT, fontweight="bold")


def beside(  # noqa: PLR0917 - where, then how far from it
    axes: Axes,
    text: str,
    x: float,
    y: float,
    side: str,
    moved: tuple[float, float],
    **how: Any,  # noqa: ANN401 - of a text
) -> None:
    """Write a label beside a point, moved by so many points of type, readable where a line crosses it."""
    from matplotlib.patheffects import withStroke

    look = {"color": DARK, "va": "center", "fontsize": SMALL, "zorder": 6, **how}
    halo = [withStroke(linewidth=2.5, foreground="white")]
    axes.annotate(text, (x, y), xytext=moved, textcoords="offset points", ha=side, path_effects=halo, **look)


def save_png(figure: Figure, path: Path, *, private: bool = False) -> None:
    """Write a figure as PNG, whole or not at all; a private one for its owner alone."""
    _dress(figure)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=130)
    write_whole(path, image.getvalue(), private=private)


def save_svg(figure: Figure, path: Path, *, private: bool = False) -> None:
    """Write a figure as SVG, whole or not at all; the same figure gives the same file."""
    from matplotlib import rc_context

    _dress(figure)
    image = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": path.stem}):
        figure.savefig(image, format="svg", metadata={"Date": None})
    write_whole(path, image.getvalue(), private=private)


def _dress(figure: Figure) -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=SMALL, colors=DARK)
        axes.xaxis.label.set_fontsize(SMALL)
        axes.yaxis.label.set_fontsize(SMALL)
