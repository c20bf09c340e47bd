"""How charts are drawn within a page: by a program that the page brings along, or as they stand where none may run."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.charts.chart import Spec

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
