"""What every chart promises: a message, words, a specification that the grammar allows, and a figure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import altair as alt
import pytest
import vl_convert
from altair.utils.schemapi import SchemaValidationError

from discreet.charts.chart import ACCENT, save_png, save_svg
from tests.charts import samples

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.charts.chart import Chart

ACCENTS = (ACCENT, f"rgb({', '.join(str(int(ACCENT[n : n + 2], 16)) for n in (1, 3, 5))})")
"""The accent as a colour of its own, and as the end of a scale."""
every = pytest.mark.parametrize("chart", samples.ALL, ids=lambda chart: chart.name)


@every
def test_the_grammar_allows_the_specification(chart: Chart) -> None:
    alt.LayerChart.from_dict(chart.spec(), validate=True)


def test_the_grammar_would_refuse_another() -> None:
    with pytest.raises(SchemaValidationError):
        alt.LayerChart.from_dict({**samples.BARS.spec(), "height": "high"}, validate=False).to_dict()


@every
def test_it_is_as_wide_as_its_place_and_asks_for_nothing(chart: Chart) -> None:
    spec = chart.spec()
    assert spec["width"] == "container"
    assert "http" not in json.dumps(spec)
    assert "url" not in json.dumps(spec)


@every
def test_words_stand_for_it(chart: Chart) -> None:
    assert chart.spec()["description"] == chart.alternative
    assert len(chart.alternative) > 40


@every
def test_it_can_be_drawn_with_marks_and_axes(chart: Chart) -> None:
    drawn = ET.fromstring(vl_convert.vegalite_to_svg({**chart.spec(), "width": 400}))  # noqa: S314 - our own text
    shapes = [each for each in drawn.iter() if each.tag.rpartition("}")[2] in {"path", "line", "rect"}]
    assert len(shapes) > 5
    assert any(each.get(paint) in ACCENTS for each in shapes for paint in ("fill", "stroke"))
    assert float(drawn.get("width", "0")) <= 420


@every
def test_the_data_are_within_the_specification(chart: Chart) -> None:
    spec = chart.spec()
    assert any(spec["datasets"].values())
    named = re.findall(r'"data": {"name": "(.+?)"}', json.dumps(spec))
    assert set(named) == set(spec["datasets"])


@every
def test_it_can_be_written_for_papers(chart: Chart, tmp_path: Path) -> None:
    save_png(chart.figure(), tmp_path / "a.png")
    save_svg(chart.figure(), tmp_path / "a.svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    drawn = ET.parse(tmp_path / "a.svg")  # noqa: S314 - our own file
    texts = " ".join(each.text or "" for each in drawn.iter() if each.tag.endswith("}text"))
    assert chart.title.split()[0] in texts
    assert "<dc:date>" not in (tmp_path / "a.svg").read_text()


def test_a_figure_gives_the_same_file_again(tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        save_svg(samples.BARS.figure(), tmp_path / place / "a.svg")
    assert (tmp_path / "one" / "a.svg").read_bytes() == (tmp_path / "two" / "a.svg").read_bytes()
