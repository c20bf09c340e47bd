"""The most exposed statistics: those of the assessment, in its order."""

from __future__ import annotations

import pytest

from discreet.charts.chart import MEETS, MISSES
from discreet.equations.closed_form import success
from discreet.reports.release_charts import exposed, exposed_chart
from discreet.risk.assessment import assess
from discreet.verdicts import percent

ASSESSMENT = assess(
    "eu2021:MT", variance=3, bound=5, measures=["averaging"], targets={"averaging": 0.9}, closed_form=True
)


def test_rows_are_those_of_the_assessment() -> None:
    found = exposed(ASSESSMENT, 5)
    for row, each in zip(ASSESSMENT.averaging(), found, strict=False):
        assert (each.statistic, each.right) == (row["statistic"], row["alpha"])
        assert each.paper == pytest.approx(success(3, row["greedy"]))
    assert found[0].right == pytest.approx(ASSESSMENT.results[0].value)


def test_the_chart_says_the_first_and_marks_the_limit() -> None:
    found = exposed(ASSESSMENT, 5)
    chart = exposed_chart(found, 0.9)
    assert found[0].words in chart.title
    assert percent(found[0].right) in chart.title
    assert f"up to {percent(found[0].right)}" in exposed_chart(found, 0.9, at_most=True).title
    assert "up to" not in chart.title
    assert chart.limit == (0.9, "target: at most 90.0 %")
    assert [(bar.value, bar.other) for bar in chart.bars] == [(each.right, each.paper) for each in found]
    middle = (found[0].right + found[-1].right) / 2
    colours = [bar.colour for bar in exposed_chart(found, middle).bars]
    assert colours == [MISSES if each.right > middle else MEETS for each in found]
    assert set(colours) == {MISSES, MEETS}
