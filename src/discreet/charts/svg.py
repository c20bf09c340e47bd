"""Pictures within a page: SVG with real text, a title outside the drawing and words for those who cannot see it."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from discreet.charts.paper import DARK, GREY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
