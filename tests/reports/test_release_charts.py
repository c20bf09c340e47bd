"""The charts of a report: those that its results allow, each from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.charts.variance_bound_plane import PlaneChart
from discreet.reports.calibration_charts import NEAREST
from discreet.reports.release_charts import achieved_by, charts_of, design_chart
from tests.reports.facts import with_facts

if TYPE_CHECKING:
    from discreet.reports.report_results import ReportResults


def names(found: ReportResults) -> dict[str, list[str]]:
    return {section: [chart.name for chart in charts] for section, charts in charts_of(found).items()}


def test_a_release_with_true_counts_has_all(gathered: ReportResults) -> None:
    assert names(gathered) == {
        "summary": ["plane", "possible-releases"],
        "output": ["repeated-statistics", "map"],
        "attacks": ["attacks", "exposed-statistics"],
        "accuracy": ["intervals", "additivity-errors"],
    }


def test_everybody_sees_what_needs_no_true_counts(told: ReportResults) -> None:
    assert names(told) == {
        "summary": ["possible-releases"],
        "output": ["repeated-statistics", "map"],
        "attacks": ["exposed-statistics"],
        "accuracy": ["intervals", "additivity-errors"],
    }


def test_the_noise_of_the_release_is_marked_in_the_plane(gathered: ReportResults) -> None:
    chart = design_chart(gathered)
    assert isinstance(chart, PlaneChart)
    assert gathered.published.record
    point = chart.chosen[0]
    is_nearest = gathered.nearest == (point.variance, point.bound)
    assert [each.label for each in chart.chosen[1:]] == ([] if is_nearest else [NEAREST])
    assert (point.variance, point.bound) == (gathered.published.record.variance, gathered.published.record.bound)
    assert design_chart(with_facts(gathered, design=None)) is None


def test_attacks_are_shown_as_they_were_scored(gathered: ReportResults) -> None:
    assert gathered.risk.attacks
    scores = {each.finding.name: each.headline() for each in gathered.risk.attacks.outcomes if each.score}
    rows = achieved_by(gathered)
    assert rows
    for row in rows:
        share = scores[row.name]
        assert row.score == share
        assert row.without == (None if share.naive is None else share.naive / share.cells)
