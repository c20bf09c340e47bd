"""The picture of averaging: how often an attacker who combines everything is right on the most exposed statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.bars import LONGEST, Bar, BarChart
from discreet.equations.closed_form import success
from discreet.programme.words import statistic_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.risk.assessment import Assessment

AXIS = "share of the counts that she gets right to the person"
SAID = "Bars: how often the best linear attack is right to the person, for the most exposed statistics."
AVERAGE = "with the paper's average"


@dataclass(frozen=True)
class Exposed:
    """One statistic.

    Attributes:
        statistic: its name.
        words: the same in words.
        ways: in how many ways it can be computed.
        error: the standard deviation of the best combination.
        right: how often that is right when rounded.
        paper: how often the paper's average is.
    """

    statistic: str
    words: str
    ways: int
    error: float
    right: float
    paper: float


def exposed(assessment: Assessment, most: int) -> tuple[Exposed, ...]:
    """Return the most exposed statistics, up to a number of them."""
    programme, variance = assessment.case.programme, assessment.case.record.variance
    return tuple(
        Exposed(
            row["statistic"],
            statistic_words(programme, row["statistic"]),
            row["t"],
            (variance * (row["exact"] or row["optimal"])) ** 0.5,
            row["alpha"],
            success(variance, row["greedy"]),
        )
        for row in assessment.averaging()[:most]
    )


def exposed_chart(found: Sequence[Exposed], confidence: float, *, at_most: bool = False) -> BarChart:
    """Return the chart of some statistics, the most exposed first.

    Args:
        found: what is drawn.
        confidence: what she is to be held to.
        at_most: whether the noise may be larger than it was taken for, and she right less often.
    """
    first = found[0]
    often = f"{'up to ' if at_most else ''}{first.right:.0%}"
    return BarChart(
        name="exposed-statistics",
        title=f"Who combines everything published knows {first.words} to the person in {often} of cases",
        bars=tuple(Bar(each.words, each.right, f"{each.right:.0%}", each.paper) for each in found),
        axis=AXIS,
        said=SAID,
        longest=LONGEST,
        limit=(confidence, f"to be held to {confidence:.0%}"),
        other_label=AVERAGE,
    )
