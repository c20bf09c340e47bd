from __future__ import annotations

from discreet.calibration.noise_design import design
from discreet.reports.calibration_charts import constraint_charts
from tests.programme.small import programme

TOWN = programme([["SEX", "AGE", "GEO"], ["SEX", "GEO.1"]], {"SEX": [2], "AGE": [3, 12], "GEO": [4, 40]})


def test_every_constraint_has_its_picture_with_its_own_limits() -> None:
    found = design(TOWN, cuts=0, max_bound=6)
    charts = constraint_charts(found)
    assert len({chart.name for chart in charts}) == len(charts) == len(found.region.constraints)
    for chart, each in zip(charts, found.region.constraints, strict=True):
        assert chart.formula == each.formula
        assert each.reason in chart.title
        assert chart.is_lower == (each.side == "at least")
        bounds = range(1, 7) if each.about == "variance" else (0,)
        assert chart.limits == tuple((bound, each.limit(bound)) for bound in bounds)
