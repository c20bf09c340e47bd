"""A figure of the paper: the same data on a page, in print and as numbers."""

from __future__ import annotations

import csv
import io
from functools import cache
from typing import Any

import altair as alt
import pytest

from discreet.paper.curve_panels import (
    Bars,
    Curve,
    Curves,
    Mark,
    NamedBars,
    PaperFigure,
    Series,
    figure_files,
)
from discreet.paper.map_panels import EdgeLine, EpsilonLine, Span, VariancePlane
from tests.charts.samples import data_of, labels_of, layers

CURVES = Curves("", (1.0, 10.0), (Curve("falling", (2.0, 0.2), "black"),), "E", "eps", (Mark(5, "here"),), log_x=True)
BARS = Bars("bins", (0.0, 1.0, 2.0), (Series("a", (3.0, 4.0), "black", (2.0, 5.0)),), "size", "number")


SHOWN = PaperFigure("both", "A message <1>", "A caption", "Words & numbers", (CURVES, BARS))


@cache
def files() -> dict[str, bytes]:
    """Return the files of the figure; drawn once."""
    return figure_files(SHOWN)


def names(spec: dict[str, Any], channel: str) -> list[str]:
    """Return what a legend names."""
    found = next(layer["encoding"][channel] for layer in layers(spec) if channel in layer["encoding"])
    assert found["legend"]
    domain: list[str] = found["scale"]["domain"]
    return domain


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode())))


def test_its_files_are_pictures_and_the_data_of_every_panel() -> None:
    assert list(files()) == ["both.png", "both.svg", "both-1.csv", "both-2.csv"]
    assert files()["both.png"].startswith(b"\x89PNG")
    for label in ("A message &lt;1&gt;", "falling", "here", "bins"):
        assert f">{label}</text>" in files()["both.svg"].decode()
    assert read(files()["both-1.csv"]) == [
        ["series", "E", "eps"], ["falling", "1", "2"], ["falling", "10", "0.2"], ["mark: here", "5", ""]
    ]  # fmt: skip
    assert read(files()["both-2.csv"])[1] == ["a", "0", "1", "3", "2"]


def test_one_panel_has_one_file_of_data() -> None:
    assert list(figure_files(PaperFigure("one", "t", "c", "a", (BARS,)))) == ["one.png", "one.svg", "one.csv"]


@pytest.mark.slow
def test_the_same_figure_gives_the_same_files() -> None:
    assert figure_files(SHOWN) == files()
    assert SHOWN.page_svg() == SHOWN.page_svg()


def test_the_grammar_allows_the_specification() -> None:
    assert isinstance(alt.Chart.from_dict(SHOWN.spec(), validate=True), alt.ConcatChart)


def test_its_drawing_for_a_page_has_words_and_ids_of_its_own() -> None:
    drawing = SHOWN.page_svg()
    assert "<title>Words &amp; numbers</title>" in drawing
    assert "falling" in drawing
    assert 'id="both-' in drawing
    assert drawing.count('id="') == drawing.count('id="both-')
    # The message stands above the drawing.
    assert "A message" not in drawing


def test_bars_by_name_show_their_values() -> None:
    bars = NamedBars("", ("FR", "DE"), (1234.0, 5.0), "country", "areas")
    assert labels_of(bars.chart().to_dict()) == {"1,234", "5"}
    assert list(bars.rows()) == [("FR", 1234.0), ("DE", 5.0)]


def test_bars_reach_their_heights_and_one_draw_lies_over_them() -> None:
    spec = BARS.chart().to_dict()
    (steps,) = data_of(spec, "area")
    assert [(row["x"], row["y"]) for row in steps] == [(0.0, 3.0), (1.0, 4.0), (2.0, 4.0)]
    (line,) = data_of(spec, "line")
    assert [(row["x"], row["y"]) for row in line] == [(0.5, 2.0), (1.5, 5.0)]


def test_two_series_are_told_apart() -> None:
    both = (Series("a", (3.0,), "black"), Series("b", (1.0,), "red", outline=True))
    spec = Bars("", (1.0, 10.0), both, "x", "y", log_x=True, log_y=True).chart().to_dict()
    assert names(spec, "color") == ["a", "b"]
    assert layers(spec)[0]["encoding"]["y"]["scale"]["type"] == "log"


@pytest.mark.parametrize(("high", "word"), [(3.0, "strict"), (0.5, "strict: infeasible")])
def test_a_plane_says_what_is_left(high: float, word: str) -> None:
    plane = VariancePlane(
        "", (Span(1, 1.0, high),), (Span(1, 0.5, 4.0),), (EdgeLine("V = 1", (1.0, 1.0), (0.0, 2.0)),), 1, 5.0
    )
    spec = plane.chart().to_dict()
    assert names(spec, "fill") == [word, "relaxed"]
    assert names(spec, "stroke") == names(spec, "strokeDash") == ["V = 1"]
    assert list(plane.rows()) == [
        ("strict", 1, 1.0, high),
        ("relaxed", 1, 0.5, 4.0),
        ("edge: V = 1", 0.0, 1.0, None),
        ("edge: V = 1", 2.0, 1.0, None),
    ]


def test_a_line_of_epsilon_says_what_is_left() -> None:
    line = EpsilonLine(
        "", (0.1, 1.0), {"s": (9.0, 1.0), "r": (5.0, 0.5)}, {"a": 0.3, "b": 0.4}, 20.0, (0.5, 0.3), (0.2, 0.4)
    )
    spec = line.chart().to_dict()
    assert names(spec, "fill") == ["strict: infeasible", "relaxed: 0.200 to 0.400"]
    assert names(spec, "stroke") == ["a", "b", "s", "r"]
    assert [(row["x"], row["to_x"]) for row in data_of(spec, "rect")[0]] == [(0.2, 0.4)]
    assert ("limit: a", 0.3, None) in list(line.rows())
