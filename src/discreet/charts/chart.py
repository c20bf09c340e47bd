"""A chart is data and a Vega-Lite specification; colours and marks that all charts share.

What every chart is: a message, words for who cannot see it, a specification for a page, a figure for papers.

The paper every picture is drawn on: size, colours, fonts, marks, and writing it to disk.

How charts look in a page: one accent colour, greys, letters of a size that can be read on a narrow screen.
"""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from discreet.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import altair as alt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Data = dict[str, Any]
    Place = alt.Y | dict[str, Any]

Spec: TypeAlias = "dict[str, Any]"
"""A chart in the grammar of Vega-Lite, its data included."""


class Chart(Protocol):
    """One picture with one message, its data held in plain fields."""

    @property
    def name(self) -> str:
        """Return a short name, unique within a page; files are called by it."""

    @property
    def title(self) -> str:
        """Return the message."""

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""

    def spec(self) -> Spec:
        """Return the specification from which a browser draws it; as wide as its place."""

    def figure(self) -> Figure:
        """Return the same, drawn for a paper, with the message as its title."""


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


FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
"""The letters of the page; a browser measures words by it before they are drawn."""
LETTERS = 12
"""Pixels."""
HERE: dict[str, Any] = {
    "shape": "diamond", "size": 190, "fill": ACCENT, "stroke": DARK, "strokeWidth": 1.2, "opacity": 1,
}  # fmt: skip
"""The mark for `you are here`, the same in every chart."""


def rows(values: Iterable[Mapping[str, Any]]) -> Data:
    """Return data that stand within the specification."""
    return {"values": [dict(value) for value in values]}


def words(text: str, x: alt.X, y: Place, data: Data, **mark: Any) -> alt.LayerChart:  # noqa: ANN401 - of a mark
    """Return labels: the field of that name, written beside points, readable where a line crosses them."""
    import altair as alt

    how = {"fontSize": LETTERS, "align": "left", "baseline": "middle", "color": DARK, **mark}
    halo = {**how, "color": "white", "stroke": "white", "strokeWidth": 4, "strokeJoin": "round", "aria": False}
    place = {"x": x, "y": y, "text": alt.Text(f"{text}:N")}
    return layered([alt.Chart(data).mark_text(**each).encode(**place) for each in (halo, how)])


def layered(layers: Sequence[alt.Chart | alt.LayerChart]) -> alt.LayerChart:
    """Return charts drawn over each other, the first below."""
    import altair as alt

    return alt.LayerChart(layer=list(layers))


def finished(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: float, alternative: str) -> Spec:
    """Return a chart as a specification: as wide as its place, without a frame, with words for who cannot see it."""
    made = (
        chart.properties(width="container", height=height, description=alternative)
        .configure_view(stroke=None)
        .configure_axis(
            grid=False,
            domainColor=GREY,
            tickColor=GREY,
            labelColor=DARK,
            titleColor=DARK,
            labelFontSize=LETTERS,
            titleFontSize=LETTERS,
            titleFontWeight="normal",
            labelLimit=260,
        )
    )
    # Checking it against the grammar takes longer than all the rest; the tests do it.
    found: Spec = made.to_dict(validate=False)
    # The page brings the program that draws; the address of the grammar would look like a request.
    found.pop("$schema")
    found["autosize"] = {"type": "fit-x", "contains": "padding"}
    found["config"]["font"] = FONT
    return found
