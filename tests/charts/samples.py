"""One chart of every kind, with data that can be checked by eye."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.charts.bar_charts import Bar, BarChart, ChartColumn, ColumnChart, CountRange, DotPlot, RangeChart
from discreet.charts.chart import MEETS, MISSES
from discreet.charts.constraint_charts import EpsilonChart, EpsilonLimit, LimitChart
from discreet.charts.frontier_chart import FrontierChart, FrontierPoint
from discreet.charts.panel_charts import ComparePanel, PTableChart, PTablePanel, compare_chart
from discreet.charts.topic_matrix import Crossing, TopicMatrix
from discreet.charts.variance_bound_plane import PlaneChart, PlaneEdge, PlanePoint, PlaneRow

if TYPE_CHECKING:
    from discreet.charts.chart import Chart, Spec

BOUNDS = range(1, 8)
PLANE = PlaneChart(
    title="Variance 3 with bound 5 is feasible",
    rows=tuple(PlaneRow(bound, 2.0, bound * (bound + 1) / 6) for bound in BOUNDS),
    edges=(
        PlaneEdge("averaging: at least", tuple((bound, 2.0) for bound in BOUNDS), is_lower=True),
        PlaneEdge("room: at most", tuple((bound, bound * (bound + 1) / 6) for bound in BOUNDS), is_lower=False),
        PlaneEdge("nothing: at most", tuple((bound, float("inf")) for bound in BOUNDS), is_lower=False),
    ),
    chosen=(PlanePoint(3.0, 5, "this release"), PlanePoint(6.0, 7, "nearest feasible", is_open=True)),
)
LINE = EpsilonChart(
    "All constraints allow an epsilon per count of 0.1 to 0.4",
    (EpsilonLimit("averaging", 0.4, is_lower=False), EpsilonLimit("accurate areas", 0.1, is_lower=True)),
    (0.2, "this release"),
)
BARS = BarChart(
    name="bars",
    title="Bars",
    bars=(Bar("a < b", 0.9, "90 %", 0.5, MISSES), Bar("c", 0.25, "25 %", None, MEETS)),
    axis="share of cells",
    meaning="shares",
    limit=(0.68, "target: at most 68 %"),
    other_label="predicted",
)
COLUMNS = ColumnChart(
    name="columns",
    title="Columns",
    columns=tuple(ChartColumn(f"{low}-{low + 9}", low / 100, f"{low}%") for low in range(0, 60, 10)),
    across="true count, persons",
    axis="share of cells",
    meaning="shares",
)
RANGES = RangeChart(
    "A published 3 stands for 1 to 5", tuple(CountRange(n, max(n - 2, 0), n + 2, n == 3) for n in range(8))
)
DOTS = DotPlot("A count of 3 is published as 2 to 4", 3, (1, *[2] * 5, *[3] * 8, *[4] * 6), (2, 4))
CROSSED = TopicMatrix(
    "Age by sex is the most repeated crossing",
    ("SEX", "AGE"),
    (
        Crossing("SEX", "SEX", "sex", 5),
        Crossing("SEX", "AGE", "age by sex", 4),
        Crossing("AGE", "SEX", "age by sex", 4),
    ),
)
LIMIT = LimitChart(
    "Room", "V <= E (E + 1) / 3", "variance V", ((1, 2 / 3), (2, 2.0), (3, 4.0)), is_lower=False, name="limit"
)
ONE_LIMIT = LimitChart("Areas", "eps >= log(t)", "epsilon", ((0, 0.25),), is_lower=True, name="one-limit")
WHOLE = FrontierPoint(1.0, 10.0, "publish everything")
CUT = FrontierPoint(0.8, 8.0, "table 1", feasible=True)
FRONTIER = FrontierChart("1 cut", WHOLE, (FrontierPoint(0.4, 7.0, "table 2"),), (CUT,), (WHOLE, CUT), 8.2, 10)
COMPARE = compare_chart(
    "equal-risk",
    ["coordinates:truncated-gaussian", "fresh:discrete-gaussian"],
    [
        ComparePanel("Singletons", "share of singleton cells", (0.551, 0.784), message="{} recovered", is_risk=True),
        ComparePanel("At worst", "persons that a count is off", (5.0, 1234.0), ",.0f"),
    ],
)
PTABLE = PTableChart(
    "Counts change by about ±1",
    1,
    tuple(PTablePanel(f"count {n}: sd 0.71", (-1, 0, 1), (0.25, 0.5, 0.25)) for n in range(1, 5)),
)
ALL: tuple[Chart, ...] = (PLANE, LINE, BARS, COLUMNS, RANGES, DOTS, CROSSED, LIMIT, ONE_LIMIT, FRONTIER)
PANELS: tuple[Chart, ...] = (COMPARE, PTABLE)
"""Rows of panels, which have a width of their own."""


def layers(spec: Spec) -> list[Spec]:
    """Return the layers of a specification, those within others and within panels too, each with its data."""
    shared = {"data": spec["data"]} if "data" in spec else {}
    parts = spec.get("concat") or spec.get("layer")
    return [{**shared, **inner} for part in parts for inner in layers(part)] if parts else [spec]


def labels_of(spec: Spec) -> set[str]:
    """Return the labels that are written in a chart: the fields of its text marks."""
    written = [layer for layer in layers(spec) if layer["mark"]["type"] == "text"]
    return {
        str(row[layer["encoding"]["text"]["field"]])
        for layer in written
        for row in spec["datasets"][layer["data"]["name"]]
    }


def data_of(spec: Spec, mark: str) -> list[list[dict[str, Any]]]:
    """Return the data of every layer with such marks."""
    drawn = [layer for layer in layers(spec) if layer["mark"]["type"] == mark]
    return [spec["datasets"][layer["data"]["name"]] for layer in drawn]
