"""The paper every picture is drawn on: size, colours, fonts, and writing it to disk."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from discreet.whole_file import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

ACCENT = "#c1440e"
"""The one accent colour, told from the greys by people with any colour vision."""
GREY = "#8a8f98"
LIGHT = "#c9ccd1"
DARK = "#33373d"


def blank_figure(width: float, height: float, title: str) -> Figure:
    """Return an empty figure in inches, with the message as its title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left", color=DARK)
    return figure


def save_png(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, whole or not at all."""
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8, colors=DARK)
        axes.xaxis.label.set_fontsize(8)
        axes.yaxis.label.set_fontsize(8)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=130)
    write_whole(path, image.getvalue())
