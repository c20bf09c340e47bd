"""The picture of averaging risk: how often an attacker is right on the most exposed statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.paper import ACCENT, DARK
from discreet.charts.svg import LETTERS, Picture, page_figure, page_picture
from discreet.equations.closed_form import success
from discreet.programme.words import statistic_words

if TYPE_CHECKING:
    from discreet.risk.assess import Assessment

MOST_BARS = 8
AVERAGE = "with the paper's average"
LONGEST = 60
"""Letters of a name that fit over its bar."""


@dataclass(frozen=True)
class Exposed:
    """One statistic: in how many ways it can be computed, how far off the best combination is, how often right."""

    statistic: str
    words: str
    ways: int
    error: float
    right: float
    paper: float


def exposed(assessment: Assessment, most: int) -> list[Exposed]:
    """Return the most exposed statistics, up to a number of them."""
    programme, variance = assessment.case.programme, assessment.case.record.variance
    return [
        Exposed(
            row["statistic"],
            statistic_words(programme, row["statistic"]),
            row["t"],
            (variance * row["optimal"]) ** 0.5,
            row["alpha"],
            success(variance, row["greedy"]),
        )
        for row in assessment.averaging()[:most]
    ]


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
    rows = exposed(assessment, MOST_BARS)
    title = f"Who combines everything published knows {rows[0].words} to the person in {rows[0].right:.0%} of cases"
    return AveragingChart(
        title,
        tuple(row.words for row in rows),
        tuple(row.right for row in rows),
        tuple(row.paper for row in rows),
        assessment.case.confidence,
    )


def averaging_picture(assessment: Assessment) -> Picture:
    """Return the picture: under the name of every statistic a bar, with marks for the limit and the paper's average."""
    chart = averaging_chart(assessment)
    last = len(chart.statistics) - 1
    figure, axes = page_figure(0.46 * len(chart.statistics) + 0.95)
    places = range(len(chart.statistics))
    axes.barh(places, chart.optimal, color=ACCENT, height=0.36)
    axes.plot(chart.paper, places, "o", color="white", markeredgecolor=DARK, markersize=6)
    axes.vlines(
        [chart.confidence] * len(places), [p - 0.21 for p in places], [p + 0.21 for p in places], color=DARK, lw=2
    )
    for place, (name, share) in enumerate(zip(chart.statistics, chart.optimal, strict=True)):
        axes.annotate(_short(name), (0, place - 0.27), va="bottom", fontsize=LETTERS, color=DARK)
        axes.annotate(
            f"{share:.0%}",
            (share, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=LETTERS,
            color=DARK,
        )
    marks = sorted([(chart.confidence, f"to be held to {chart.confidence:.0%}"), (chart.paper[last], AVERAGE)])
    for (where, text), side in zip(marks, ("right", "left"), strict=True):
        axes.annotate(text, (where, last + 0.4), ha=side, va="top", fontsize=LETTERS, color=DARK)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(last + 1.05, -0.85)
    axes.set_xlim(0, 1.1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlabel("share of the counts that she gets right to the person")
    return page_picture(figure, chart.title, _words(chart))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 2]} .."


def _words(chart: AveragingChart) -> str:
    rows = "; ".join(
        f"{name}: {best:.0%}, with the paper's average {paper:.0%}"
        for name, best, paper in zip(chart.statistics, chart.optimal, chart.paper, strict=True)
    )
    return (
        "Bars: how often the best linear attack is right to the person, for the most exposed statistics. "
        f"{rows}. A mark stands at {chart.confidence:.0%}, to which she was to be held."
    )
