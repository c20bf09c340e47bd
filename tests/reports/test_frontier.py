"""The cuts of a design are the points of its picture, and the title says what they come to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from discreet.calibration.noise_design import design
from discreet.reports.calibration_charts import frontier_chart_of
from discreet.verdicts import percent
from tests.programme.small import programme

if TYPE_CHECKING:
    from discreet.calibration.noise_design import NoiseDesign

SMALL = programme([("SEX", "AGE"), ("SEX", "GEO")], {"SEX": (2,), "AGE": (4, 20), "GEO": (3, 30)})


@pytest.fixture(scope="module")
def feasible() -> NoiseDesign:
    return design(SMALL, areas="GEO", cuts=2)


@pytest.fixture(scope="module")
def infeasible() -> NoiseDesign:
    return design(SMALL, areas="GEO", cuts=1, max_bound=1)


def test_a_design_has_its_cuts_drawn(feasible: NoiseDesign) -> None:
    chart, cuts = frontier_chart_of(feasible), feasible.region.curation
    assert [point.variance for point in chart.path] == [cut.variance for cut in cuts.path]
    assert [point.kept for point in chart.alone] == [cut.cells / cuts.whole.cells for cut in cuts.alone]
    assert [point.label for point in chart.path] == [f"{cut.kind} {cut.name}" for cut in cuts.path]
    assert [point.variance for point in chart.frontier] == [cut.variance for cut in cuts.frontier]
    assert (chart.whole.kept, chart.bound) == (1.0, 10)
    assert chart.allowed == feasible.region.plane.rows[-1].high
    last = cuts.path[-1]
    assert chart.title == (
        f"2 cuts lower the variance needed from {cuts.whole.variance:.3g} to {last.variance:.3g} and keep "
        f"{percent(last.cells / cuts.whole.cells)} of cells"
    )


def test_the_title_says_whether_something_is_then_left(infeasible: NoiseDesign) -> None:
    assert not infeasible.feasible
    cuts = infeasible.region.curation
    chart = frontier_chart_of(infeasible)
    number = len(cuts.sufficient)
    assert number
    assert chart.title.startswith(f"{number} cut")
    assert chart.title.endswith("; the rest is feasible")
    assert chart.path[number - 1].feasible
    unfinished = replace(cuts, path=cuts.path[: number - 1] or (replace(cuts.path[0], feasible=False),))
    told = frontier_chart_of(replace(infeasible, region=replace(infeasible.region, curation=unfinished))).title
    assert told.endswith("; the rest is still infeasible")


def test_without_cuts_there_is_one_point() -> None:
    found = design(SMALL, areas="GEO", cuts=0)
    chart = frontier_chart_of(found)
    assert chart.title == f"The whole output needs a variance of {found.region.plane.needed:.3g}"
    assert chart.alone == chart.path == ()


def test_another_result_gives_another_picture(feasible: NoiseDesign) -> None:
    cuts = feasible.region.curation
    tampered = replace(cuts, path=(*cuts.path[:-1], replace(cuts.path[-1], variance=0.0123)))
    chart = frontier_chart_of(replace(feasible, region=replace(feasible.region, curation=tampered)))
    assert "0.0123" in chart.alternative
    assert "0.0123" not in frontier_chart_of(feasible).alternative
