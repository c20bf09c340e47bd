"""The picture of what publishing less buys: its data, and that they are what is drawn."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from discreet.charts.chart import DARK, LIGHT
from discreet.charts.frontier_chart import GAP, LABELLED, FrontierChart, FrontierPoint
from tests.charts.samples import labels_of, layers

WHOLE = FrontierPoint(1.0, 10.0, "publish everything")
ALONE = (
    FrontierPoint(0.4, 7.0, "breakdown SEX"),
    FrontierPoint(0.9, 9.5, "table 2"),
    FrontierPoint(0.5, 9.9, "table 3"),
)
PATH = (
    FrontierPoint(0.99, 9.9, "table 1"),
    FrontierPoint(0.98, 9.8, "table 4"),
    FrontierPoint(0.97, 9.7, "breakdown AGE"),
    FrontierPoint(0.96, 9.6, "table 5"),
    FrontierPoint(0.7, 8.0, "table 6", feasible=True),
)
FRONTIER = (WHOLE, *PATH, ALONE[0])
CHART = FrontierChart("5 cuts", WHOLE, ALONE, PATH, FRONTIER, allowed=8.2, bound=10)


def mark(layer: dict[str, Any]) -> dict[str, Any]:
    """Return the mark of a layer and how it looks."""
    found: dict[str, Any] = layer["mark"] if isinstance(layer["mark"], dict) else {"type": layer["mark"]}
    return found


def values(spec: dict[str, Any], kind: str, colour: str | None = None) -> list[list[dict[str, Any]]]:
    """Return the data of all layers of a mark and a colour."""
    return [
        spec["datasets"][layer["data"]["name"]] if "name" in layer["data"] else layer["data"]["values"]
        for layer in layers(spec)
        if mark(layer)["type"] == kind and colour in (None, mark(layer).get("color"))
    ]


def test_all_points_are_in_the_page_chart() -> None:
    spec = CHART.spec()
    (grey,) = values(spec, "point", LIGHT)
    assert [(row["kept"], row["variance"], row["cut"]) for row in grey] == [
        (p.kept, p.variance, p.label) for p in ALONE
    ]
    (line,) = values(spec, "line", DARK)
    assert [(row["kept"], row["variance"]) for row in line] == [(p.kept, p.variance) for p in (WHOLE, *PATH)]
    assert spec["width"] == "container"
    assert spec["description"] == CHART.alternative
    assert "$schema" not in spec


def test_first_steps_are_named_apart_from_each_other() -> None:
    spec = CHART.spec()
    (names,) = (rows for rows in values(spec, "rule") if "label" in rows[0] and "at" in rows[0])
    assert [row["label"] for row in names] == [
        "all published",
        *(f"{number}. {point.label}" for number, point in enumerate(PATH[:LABELLED], start=1)),
    ]
    low, high = next(
        layer["encoding"]["y"]["scale"]["domain"] for layer in layers(spec) if mark(layer)["type"] == "line"
    )
    heights = [row["height"] for row in names]
    assert all(a - b >= GAP * (high - low) * (1 - 1e-9) for a, b in itertools.pairwise(heights))
    assert all(low <= height <= high for height in heights)
    # Beyond all points, where nothing can be covered.
    assert {row["at"] for row in names} == {max(row["at"] for row in names)}
    assert names[0]["at"] > 1


def test_names_at_the_bottom_are_pushed_up() -> None:
    steep = tuple(replace(point, variance=1.0 - number / 100) for number, point in enumerate(PATH))
    names = replace(CHART, path=steep, frontier=(WHOLE, *steep)).spec()
    (rows,) = (rows for rows in values(names, "rule") if "at" in rows[0])
    low, _ = next(layer["encoding"]["y"]["scale"]["domain"] for layer in layers(names) if mark(layer)["type"] == "line")
    assert min(row["height"] for row in rows) >= low


def test_the_limit_is_drawn_where_it_is_near() -> None:
    def limits(chart: FrontierChart) -> list[float]:
        return [rows[0]["variance"] for rows in values(chart.spec(), "rule") if "at" not in rows[0]]

    assert limits(CHART) == [8.2]
    far = replace(CHART, allowed=50.0)
    assert limits(far) == []
    assert far.alternative.endswith("bound 10 allows a variance of 50.")


def test_the_alternative_states_the_ends_and_the_limit() -> None:
    assert CHART.alternative == (
        "Variance against share of cells kept: 100.0 % of cells, variance 10 for the whole output, 5 successive cuts "
        "down to 70.0 % of cells, variance 8; bound 10 allows a variance of 8.2."
    )


def test_steps_the_best_cut_and_the_limit_are_named() -> None:
    assert {"1. table 1", "breakdown SEX alone", "bound 10 allows 8.2"} <= labels_of(CHART.spec())


@pytest.mark.parametrize("path", [(), PATH[:1], PATH])
@pytest.mark.parametrize("alone", [(), ALONE])
def test_little_can_be_drawn_too(alone: tuple[FrontierPoint, ...], path: tuple[FrontierPoint, ...]) -> None:
    chart = replace(CHART, alone=alone, path=path, frontier=(WHOLE, *path))
    assert chart.spec()["layer"]
