"""A heat map shows its values, and its data can be read beside it."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from discreet.paper.map_panels import HeatMap, MapLine

VALUES = np.array([[1.0, 10.0, 1e3], [np.nan, 1e2, np.inf]])


@pytest.fixture
def chart() -> HeatMap:
    line = MapLine("a limit", (0.5, 2.0, 9.0), (1.0, 1.5, 2.0))
    return HeatMap("", (1.0, 2.0, 3.0), (1.0, 2.0), VALUES, "V", "E", "sets", (line,), log_values=True, highest=1e4)


def test_its_data_are_the_map_and_the_lines(chart: HeatMap) -> None:
    assert chart.head == ("series", "V", "E", "sets")
    rows = list(chart.rows())
    assert rows[:3] == [("map", 1.0, 1.0, 1.0), ("map", 2.0, 1.0, 10.0), ("map", 3.0, 1.0, 1e3)]
    # What is endless or not there is empty.
    assert [row[3] for row in rows[3:6]] == [None, 1e2, None]
    assert rows[6:] == [("a limit", 0.5, 1.0, None), ("a limit", 2.0, 1.5, None), ("a limit", 9.0, 2.0, None)]


def test_it_is_drawn_within_its_map_with_its_labels(chart: HeatMap) -> None:
    figure = Figure()
    axes = figure.subplots()
    chart.draw(axes)
    (mesh,) = axes.collections
    drawn = mesh.get_array()
    assert drawn is not None
    shown = np.ma.filled(drawn, np.nan).ravel()
    assert np.nanmax(shown) == 1e4
    assert np.isnan(shown).sum() == 1
    assert axes.get_xlim() == (0.5, 3.5)
    assert [text.get_text() for text in axes.texts] == ["a limit"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("V", "E")
    assert figure.axes[1].get_ylabel() == "sets"


def test_a_line_beyond_the_map_has_no_label() -> None:
    away = MapLine("away", (90.0, 91.0), (90.0, 91.0))
    chart = HeatMap("", (1.0, 2.0), (1.0, 2.0), np.ones((2, 2)), "x", "y", "z", (away,))
    axes = Figure().subplots()
    chart.draw(axes)
    assert not axes.texts
