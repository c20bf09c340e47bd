"""The plane of variance and bound: what is left, the edges, and where one stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.charts.chart import MEETS, MISSES
from discreet.charts.variance_bound_plane import PlanePoint
from tests.charts.samples import PLANE, data_of, layers


def test_bars_are_what_is_left() -> None:
    (bars,) = data_of(PLANE.spec(), "bar")
    assert {bar["bound"]: (bar["variance"], bar["high"]) for bar in bars} == {
        row.bound: (row.low, pytest.approx(min(row.high, PLANE.top))) for row in PLANE.rows if row.feasible
    }
    assert {bar["bound"] for bar in bars} == {4, 5, 6, 7} - {row.bound for row in PLANE.rows if row.low > row.high} | {
        3
    }


def test_lines_are_the_limits_as_far_as_they_are_shown() -> None:
    drawn = {
        line[0]["edge"]: [(point["bound"], point["variance"]) for point in line]
        for line in data_of(PLANE.spec(), "line")
    }
    for edge in PLANE.edges:
        shown = [limit for limit in edge.limits if limit[1] <= PLANE.top]
        assert drawn.get(edge.label, []) == shown
    assert "nothing: at most" not in drawn


def test_the_axis_reaches_all_that_is_asked_for_and_chosen() -> None:
    assert max(2.0, 3.0) < PLANE.top < 100
    assert replace(PLANE, chosen=(PlanePoint(50.0, 5, "far"),)).top > 50
    assert replace(PLANE, chosen=(PlanePoint(1.0, 20, "wide"),)).last == 20


def test_the_alternative_states_the_region_and_the_settings() -> None:
    assert "feasible bounds 3 to 7" in PLANE.alternative
    assert PLANE.alternative.endswith("this release: V 3, E 5; nearest feasible: V 6, E 7.")


@pytest.mark.parametrize(("variance", "colour"), [(3.0, MEETS), (1.9, MISSES), (5.1, MISSES)])
def test_the_mark_has_the_colour_of_its_verdict(variance: float, colour: str) -> None:
    spec = replace(PLANE, chosen=(PlanePoint(variance, 5, "x"),)).spec()
    (fill,) = [layer["mark"]["fill"] for layer in layers(spec) if layer["mark"]["type"] == "point"]
    assert fill == colour


def test_the_bound_is_on_the_horizontal_axis() -> None:
    for layer in layers(PLANE.spec()):
        assert (layer["encoding"]["x"]["field"], layer["encoding"]["y"]["field"]) == ("bound", "variance")
