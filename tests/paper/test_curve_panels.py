"""A figure of the paper: the same data on a page, in print and as numbers."""

from __future__ import annotations

import csv
import io

import pytest
from matplotlib.figure import Figure

from discreet.paper.curve_panels import (
    Bars,
    Curve,
    Curves,
    Mark,
    NamedBars,
    PaperFigure,
    Series,
    figure_files,
    figure_picture,
)
from discreet.paper.map_panels import EdgeLine, EpsilonLine, Span, VariancePlane

CURVES = Curves("", (1.0, 10.0), (Curve("falling", (2.0, 0.2), "black"),), "E", "eps", (Mark(5, "here"),), log_x=True)
BARS = Bars("bins", (0.0, 1.0, 2.0), (Series("a", (3.0, 4.0), "black", (2.0, 5.0)),), "size", "number")


@pytest.fixture(scope="module")
def shown() -> PaperFigure:
    return PaperFigure("both", "A message <1>", "A caption", "Words & numbers", (CURVES, BARS))


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode())))


def test_its_files_are_pictures_and_the_data_of_every_panel(shown: PaperFigure) -> None:
    files = figure_files(shown)
    assert list(files) == ["both.png", "both.svg", "both-1.csv", "both-2.csv"]
    assert files["both.png"].startswith(b"\x89PNG")
    assert read(files["both-1.csv"]) == [
        ["series", "E", "eps"], ["falling", "1", "2"], ["falling", "10", "0.2"], ["mark: here", "5", ""]
    ]  # fmt: skip
    assert read(files["both-2.csv"])[1] == ["a", "0", "1", "3", "2"]


def test_one_panel_has_one_file_of_data() -> None:
    files = figure_files(PaperFigure("one", "t", "c", "a", (BARS,)))
    assert list(files) == ["one.png", "one.svg", "one.csv"]


def test_the_same_figure_gives_the_same_files(shown: PaperFigure) -> None:
    assert figure_files(shown) == figure_files(shown)
    assert figure_picture(shown) == figure_picture(shown)


def test_its_picture_has_words(shown: PaperFigure) -> None:
    picture = figure_picture(shown)
    assert picture.title == "A message <1>"
    assert "<title>Words &amp; numbers</title>" in picture.svg
    assert "falling" in picture.svg


def test_bars_by_name_show_their_values() -> None:
    bars = NamedBars("", ("FR", "DE"), (1234.0, 5.0), "country", "areas")
    axes = Figure().subplots()
    bars.draw(axes)
    assert [text.get_text() for text in axes.texts] == ["1,234", "5"]
    assert list(bars.rows()) == [("FR", 1234.0), ("DE", 5.0)]


def test_two_series_are_told_apart() -> None:
    both = (Series("a", (3.0,), "black"), Series("b", (1.0,), "red", outline=True))
    axes = Figure().subplots()
    Bars("", (1.0, 10.0), both, "x", "y", log_x=True, log_y=True).draw(axes)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]


@pytest.mark.parametrize(("high", "word"), [(3.0, "strict"), (0.5, "strict: nothing is left")])
def test_a_plane_says_what_is_left(high: float, word: str) -> None:
    plane = VariancePlane(
        "", (Span(1, 1.0, high),), (Span(1, 0.5, 4.0),), (EdgeLine("V = 1", (1.0, 1.0), (0.0, 2.0)),), 1, 5.0
    )
    axes = Figure().subplots()
    plane.draw(axes)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [word, "relaxed", "V = 1"]
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
    axes = Figure().subplots()
    line.draw(axes)
    legend = axes.get_legend()
    assert legend is not None
    told = [text.get_text() for text in legend.get_texts()]
    assert told == ["strict: nothing is left", "relaxed: 0.200 to 0.400", "a", "b", "s", "r"]
    assert ("limit: a", 0.3, None) in list(line.rows())
