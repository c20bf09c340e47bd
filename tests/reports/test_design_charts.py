"""A design as charts: the edges are the constraints, and the title says where a setting stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from discreet.calibration.constraints import AT_LEAST, EPSILON, VARIANCE
from discreet.calibration.noise_design import design
from discreet.charts.constraint_charts import EpsilonLimit
from discreet.reports.calibration_charts import (
    HERE,
    NEAREST,
    RECOMMENDED,
    line_chart_of,
    nearest_setting,
    plane_chart_of,
)
from tests.attacks.scenes import HAMLET

if TYPE_CHECKING:
    from discreet.calibration.noise_design import NoiseDesign


@pytest.fixture(scope="module")
def made() -> NoiseDesign:
    return design(HAMLET, attacker="paper", rule="flat", cuts=0)


def test_rows_and_edges_are_those_of_the_design(made: NoiseDesign) -> None:
    chart = plane_chart_of(made)
    assert [(row.bound, row.low, row.high) for row in chart.rows] == [
        (row.bound, row.low, row.high) for row in made.region.plane.rows
    ]
    binding = {name for row in made.region.plane.rows for name in (row.low_by, row.high_by)}
    wanted = [each for each in made.region.constraints if each.about == VARIANCE and each.name in binding]
    assert 0 < len(wanted) < sum(each.about == VARIANCE for each in made.region.constraints)
    for edge, constraint in zip(chart.edges, wanted, strict=True):
        assert edge.is_lower == (constraint.side == AT_LEAST)
        assert all(limit == constraint.limit(bound) for bound, limit in edge.limits)


def test_without_a_setting_the_recommendation_is_marked(made: NoiseDesign) -> None:
    assert made.recommended
    (point,) = plane_chart_of(made).chosen
    assert (point.variance, point.bound, point.label) == (*made.recommended, RECOMMENDED)
    nothing = plane_chart_of(replace(made, recommendation=None))
    assert nothing.chosen == ()
    assert nothing.title.startswith("Infeasible: ")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ((0.1, 6), "too little noise: averaging needs a variance of at least"),
        ((14.5, 6), "is infeasible: "),
        ((3.0, 6), "is feasible: the constraints allow"),
        ((3.0, 12), "exceeds the acceptable bound of 10"),
    ],
)
def test_a_setting_is_marked_and_the_title_says_where_it_stands(
    made: NoiseDesign, setting: tuple[float, int], said: str
) -> None:
    chart = plane_chart_of(made, setting)
    (point,) = chart.chosen
    assert (point.variance, point.bound, point.label) == (*setting, HERE)
    assert said in chart.title
    assert made.region.plane.allows(*setting) == ("is feasible" in said)


def test_the_line_has_the_limits_on_epsilon(made: NoiseDesign) -> None:
    chart = line_chart_of(made)
    assert chart.limits == tuple(
        EpsilonLimit(each.name, each.limit(0), each.side == AT_LEAST)
        for each in made.region.constraints
        if each.about == EPSILON
    )
    assert (chart.feasible is not None) == made.region.line.feasible


def test_an_epsilon_is_within_or_outside(made: NoiseDesign) -> None:
    free, taken = (
        replace(made, region=replace(made.region, line=replace(made.region.line, low=low, high=high)))
        for low, high in ((0.1, 0.4), (0.4, 0.1))
    )
    assert "within the feasible range, 0.1 to 0.4" in line_chart_of(free, 0.2).title
    assert "outside the feasible range" in line_chart_of(free, 0.5).title
    assert line_chart_of(free).title == "All constraints allow an epsilon per count of 0.1 to 0.4"
    assert "No epsilon per count is feasible" in line_chart_of(taken, 0.2).title
    assert line_chart_of(taken).title.startswith("Infeasible")
    assert line_chart_of(free, 0.2).chosen == (0.2, HERE)


@pytest.mark.parametrize("setting", [(0.1, 6), (14.5, 6), (3.0, 6), (0.01, 1), (40.0, 12)])
@pytest.mark.parametrize("needed", [0.0, 4.0])
def test_the_nearest_setting_is_feasible_and_no_bound_is_nearer(
    made: NoiseDesign, setting: tuple[float, int], needed: float
) -> None:
    variance, bound = setting
    found = nearest_setting(made, variance, bound, needed)
    assert found

    def possible(at: int) -> bool:
        row = made.region.plane.at(at)
        return max(row.low, needed) <= row.high

    row = made.region.plane.at(found.bound)
    low = max(row.low, needed)
    assert low <= found.variance <= row.high
    assert not any(possible(at) for at in range(1, 51) if abs(at - bound) < abs(found.bound - bound))
    # The nearest variance, to three digits.
    assert found.variance == pytest.approx(min(max(variance, low), row.high), rel=0.01)
    chart = plane_chart_of(made, setting, found)
    assert [point.label for point in chart.chosen] == ([HERE] if found == setting else [HERE, NEAREST])
