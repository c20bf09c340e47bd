"""How charts look in a page: one accent colour, greys, letters of a size that can be read on a narrow screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.charts.paper import ACCENT, DARK, GREY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import altair as alt

    from discreet.charts.chart import Spec

    Data = dict[str, Any]
    Place = alt.Y | dict[str, Any]

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
