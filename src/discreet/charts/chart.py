"""A chart is data and a Vega-Lite specification; the colours and marks that all charts share.

Every chart has a message, a text alternative and a specification, from which pages and files are drawn. Colour states
a verdict: blue meets a target, orange misses it. Everything else is grey.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import altair as alt

    Data = dict[str, Any]
    Place = alt.X | alt.Y | dict[str, Any]

Spec: TypeAlias = "dict[str, Any]"
"""A chart in the grammar of Vega-Lite, its data included."""


class Chart(Protocol):
    """One chart with one message; its data are plain fields."""

    @property
    def name(self) -> str:
        """Return a short name, unique within a page; also the name of the files."""

    @property
    def title(self) -> str:
        """Return the message."""

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""

    def spec(self) -> Spec:
        """Return the specification without the message; as wide as its container, or a row of panels of fixed width."""


ACCENT = MISSES = "#c1440e"
MEETS = "#1b6ca8"
"""The colours of verdicts, distinct from each other and from the greys with any colour vision."""
GREY = "#8a8f98"
LIGHT = "#c9ccd1"
DARK = "#33373d"
FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
"""The font of the page; a browser measures text with it before drawing."""
LETTERS = 12
"""Pixels."""
HERE: dict[str, Any] = {
    "shape": "diamond", "size": 190, "fill": ACCENT, "stroke": DARK, "strokeWidth": 1.2, "opacity": 1,
}  # fmt: skip
"""The mark of the chosen setting, the same in every chart."""


def rows(values: Iterable[Mapping[str, Any]]) -> Data:
    """Return data to embed in the specification."""
    return {"values": [dict(value) for value in values]}


def words(text: str, x: Place, y: Place, data: Data, **mark: Any) -> alt.LayerChart:  # noqa: ANN401 - of a mark
    """Return labels next to points: the text of a field, with a halo that keeps it legible on lines."""
    import altair as alt

    how = {"fontSize": LETTERS, "align": "left", "baseline": "middle", "color": DARK, **mark}
    halo = {**how, "color": "white", "stroke": "white", "strokeWidth": 4, "strokeJoin": "round", "aria": False}
    place = {"x": x, "y": y, "text": alt.Text(f"{text}:N")}
    return layered([alt.Chart(data).mark_text(**each).encode(**place) for each in (halo, how)])


FEW_POWERS = 2.5
"""The largest number of powers of ten with further ticks at 2 and 5 times each."""
PLAIN = (
    "datum.value >= 1e5 || datum.value < 1e-3 ? replace(format(datum.value, '~e'), '+', '') : format(datum.value, '~g')"
)
"""The format of numbers on a logarithmic scale."""


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten between two values; if they are few, also 2 and 5 times each.

    >>> log_ticks(0.3, 30)
    [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    >>> log_ticks(0.5, 2000)
    [1.0, 10.0, 100.0, 1000.0]
    """
    steps = (1, 2, 5) if math.log10(high / low) <= FEW_POWERS else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [value for power in powers for step in steps if low <= (value := float(f"{step}e{power}")) <= high]


def layered(layers: Sequence[alt.Chart | alt.LayerChart]) -> alt.LayerChart:
    """Return charts drawn on top of each other, the first at the bottom."""
    import altair as alt

    return alt.LayerChart(layer=list(layers))


def finished(chart: alt.Chart | alt.LayerChart, height: float, alternative: str) -> Spec:
    """Return a chart as a specification that is as wide as its container."""
    chart["width"], chart["height"] = "container", height
    found = specified(chart, alternative)
    found["autosize"] = {"type": "fit-x", "contains": "padding"}
    return found


def specified(chart: alt.Chart | alt.LayerChart | alt.ConcatChart, alternative: str) -> Spec:
    """Return a chart as a specification in the shared style, with its text alternative."""
    import altair as alt

    # Set in place: each method that would do so copies the chart with all its data.
    chart["description"] = alternative
    chart["config"] = alt.Config(
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            grid=False,
            domainColor=GREY,
            tickColor=GREY,
            labelColor=DARK,
            titleColor=DARK,
            labelFontSize=LETTERS,
            titleFontSize=LETTERS,
            titleFontWeight="normal",
            labelLimit=260,
        ),
        title=alt.TitleConfig(anchor="start", color=DARK, fontSize=LETTERS, fontWeight="normal"),
    )
    # Validation takes longer than everything else; the tests validate.
    found: Spec = chart.to_dict(validate=False)
    # The page contains the renderer; the URL of the schema would look like a request.
    found.pop("$schema")
    # The page shows through, also in dark mode.
    found["config"] |= {"font": FONT, "background": "transparent"}
    return found
