"""Charts within a page: a program that brings everything along, and data that cannot end their element."""

from __future__ import annotations

import json

from discreet.charts.rendering import as_data, program, static_svg
from tests.charts.samples import BARS


def test_the_program_is_made_once_and_cannot_end_its_element() -> None:
    assert program() is program()
    assert "vegaEmbed" in program()
    assert "</script" not in program()


def test_data_cannot_end_their_element() -> None:
    spec = {"name": "</script><b>"}
    assert "<" not in as_data(spec)
    assert json.loads(as_data(spec)) == spec


def test_a_chart_is_drawn_beforehand() -> None:
    assert static_svg(BARS.spec()).startswith("<svg")
    assert "target: at most 68 %" in static_svg(BARS.spec())
