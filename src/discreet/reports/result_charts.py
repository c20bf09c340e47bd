"""The main chart of every result, of a programme, a p-table and a release: `.chart()` in Python.

Entry points of the group `discreet.charts` name these functions by class. A class without one has the chart of the
class that it is derived from: every set of results has at least a bar chart of its values.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from discreet.charts.altair_view import altair_view
from discreet.charts.bar_charts import Bar, BarChart, CountRange, RangeChart
from discreet.charts.panel_charts import ptable_chart
from discreet.charts.topic_matrix import crossed_chart
from discreet.errors import InputError
from discreet.programme.model import VALUE
from discreet.programme.summary import shared_statistics
from discreet.release.disclosed_noise import CountIntervals
from discreet.reports import calibration_charts, release_charts
from discreet.verdicts import AVERAGING

if TYPE_CHECKING:
    from discreet.accuracy.release_utility import Utility
    from discreet.accuracy.small_areas import SmallAreas
    from discreet.attacks.attack_report import AttackReport
    from discreet.calibration.comparison import Comparison
    from discreet.calibration.noise_design import NoiseDesign
    from discreet.charts.altair_view import LayeredView, PanelView
    from discreet.noise.ptable import PTable
    from discreet.programme.model import Programme
    from discreet.release.release import Release
    from discreet.reports.release_report import Report
    from discreet.results import ResultSet
    from discreet.risk.assessment import Assessment

    AltairView = LayeredView | PanelView

MOST_BARS = 15
EXAMPLE = 12
"""The published count whose interval is the message of the chart of a release."""


def values(found: ResultSet) -> AltairView:
    """Return the finite values of the most frequent unit as bars."""
    finite = [each for each in found.results if math.isfinite(each.value) and each.value >= 0]
    if not finite:
        raise InputError(f"{type(found).__name__} has no values to draw.")
    unit = Counter(each.unit for each in finite).most_common(1)[0][0]
    shown = [each for each in finite if each.unit == unit][:MOST_BARS]
    name = "share or probability" if unit == "1" else unit
    return altair_view(
        BarChart(
            name="values",
            title=f"{shown[0].name}: {shown[0].value:,.3g}{'' if unit == '1' else f' {unit}'}",
            bars=tuple(Bar(each.name, each.value, f"{each.value:,.3g}") for each in shown),
            axis=name,
            meaning=f"results ({name})",
            form=",.3~g",
        )
    )


def assessment(found: Assessment) -> AltairView:
    """Return the exact recovery rates of the most exposed statistics, or the values if averaging is not defined."""
    rows = release_charts.exposed(found, release_charts.MOST_EXPOSED)
    return (
        altair_view(release_charts.exposed_chart(rows, found.case.policy.accepted(AVERAGING)))
        if rows
        else values(found)
    )


def attacks(found: AttackReport) -> AltairView:
    """Return the exact recovery rates of the attacks, or the attacker's confidence if they are not scored."""
    scored = [
        release_charts.Achieved(each.finding.name, each.finding.subject, each.headline())
        for each in found.outcomes
        if each.score
        and not each.finding.answers
        and len(each.finding.estimate) >= release_charts.SEVERAL
        and each.headline().cells
    ]
    return altair_view(release_charts.achieved_chart(scored)) if scored else values(found)


def utility(found: Utility) -> AltairView:
    """Return errors by true count, or without true counts the intervals of true counts by published count."""
    by_size = release_charts.by_size_chart(found.cells.by_size) if found.cells else None
    return altair_view(by_size or release_charts.intervals_chart(found.intervals, found.typical))


def small_areas(found: SmallAreas) -> AltairView:
    """Return the expected share of large errors by size of the count."""
    drawn = release_charts.small_areas_chart(found)
    return altair_view(drawn) if drawn else values(found)


def design(found: NoiseDesign) -> AltairView:
    """Return the plane of variance and bound with the recommended setting."""
    return altair_view(calibration_charts.plane_chart_of(found))


def comparison(found: Comparison) -> AltairView:
    """Return risk and errors of all mechanisms."""
    return altair_view(calibration_charts.chart_of(found))


def report(found: Report) -> AltairView:
    """Return the first chart of the page."""
    return altair_view(found.charts[0]) if found.charts else values(found)


def ptable(found: PTable) -> AltairView:
    """Return the rows of a p-table."""
    return altair_view(ptable_chart(found))


def programme(found: Programme) -> AltairView:
    """Return how often the statistics that cross two topics are published."""
    drawn = crossed_chart(shared_statistics(found), found)
    if drawn is None:
        raise InputError(f"Programme {found.name!r} has no chart: its tables have no variables.")
    return altair_view(drawn)


def release(found: Release) -> AltairView:
    """Return the 95 % interval of the true count by published count, from the disclosed noise.

    Weighted counts have no intervals; a release of these has the chart of its programme.
    """
    if VALUE not in found.description.get("counts", [VALUE]):
        return programme(found.programme)
    published = np.arange(release_charts.MOST_PUBLISHED + 1)
    lower, upper = (ends.tolist() for ends in CountIntervals(found.description["noise"]).of(published))
    ranges = tuple(CountRange(n, lower[n], upper[n], n == EXAMPLE) for n in published.tolist())
    title = f"A published {EXAMPLE} has a true count from {lower[EXAMPLE]} to {upper[EXAMPLE]} in 19 of 20 cases"
    return altair_view(RangeChart(title, ranges))
