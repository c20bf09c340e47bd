"""A heat map shows its values and has its data."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.paper.map_panels import HeatMap, MapLine
from tests.charts.samples import data_of, labels_of, layers

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
    spec = chart.chart().to_dict()
    (cells,) = data_of(spec, "rect")
    assert [(row["x"], row["to_x"], row["value"]) for row in cells] == [
        (0.5, 1.5, 1.0), (1.5, 2.5, 10.0), (2.5, 3.5, 1e3), (1.5, 2.5, 1e2), (2.5, 3.5, 1e4)
    ]  # fmt: skip
    axes = layers(spec)[0]["encoding"]
    assert axes["x"]["scale"]["domain"] == [0.5, 3.5]
    assert (axes["x"]["title"], axes["y"]["title"], axes["color"]["title"]) == ("V", "E", "sets")
    assert labels_of(spec) == {"a limit"}


def test_neighbours_of_one_colour_are_one_rectangle() -> None:
    values = np.array([[0.0, 0.001, 1.0]])
    chart = HeatMap("", (1.0, 2.0, 3.0), (1.0, 2.0), np.vstack([values, values]), "x", "y", "z")
    (cells,) = data_of(chart.chart().to_dict(), "rect")
    assert [(row["x"], row["to_x"]) for row in cells[:2]] == [(0.5, 2.5), (2.5, 3.5)]


def test_a_line_beyond_the_map_has_no_label() -> None:
    away = MapLine("away", (90.0, 91.0), (90.0, 91.0))
    chart = HeatMap("", (1.0, 2.0), (1.0, 2.0), np.ones((2, 2)), "x", "y", "z", (away,))
    assert labels_of(chart.chart().to_dict()) == set()
