"""Charts as files: SVG and PNG, the Vega bundle, and a folder of figures.

How charts are drawn within a page: by a program that the page brings along, or as they stand where none may run.

Charts in files: a folder with every chart as PNG and SVG, for papers.

Pictures within a page: SVG with real text, a title outside the drawing and words for those who cannot see it.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from discreet.charts.chart import DARK, GREY, save_png, save_svg
from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.whole_file import check_unpublished

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from discreet.charts.chart import Chart, Spec

STATIC_WIDTH = 560
"""Pixels of a drawing that cannot follow the width of its place."""


@cache
def program() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one JavaScript text; it takes seconds to bundle, once per process."""
    import vl_convert

    # It stands within a page, where this would end it.
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed").replace("</script", "<\\/script")


def static_svg(spec: Spec) -> str:
    """Return a chart drawn beforehand, for readers without scripts."""
    import vl_convert

    return vl_convert.vegalite_to_svg({**spec, "width": STATIC_WIDTH})


def as_data(spec: Spec) -> str:
    """Return a specification as JSON that can stand within a page."""
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


ENDINGS = {".png": save_png, ".svg": save_svg}


def check_figures(folder: Path, *, replace: bool) -> None:
    """Refuse before any work a folder that cannot be made, or holds something that is not to be replaced."""
    # A folder of figures may be the public folder itself.
    check_unpublished(folder / "figure")
    if folder.exists() and not folder.is_dir():
        raise FileWriteError.to(folder, "it is a file, not a folder", "Choose another name.")
    if folder.is_dir() and any(folder.iterdir()) and not replace:
        raise FileExistsAlreadyError(folder)
    if not folder.absolute().parent.is_dir():
        raise FileWriteError.to(folder, "the folder it is in does not exist", "Make that, or choose another.")


def check_none_left(charts: Sequence[Chart], folder: Path) -> None:
    """Refuse a folder with other files: they would stand among figures that everybody may see."""
    drawn = {f"{chart.name}{ending}" for chart in charts for ending in ENDINGS}
    others = sorted(path.name for path in folder.iterdir() if path.name not in drawn) if folder.is_dir() else []
    if others:
        what = f"it holds {others[0]}, which would stand among the figures for everybody"
        raise FileWriteError.to(folder, what, "Choose a new folder.")


def draw_figures(charts: Sequence[Chart], folder: Path, *, private: bool) -> tuple[Path, ...]:
    """Write every chart as PNG and SVG; what is private is for its owner alone, the folder too where it is new."""
    try:
        folder.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
    except OSError as error:
        raise FileWriteError.to(folder, error.strerror or "it cannot be made", "Choose another folder.") from error
    files = []
    for chart in charts:
        for ending, save in ENDINGS.items():
            files.append(folder / f"{chart.name}{ending}")
            save(chart.figure(), files[-1], private=private)
    return tuple(files)


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
