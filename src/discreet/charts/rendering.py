"""Charts as files, and charts on a page.

A file shows the message above the chart, at a fixed width and in a font of the renderer. A page contains the renderer
and a static drawing of every chart, for readers without scripts.
"""

from __future__ import annotations

import json
import re
import textwrap
from functools import cache
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from discreet.charts.chart import DARK
from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.whole_file import check_unpublished, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discreet.charts.chart import Chart, Spec

STATIC_WIDTH = 560
"""Pixels of a drawing of fixed width."""
FILE_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first font is part of vl-convert, so that a file does not depend on the fonts of the machine."""
TITLE_SIZE, TITLE_LETTER = 14, 8.8
"""Pixels of the letters of a title, and of the width of one on average."""
BESIDE_PANEL = 50
"""Pixels from one panel to the next."""
RESOLUTION = 144
"""Dots per inch of 72 pixels: two dots for every pixel."""


@cache
def program() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one JavaScript text; bundling takes seconds, once per process."""
    import vl_convert

    # Within a page, this would end the script.
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed").replace("</script", "<\\/script")


def static_svg(spec: Spec) -> str:
    """Return a static drawing of a chart."""
    import vl_convert

    return vl_convert.vegalite_to_svg({**spec, "width": STATIC_WIDTH})


def inline_svg(spec: Spec, name: str, alternative: str) -> str:
    """Return a drawing of a chart for a page that shows its message."""
    import vl_convert

    config = {**spec["config"], "font": FILE_FONT, "background": "transparent"}
    return described(vl_convert.vegalite_to_svg({**spec, "config": config}), name, alternative)


def as_data(spec: Spec) -> str:
    """Return a specification as JSON that is safe within a page."""
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def png(chart: Chart) -> bytes:
    """Return a chart as PNG; the same chart gives the same bytes."""
    import vl_convert

    return vl_convert.vegalite_to_png(titled(chart), ppi=RESOLUTION)


def svg(chart: Chart) -> bytes:
    """Return a chart as SVG with letters as text; the same chart gives the same bytes."""
    import vl_convert

    return described(vl_convert.vegalite_to_svg(titled(chart)), chart.name, chart.alternative).encode()


def titled(chart: Chart) -> Spec:
    """Return the specification of a chart for a file: of fixed width, on white, with the message above it."""
    spec = chart.spec()
    if spec.get("width") == "container":
        spec["width"] = STATIC_WIDTH
    lines = textwrap.wrap(chart.title, int(_across(spec) / TITLE_LETTER), break_on_hyphens=False)
    look = {"anchor": "start", "color": DARK, "fontSize": TITLE_SIZE, "fontWeight": "bold", "offset": 14}
    config = {**spec["config"], "font": FILE_FONT, "background": "white", "padding": 10}
    return {**spec, "title": {"text": lines, **look}, "config": config}


def _across(spec: Spec) -> float:
    """Return the approximate width of a specification in pixels."""
    if "concat" not in spec:
        return float(spec["width"])
    return sum(float(panel["width"]) + BESIDE_PANEL for panel in spec["concat"][: spec["columns"]])


def described(drawing: str, name: str, alternative: str) -> str:
    """Return an SVG with its text alternative, and with ids that are unique per chart and reproducible."""
    numbers: dict[str, int] = {}
    # The renderer numbers ids across drawings.
    drawing = re.sub(
        r'(\bid="|url\(#)((?:clip|gradient_)\d+)',
        lambda found: f"{found[1]}{name}-{numbers.setdefault(found[2], len(numbers))}",
        drawing,
    )
    head, _, rest = drawing.partition(">")
    return f'{head} role="img"><title>{escape(alternative)}</title>{rest}'


ENDINGS = {".png": png, ".svg": svg}


def save_chart(chart: Chart, path: Path, *, private: bool = False) -> None:
    """Write a chart as PNG or SVG, by its suffix, atomically; a private file is readable by its owner alone."""
    write_whole(path, ENDINGS[path.suffix.lower()](chart), private=private)


def check_figures(folder: Path, *, replace: bool) -> None:
    """Refuse, before any work, a folder that cannot be made or has files that must not be overwritten."""
    # The folder of figures can be the public folder itself.
    check_unpublished(folder / "figure")
    if folder.exists() and not folder.is_dir():
        raise FileWriteError.to(folder, "it is a file, not a folder", "Choose another name.")
    if folder.is_dir() and any(folder.iterdir()) and not replace:
        raise FileExistsAlreadyError(folder)
    if not folder.absolute().parent.is_dir():
        raise FileWriteError.to(folder, "its parent folder does not exist", "Create it, or choose another folder.")


def check_none_left(charts: Sequence[Chart], folder: Path) -> None:
    """Refuse a folder with other files, which could be published together with public figures."""
    drawn = {f"{chart.name}{ending}" for chart in charts for ending in ENDINGS}
    others = sorted(path.name for path in folder.iterdir() if path.name not in drawn) if folder.is_dir() else []
    if others:
        what = f"it contains {others[0]}, which is not a figure of this public page"
        raise FileWriteError.to(folder, what, "Choose a new folder.")


def draw_figures(charts: Sequence[Chart], folder: Path, *, private: bool) -> tuple[Path, ...]:
    """Write every chart as PNG and SVG; private files, and a new private folder, are readable by their owner alone."""
    try:
        folder.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
    except OSError as error:
        raise FileWriteError.to(folder, error.strerror or "it cannot be created", "Choose another folder.") from error
    files = []
    for chart in charts:
        for ending in ENDINGS:
            files.append(folder / f"{chart.name}{ending}")
            save_chart(chart, files[-1], private=private)
    return tuple(files)
