"""The charts of a report on a release, by section; the first of a section is open, the others are among all figures.

- Summary: the noise in the plane of its design, and 20 possible releases of one count.
- Output: the number of tables that publish each statistic, and the topics that tables cross.
- Attacks: the success of the optimal linear attack on the most exposed statistics, and the exact recovery rate of every
  attack compared with its prediction.
- Accuracy: errors by size of count, intervals of true counts, errors in small areas, and additivity errors by table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attack_verdicts import rate_text
from discreet.attacks.scoring import FEW, wilson
from discreet.charts.bar_charts import (
    LONGEST,
    RELEASES,
    Bar,
    BarChart,
    ChartColumn,
    ColumnChart,
    CountRange,
    DotPlot,
    RangeChart,
)
from discreet.charts.chart import MEETS, MISSES
from discreet.charts.topic_matrix import crossed_chart
from discreet.equations.closed_form import success
from discreet.programme.summary import statistic_label
from discreet.reports.calibration_charts import line_chart_of, plane_chart_of
from discreet.verdicts import AVERAGING, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.accuracy.additivity import Additivity
    from discreet.accuracy.cell_errors import BySize
    from discreet.accuracy.small_areas import SmallAreas
    from discreet.accuracy.true_count_intervals import CountIntervals
    from discreet.attacks.scoring import ClassScore
    from discreet.charts.chart import Chart
    from discreet.charts.constraint_charts import EpsilonChart
    from discreet.charts.variance_bound_plane import PlaneChart
    from discreet.noise.published_counts import PublishedCounts
    from discreet.programme.model import Programme
    from discreet.programme.summary import SharedStatistic
    from discreet.reports.report_results import ReportResults
    from discreet.results import Result
    from discreet.risk.assessment import Assessment

VISIBLE = 0.0005
"""The smallest share that a chart is drawn for."""


@dataclass(frozen=True)
class Achieved:
    """The success of one attack.

    Attributes:
        name: the attack.
        subject: the quantity that it estimates, as `counts`.
        score: the exact recovery rate where the true value is not 0, achieved and predicted.
    """

    name: str
    subject: str
    score: ClassScore

    @property
    def rate(self) -> str:
        """Return the rate that was achieved, with its interval if it rests on few cases."""
        return rate_text(self.score.recall)

    @property
    def without(self) -> float | None:
        """Return the rate without the attack; None if it is not defined."""
        return None if self.score.naive is None else self.score.naive / self.score.cells


def achieved_chart(found: Sequence[Achieved]) -> BarChart:
    """Return the chart of attacks, the most successful first."""
    ranked = sorted(found, key=lambda each: -each.score.achieved)
    best = ranked[0]
    without = f"; without an attack {percent(best.without)}" if best.without is not None else ""
    return BarChart(
        name="attacks",
        title=f"The attack {best.name} recovers {best.rate} of {best.score.cells:,} {best.subject} exactly{without}",
        bars=tuple(
            Bar(
                f"{each.name} (n = {each.score.cells:,} {each.subject})",
                each.score.achieved,
                _rate(each.score.achieved, each.score.recall.cases),
                each.score.predicted,
            )
            for each in ranked
        ),
        axis="exact recovery rate of values other than 0",
        meaning="exact recovery rates by attack",
        longest=LONGEST,
        other_label="predicted" if any(each.score.predicted is not None for each in ranked) else "",
    )


@dataclass(frozen=True)
class Exposed:
    """One statistic.

    Attributes:
        statistic: the name.
        words: the label.
        right: the exact recovery rate of the optimal linear attack.
        paper: the exact recovery rate of the paper's average.
    """

    statistic: str
    words: str
    right: float
    paper: float


def exposed(assessment: Assessment, most: int | None = None) -> tuple[Exposed, ...]:
    """Return the statistics, the most exposed first, up to a number of them."""
    programme, variance = assessment.case.programme, assessment.case.record.variance
    return tuple(
        Exposed(
            row["statistic"],
            statistic_label(programme, row["statistic"]),
            row["alpha"],
            success(variance, row["greedy"]),
        )
        for row in assessment.averaging()[:most]
    )


def exposed_chart(found: Sequence[Exposed], target: float, *, at_most: bool = False) -> BarChart:
    """Return the chart of some statistics, the most exposed first.

    Args:
        found: the statistics.
        target: the target for averaging.
        at_most: whether the rates are upper bounds, because the noise can be larger than assumed.
    """
    first = found[0]
    rate = f"{'up to ' if at_most else ''}{percent(first.right)}"
    return BarChart(
        name="exposed-statistics",
        title=f"Combining all tables recovers {first.words} exactly in {rate} of cases",
        bars=tuple(
            Bar(each.words, each.right, percent(each.right), each.paper, MISSES if each.right > target else MEETS)
            for each in found
        ),
        axis="exact recovery rate of the optimal linear attack",
        meaning="exact recovery rates of the most exposed statistics",
        longest=LONGEST,
        limit=(target, f"target: at most {percent(target)}"),
        other_label="the paper's average",
    )


def dot_plot(found: PublishedCounts) -> DotPlot:
    """Return 20 equally likely published values of one true count: the quantiles of its distribution."""
    usual, total = found.usual, np.cumsum(found.chances)
    places = np.searchsorted(total, (np.arange(RELEASES) + 0.5) / RELEASES * total[-1])
    values = tuple(found.published[place] for place in places.tolist())
    span = f"{usual.low}" if usual.low == usual.high else f"{usual.low} to {usual.high}"
    title = f"A count of {usual.count} is published as {span} in at least {usual.share_words} cases"
    return DotPlot(title, usual.count, values, (usual.low, usual.high))


def repeated_chart(shared: Sequence[SharedStatistic], programme: Programme) -> BarChart:
    """Return the number of statistics by the number of tables that publish them, in classes of doubling width.

    Args:
        shared: the statistics, the one in most tables first.
        programme: the programme with the labels of statistics.
    """
    times = [statistic.tables for statistic in shared]
    most, repeated = times[0], sum(n > 1 for n in times)
    bars, low = [], 1
    while low <= most:
        high = max(2 * (low - 1), low)
        last = min(high, most)
        tables = "one table" if last == 1 else f"{low} tables" if last == low else f"{low} to {last} tables"
        number = sum(low <= n <= high for n in times)
        bars.append(Bar(f"in {tables}", float(number), f"{number:,}"))
        low = high + 1
    first = statistic_label(programme, shared[0].name)
    return BarChart(
        name="repeated-statistics",
        title=f"{repeated:,} of {len(times):,} statistics are in two or more tables; {first} is in {most}",
        bars=tuple(bars),
        axis="number of statistics",
        meaning="statistics by number of tables that publish them",
        form=",.0f",
    )


OFF = 20
"""The relative error of the charts, in percent."""
MOST_TABLES, MOST_BINS, MOST_PUBLISHED = 8, 8, 30


def by_size_chart(found: BySize) -> ColumnChart | None:
    """Return the share of large errors by size of the true count; None if there are none."""
    classes = [each for each in found.classes if each.above]
    if not any(each.above[OFF] >= VISIBLE for each in classes):
        return None
    first, last = classes[0], classes[-1]
    small = f"{first.words.capitalize()} are more than {OFF} % off in {percent(first.above[OFF])} of cells"
    return ColumnChart(
        name="errors-by-size",
        title=small if first is last else f"{small}, {last.words} in {percent(last.above[OFF])}",
        columns=tuple(
            ChartColumn(
                f"{each.low}+" if each.high is None else f"{each.low}-{each.high}",
                each.above[OFF],
                _rate(each.above[OFF], each.cells),
            )
            for each in classes
        ),
        across=f"true count, persons (n = {', '.join(f'{each.cells:,}' for each in classes)})",
        axis=f"share of cells more than {OFF} % off",
        meaning=f"the share of cells more than {OFF} % off by true count",
    )


def _rate(share: float, cases: int) -> str:
    """Return a share, or its 95 % interval if it rests on few cases."""
    if cases >= FEW:
        return percent(share)
    low, high = wilson(share, cases)
    return f"{100 * low:.0f}-{100 * high:.0f} %"


def small_areas_chart(found: SmallAreas) -> ColumnChart | None:
    """Return the expected share of large errors in small areas by size of the count; None if there are none."""
    distorted = found.single[0]
    bins = [each for each in distorted.bins if each.number and each.last][:MOST_BINS]
    if not any(each.expected >= VISIBLE * each.number for each in bins):
        return None
    first = bins[0]
    share, relative = first.expected / first.number, f"{100 * distorted.relative:.0f} %"
    return ColumnChart(
        name="small-areas",
        title=f"{percent(share)} of {first.number:,} counts from {first.first} to {first.last} in areas are expected "
        f"to be more than {relative} off",
        columns=tuple(
            ChartColumn(f"{each.first}-{each.last}", each.expected / each.number, percent(each.expected / each.number))
            for each in bins
        ),
        across="women, men or residents of an area, persons",
        axis=f"expected share more than {relative} off",
        meaning=f"the expected share of counts of areas more than {relative} off by true count",
    )


def gaps_chart(found: Additivity) -> BarChart | None:
    """Return the tables with the largest additivity errors; None if all totals are the sums of their parts."""
    tables = sorted((each for each in found.tables if each.apart), key=lambda each: -each.apart / each.totals)
    if not tables:
        return None
    worst = tables[0]
    return BarChart(
        name="additivity-errors",
        title=f"{percent(found.share_of_totals)} of totals differ from the sum of their parts, "
        f"{percent(worst.apart / worst.totals)} in table {worst.table}",
        bars=tuple(
            Bar(
                f"table {each.table} (n = {each.totals:,}, mean difference {each.mean:.1f})",
                each.apart / each.totals,
                _rate(each.apart / each.totals, each.totals),
            )
            for each in tables[:MOST_TABLES]
        ),
        axis="share of totals that differ from the sum of their parts",
        meaning="the share of totals that differ from the sum of their parts by table",
        longest=LONGEST,
    )


def intervals_chart(found: CountIntervals, typical: Result) -> RangeChart:
    """Return the intervals of true counts by published count, with the typical one as message."""
    known = [
        CountRange(*each, is_marked=False)
        for each in zip(found.published.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True)
        if each[0] <= MOST_PUBLISHED
    ]
    last = known[-1]
    # From there on the interval moves with the published count.
    more = [
        CountRange(value, last.low + value - last.published, last.high + value - last.published)
        for value in range(last.published + 1, MOST_PUBLISHED + 1)
    ]
    marked = int(typical.name.rpartition("_")[2])
    ranges = tuple(
        CountRange(each.published, each.low, each.high, each.published == marked) for each in (*known, *more)
    )
    return RangeChart(typical.sentence.split(". ")[0].removesuffix("."), ranges)


MOST_EXPOSED = 8
SEVERAL = 2
"""The number of estimates from which on a rate is defined."""


def charts_of(found: ReportResults) -> dict[str, tuple[Chart, ...]]:
    """Return the charts by section."""
    return {
        "summary": tuple(_summary(found)),
        "output": tuple(_output(found)),
        "attacks": tuple(_attacks(found)),
        "accuracy": () if found.published.is_exact else tuple(_accuracy(found)),
    }


def _summary(found: ReportResults) -> Iterator[Chart]:
    if chart := design_chart(found):
        yield chart
    if not found.published.is_exact:
        yield dot_plot(found.utility.village)


def _output(found: ReportResults) -> Iterator[Chart]:
    yield repeated_chart(found.published.shared, found.published.release.programme)
    if crossed := crossed_chart(found.published.shared, found.published.release.programme):
        yield crossed


def _attacks(found: ReportResults) -> Iterator[Chart]:
    if achieved := achieved_by(found):
        yield achieved_chart(achieved)
    if found.risk.assessment and (rows := exposed(found.risk.assessment, MOST_EXPOSED)):
        yield exposed_chart(rows, found.risk.policy.accepted(AVERAGING), at_most=found.published.is_public)


def design_chart(found: ReportResults) -> PlaneChart | EpsilonChart | None:
    """Return the chart of the design that contains the noise of the release; None if neither of two does.

    Bounded consistent noise has a place in the plane of variance and bound. Unbounded noise with an epsilon has a place
    on the line of epsilon.
    """
    design, record = found.risk.design, found.published.record
    if design is None or record is None or record.is_deterministic:
        return None
    if math.isfinite(record.bound) and record.spsn:
        return plane_chart_of(design, (record.variance, int(record.bound)), found.nearest)
    epsilon = record.parameters.get("epsilon")
    if epsilon and not math.isfinite(record.bound):
        return line_chart_of(design, float(epsilon))
    return None


def achieved_by(found: ReportResults) -> list[Achieved]:
    """Return the success of the attacks on many values, in the order of the report of attacks."""
    rows = []
    for outcome in found.risk.attacks.outcomes if found.risk.attacks else ():
        if outcome.score is None or outcome.finding.answers or len(outcome.finding.estimate) < SEVERAL:
            continue
        if outcome.headline().cells:
            rows.append(Achieved(outcome.finding.name, outcome.finding.subject, outcome.headline()))
    return rows


def _accuracy(found: ReportResults) -> Iterator[Chart]:
    utility = found.utility.measured
    if utility.cells and (chart := by_size_chart(utility.cells.by_size)):
        yield chart
    yield intervals_chart(utility.intervals, utility.typical)
    if utility.small_areas and (areas := small_areas_chart(utility.small_areas)):
        yield areas
    if gaps := gaps_chart(utility.additivity):
        yield gaps
