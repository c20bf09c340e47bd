"""What every chart promises: a message, words, a specification that the grammar allows, and files made from it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import altair as alt
import pytest
from altair.utils.schemapi import SchemaValidationError

from discreet.charts.chart import MEETS, MISSES
from discreet.charts.rendering import png, save_chart, svg, titled
from discreet.errors import FileWriteError
from tests.charts import samples
from tests.quick import one_in

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.charts.chart import Chart, Spec

VERDICTS = {"plane", "epsilon-line", "bars", "frontier"}
"""Charts with a chosen setting or a target."""
EVERY = (*samples.ALL, *samples.PANELS)
wide = pytest.mark.parametrize("chart", one_in(5, samples.ALL, ids=lambda chart: chart.name))
some = pytest.mark.parametrize("chart", one_in(5, EVERY, ids=lambda chart: chart.name))
every = pytest.mark.parametrize("chart", EVERY, ids=lambda chart: chart.name)


@cache
def drawn_once(name: str) -> ET.Element:
    """Return the SVG of the chart of that name."""
    return ET.fromstring(svg(next(chart for chart in EVERY if chart.name == name)))  # noqa: S314 - our own text


def drawn(chart: Chart) -> ET.Element:
    """Return the SVG of a chart."""
    return drawn_once(chart.name)


@cache
def specified_once(name: str) -> Spec:
    """Return the specification of the chart of that name; tests only read it."""
    return next(chart for chart in EVERY if chart.name == name).spec()


def specified(chart: Chart) -> Spec:
    """Return the specification of a chart."""
    return specified_once(chart.name)


def texts(chart: Chart) -> list[str]:
    """Return what is written in the SVG."""
    return [" ".join(each.itertext()) for each in drawn(chart).iter() if each.tag.endswith("}text")]


@some
def test_the_grammar_allows_the_specification(chart: Chart) -> None:
    alt.Chart.from_dict(specified(chart), validate=True)


def test_the_grammar_would_refuse_another() -> None:
    with pytest.raises(SchemaValidationError):
        alt.LayerChart.from_dict({**samples.BARS.spec(), "height": "high"}, validate=False).to_dict()


@wide
def test_it_is_as_wide_as_its_place_and_asks_for_nothing(chart: Chart) -> None:
    spec = specified(chart)
    assert spec["width"] == "container"
    assert "http" not in json.dumps(spec)
    assert "url" not in json.dumps(spec)


@every
def test_words_stand_for_it(chart: Chart) -> None:
    assert specified(chart)["description"] == chart.alternative
    assert len(chart.alternative) > 40
    # One sentence, however long.
    assert re.fullmatch(r"[^.]*(?:\.\S[^.]*)*\.", chart.alternative)


@some
def test_it_is_drawn_with_marks_and_axes(chart: Chart) -> None:
    shapes = [each for each in drawn(chart).iter() if each.tag.rpartition("}")[2] in {"path", "line", "rect"}]
    assert len(shapes) > 5
    # Colour states a verdict; everything else is grey.
    colours = {each.get(paint) for each in shapes for paint in ("fill", "stroke")} & {MEETS, MISSES}
    assert bool(colours) == (chart.name in VERDICTS)


@wide
def test_a_file_is_as_wide_as_a_page(chart: Chart) -> None:
    assert float(drawn(chart).get("width", "0")) <= 600


@every
def test_the_data_are_within_the_specification(chart: Chart) -> None:
    spec = specified(chart)
    assert any(spec["datasets"].values())
    named = re.findall(r'"data": {"name": "(.+?)"}', json.dumps(spec))
    assert set(named) == set(spec["datasets"])


@some
def test_its_files_hold_title_labels_and_words(chart: Chart) -> None:
    written = texts(chart)
    assert chart.title in written
    assert samples.labels_of(specified(chart)) <= set(written)
    assert drawn(chart)[0].text == chart.alternative


@pytest.mark.parametrize("chart", one_in(11, EVERY[::-1], ids=lambda chart: chart.name))
def test_the_same_chart_gives_the_same_png(chart: Chart) -> None:
    image = png(chart)
    assert image.startswith(b"\x89PNG")
    assert image == png(chart)


@pytest.mark.parametrize("chart", [samples.BARS, samples.PTABLE], ids=lambda chart: chart.name)
def test_the_same_chart_gives_the_same_svg(chart: Chart) -> None:
    assert svg(chart) == svg(chart)


def test_a_long_title_is_broken_into_lines() -> None:
    lines = titled(samples.COMPARE)["title"]["text"]
    assert len(lines) > 1
    assert " ".join(lines) == samples.COMPARE.title


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    for name, begin in (("a.png", b"\x89PNG"), ("A.SVG", b"<svg")):
        save_chart(samples.BARS, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)
    with pytest.raises(FileWriteError, match="folder does not exist"):
        save_chart(samples.BARS, tmp_path / "none" / "a.png")
