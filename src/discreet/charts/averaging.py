"""The picture of averaging risk: how often an attacker is right on the most exposed statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, DARK, LIGHT, blank_figure, save_png
from discreet.risk.averaging import success

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.risk.assess import Assessment

MOST_BARS = 12


@dataclass(frozen=True)
class AveragingChart:
    """Success of the best linear attack and of the paper's average, per statistic, the most exposed first."""

    title: str
    statistics: tuple[str, ...]
    optimal: tuple[float, ...]
    paper: tuple[float, ...]
    confidence: float


def averaging_chart(assessment: Assessment) -> AveragingChart:
    """Return the chart of the most exposed statistics."""
    rows, variance = assessment.averaging()[:MOST_BARS], assessment.case.record.variance
    optimal = tuple(success(variance, row["optimal"]) for row in rows)
    paper = tuple(success(variance, row["greedy"]) for row in rows)
    title = (
        f"Combining everything published, {rows[0]['statistic']} is known to the person in {optimal[0]:.0%} of cases"
    )
    return AveragingChart(title, tuple(row["statistic"] for row in rows), optimal, paper, assessment.case.confidence)


def draw_averaging(assessment: Assessment, path: Path) -> None:
    """Write the picture as a PNG, whole or not at all."""
    chart = averaging_chart(assessment)
    figure = blank_figure(8.4, 0.34 * len(chart.statistics) + 1.5, chart.title)
    axes = figure.subplots()
    places = range(len(chart.statistics))
    axes.barh(places, chart.optimal, color=LIGHT, height=0.7)
    axes.plot(chart.paper, places, "o", color=ACCENT, markersize=5)
    axes.axvline(chart.confidence, color=DARK, linewidth=1, linestyle="--")
    axes.annotate(f"held to {chart.confidence:.0%} ", (chart.confidence, -0.8), fontsize=8, color=DARK, ha="right")
    axes.annotate("the paper's average", (chart.paper[0], -0.8), fontsize=8, color=ACCENT, ha="center")
    axes.set_yticks(list(places), chart.statistics)
    axes.set_ylim(len(chart.statistics) - 0.4, -1.3)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of counts that the rounded estimate gets exactly right (bars: best linear attack)")
    save_png(figure, path)
