"""The charts of a report, by section: those that its results allow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.charts.topic_matrix import crossed_chart
from discreet.reports.achieved import Achieved, achieved_chart
from discreet.reports.design_charts import line_chart_of, plane_chart_of
from discreet.reports.exposed_statistics import exposed, exposed_chart
from discreet.reports.published_as import village_chart
from discreet.reports.repeated_statistics import repeated_chart
from discreet.reports.what_users_lose import by_size_chart, gaps_chart, intervals_chart, small_areas_chart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.charts.chart import Chart
    from discreet.charts.epsilon_line import EpsilonChart
    from discreet.charts.plane import PlaneChart
    from discreet.reports.report_results import Gathered

MOST_EXPOSED = 8
SEVERAL = 2
"""Estimates from which on a share of them says something."""


def charts_of(found: Gathered) -> dict[str, tuple[Chart, ...]]:
    """Return the charts by the section they stand in."""
    return {
        "published": tuple(_published(found)),
        "noise": () if found.is_exact else (village_chart(found.village),),
        "attacker": tuple(_attacker(found)),
        "users": () if found.is_exact else tuple(_users(found)),
    }


def _published(found: Gathered) -> Iterator[Chart]:
    yield repeated_chart(found.shared, found.release.programme)
    if crossed := crossed_chart(found.shared, found.release.programme):
        yield crossed


def _attacker(found: Gathered) -> Iterator[Chart]:
    if chart := design_chart(found):
        yield chart
    if found.assessment and (rows := exposed(found.assessment, MOST_EXPOSED)):
        yield exposed_chart(rows, found.confidence, at_most=found.is_public)
    if achieved := achieved_by(found):
        yield achieved_chart(achieved)


def design_chart(found: Gathered) -> PlaneChart | EpsilonChart | None:
    """Return the chart that the noise of the release has a place in, None where neither of two has.

    Bounded noise that counts share has one in the plane of variance and bound, noise with an epsilon and without a
    bound has one on the line of epsilon.
    """
    design, record = found.design, found.record
    if design is None or record is None or record.is_deterministic:
        return None
    if math.isfinite(record.bound) and record.spsn:
        return plane_chart_of(design, (record.variance, int(record.bound)))
    epsilon = record.parameters.get("epsilon")
    if epsilon and not math.isfinite(record.bound):
        return line_chart_of(design, float(epsilon))
    return None


def achieved_by(found: Gathered) -> list[Achieved]:
    """Return what attacks on many counts achieved, in the order of the report of attacks."""
    rows = []
    for outcome in found.attacks.outcomes if found.attacks else ():
        if outcome.score is None or outcome.finding.answers or len(outcome.finding.estimate) < SEVERAL:
            continue
        share = outcome.headline()
        if share.cells:
            without = None if share.naive is None else share.naive / share.cells
            name = outcome.finding.name
            rows.append(Achieved(name, outcome.finding.subject, share.cells, share.achieved, share.predicted, without))
    return rows


def _users(found: Gathered) -> Iterator[Chart]:
    utility = found.utility
    if utility.cells and (chart := by_size_chart(utility.cells.by_size)):
        yield chart
    yield intervals_chart(utility.intervals, utility.typical)
    if utility.small_areas and (areas := small_areas_chart(utility.small_areas)):
        yield areas
    if gaps := gaps_chart(utility.additivity):
        yield gaps
