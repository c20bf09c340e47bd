"""Altair charts for notebooks, displayed as SVG.

The default renderer of Altair loads its scripts from the network. Offices often have none, so these charts are drawn by
vl-convert. A renderer that the user enables (`alt.renderers.enable`) has precedence.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import altair as alt

from discreet.charts.rendering import STATIC_WIDTH, described, titled

if TYPE_CHECKING:
    from discreet.charts.chart import Chart

WIDE_LETTER = 9
"""Pixels of an average bold letter in the widest common font: a notebook draws text with the fonts of the reader."""


class _DisplayAsSvg(alt.TopLevelMixin):
    """The display of a chart in a notebook."""

    def _repr_mimebundle_(self, *include: Any, **more: Any) -> Any:  # noqa: ANN401 - as in Altair
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*include, **more)
        import vl_convert

        spec = self.to_dict(validate=False)
        # The schema of the specification is an address on the network.
        spec.pop("$schema")
        words, name = str(spec.get("description", "")), str(spec.get("name", "chart"))
        return {"image/svg+xml": described(vl_convert.vegalite_to_svg(spec), name, words), "text/plain": words}


class LayeredView(_DisplayAsSvg, alt.LayerChart):
    """A chart with one panel."""


class PanelView(_DisplayAsSvg, alt.ConcatChart):
    """A chart with several panels."""


def altair_view(chart: Chart) -> LayeredView | PanelView:
    """Return a chart as an Altair chart, with its message as the title."""
    spec = {**titled(chart), "name": chart.name.replace("-", "_")}
    spec["title"]["text"] = textwrap.wrap(chart.title, STATIC_WIDTH // WIDE_LETTER, break_on_hyphens=False)
    # Validation takes longer than everything else; the tests validate.
    return (PanelView if "concat" in spec else LayeredView).from_dict(spec, validate=False)
