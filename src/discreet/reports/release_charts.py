"""The charts of a report on a release, by section: those that its results allow.

- Published: how many statistics are published in how many tables, and which topics are crossed.
- Noise: the distribution of the published count of one small village.
- Attacker: the place of the noise in its design, the success of the optimal linear attack on the most exposed
  statistics, and the exact recovery rate of each attack compared with its prediction.
- Users: errors by size of count, intervals of true counts, errors in small areas, and additivity errors by table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.bar_charts import LONGEST, Bar, BarChart, ChartColumn, ColumnChart, CountRange, RangeChart
from discreet.charts.topic_matrix import crossed_chart
from discreet.equations.closed_form import success
from discreet.programme.summary import statistic_label
from discreet.reports.calibration_charts import line_chart_of, plane_chart_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.accuracy.additivity import Additivity
    from discreet.accuracy.cell_errors import BySize
    from discreet.accuracy.small_areas import SmallAreas
    from discreet.accuracy.true_count_intervals import CountIntervals
    from discreet.charts.chart import Chart
    from discreet.charts.constraint_charts import EpsilonChart
    from discreet.charts.variance_bound_plane import PlaneChart
    from discreet.noise.published_counts import PublishedCounts
    from discreet.programme.model import Programme
    from discreet.programme.summary import SharedStatistic
    from discreet.reports.report_results import ReportResults
    from discreet.results import Result
    from discreet.risk.assessment import Assessment


@dataclass(frozen=True)
class Achieved:
    """What one attack achieved.

    Attributes:
        name: of the attack.
        subject: what it names, as `counts`.
        cells: how many there are that are not 0.
        share: how many of these it names exactly.
        predicted: the same by a formula, None where there is none.
        without: the same without the attack, None where nothing could be said.
    """

    name: str
    subject: str
    cells: int
    share: float
    predicted: float | None
    without: float | None


def achieved_chart(found: Sequence[Achieved]) -> BarChart:
    """Return the chart of attacks, that which names most first."""
    ranked = sorted(found, key=lambda each: -each.share)
    best = ranked[0]
    without = f"; without any attack it is {best.without:.0%}" if best.without is not None else ""
    return BarChart(
        name="attacks",
        title=f"The attack {best.name} names {best.share:.0%} of {best.cells:,} {best.subject} exactly{without}",
        bars=tuple(
            Bar(f"{each.name} ({each.cells:,} {each.subject})", each.share, f"{each.share:.1%}", each.predicted)
            for each in ranked
        ),
        axis="share that is named exactly, where the true value is not 0",
        said="Bars: the share of true values other than 0 that an attack names exactly.",
        longest=LONGEST,
        other_label="predicted" if any(each.predicted is not None for each in ranked) else "",
    )


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
            statistic_label(programme, row["statistic"]),
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


RARE = 0.005


def village_chart(found: PublishedCounts) -> ColumnChart:
    """Return the law of what is published for one true count; the usual range has the accent."""
    usual = found.usual
    span = f"{usual.low}" if usual.low == usual.high else f"{usual.low} to {usual.high}"
    return ColumnChart(
        name="village",
        title=f"A village of {usual.count} people is published as {span} in {usual.words}",
        columns=tuple(
            ChartColumn(
                str(value), chance, f"{100 * chance:.0f}" if chance >= RARE else "<1", usual.low <= value <= usual.high
            )
            for value, chance in zip(found.published, found.chances, strict=True)
        ),
        across=f"published number of people, where {usual.count} are there",
        axis="chance, in percent",
        said=f"Columns: the chance of every published number for {usual.count} people, in percent.",
    )


def repeated_chart(shared: Sequence[SharedStatistic], programme: Programme) -> BarChart:
    """Return how many statistics come back how often; each class reaches twice as far as the one before.

    Args:
        shared: the statistics, the one in most tables first.
        programme: to call them by their words.
    """
    times = [statistic.tables for statistic in shared]
    most, repeated = times[0], sum(n > 1 for n in times)
    bars, low = [], 1
    while low <= most:
        high = max(2 * (low - 1), low)
        last = min(high, most)
        tables = "one table" if last == 1 else f"{low} tables" if last == low else f"{low} to {last} tables"
        number = sum(low <= n <= high for n in times)
        bars.append(Bar(f"in {tables}", float(number), f"{number:,}", is_marked=low > 1))
        low = high + 1
    first = statistic_label(programme, shared[0].name)
    return BarChart(
        name="repeated-statistics",
        title=f"{repeated:,} of {len(times):,} statistics are in two tables or more, and {first} is in {most}",
        bars=tuple(bars),
        axis="number of statistics",
        said="Bars: how many statistics are published in how many tables.",
        form=",.0f",
    )


OFF = 20
"""Percent that a count is off by, which the pictures speak of."""
MOST_TABLES, MOST_BINS, MOST_PUBLISHED = 8, 8, 30


def by_size_chart(found: BySize) -> ColumnChart | None:
    """Return how often counts are far off, by size of the true count; None where all cells are empty."""
    classes = [each for each in found.classes if each.above]
    if not classes:
        return None
    first, last = classes[0], classes[-1]
    small = f"{first.words.capitalize()} are more than {OFF} % off in {first.above[OFF]:.0%} of cells"
    return ColumnChart(
        name="errors-by-size",
        title=small if first is last else f"{small}, {last.words} in {last.above[OFF]:.1%}",
        columns=tuple(
            ChartColumn(
                f"{each.low}+" if each.high is None else f"{each.low}-{each.high}",
                each.above[OFF],
                f"{each.above[OFF]:.1%}",
            )
            for each in classes
        ),
        across="true count, persons",
        axis=f"cells more than {OFF} % off",
        said=f"Columns: the share of cells whose published count is more than {OFF} % off, by true count.",
    )


def small_areas_chart(found: SmallAreas) -> ColumnChart | None:
    """Return how many counts of small areas are expected to be far off, by size; None where there are none."""
    distorted = found.single[0]
    bins = [each for each in distorted.bins if each.number and each.last][:MOST_BINS]
    if not bins:
        return None
    first = bins[0]
    share, percent = first.expected / first.number, f"{distorted.relative:.0%}"
    return ColumnChart(
        name="small-areas",
        title=f"Of counts of {first.first} to {first.last} people in an area, {share:.0%} are expected to be more than "
        f"{percent} off",
        columns=tuple(
            ChartColumn(f"{each.first}-{each.last}", each.expected / each.number, f"{each.expected / each.number:.1%}")
            for each in bins
        ),
        across="women, men or residents of an area, persons",
        axis=f"expected more than {percent} off",
        said=f"Columns: the share of counts expected to be more than {percent} off, by true count of areas.",
    )


def gaps_chart(found: Additivity) -> BarChart | None:
    """Return the tables in which most totals differ from the sums of their parts; None where there are no totals."""
    tables = sorted((each for each in found.tables if each.totals), key=lambda each: -each.apart / each.totals)
    if not tables:
        return None
    worst = tables[0]
    return BarChart(
        name="totals-apart",
        title=f"{found.share_of_totals:.0%} of all totals are not the sums of their parts, and "
        f"{worst.apart / worst.totals:.0%} in table {worst.table}",
        bars=tuple(
            Bar(
                f"table {each.table}, {each.mean:.1f} persons off on average",
                each.apart / each.totals,
                f"{each.apart / each.totals:.0%}",
            )
            for each in tables[:MOST_TABLES]
        ),
        axis="share of the totals that are not the sums of their parts",
        said="Bars: the tables with the largest share of totals that do not add up.",
        longest=LONGEST,
    )


def intervals_chart(found: CountIntervals, typical: Result) -> RangeChart:
    """Return the true counts behind published ones; the sentence on a typical one is the message."""
    known = [
        CountRange(*each, is_marked=False)
        for each in zip(found.published.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True)
        if each[0] <= MOST_PUBLISHED
    ]
    last = known[-1]
    # From there on intervals move along with what is published.
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
"""Estimates from which on a share of them says something."""


def charts_of(found: ReportResults) -> dict[str, tuple[Chart, ...]]:
    """Return the charts by the section they stand in."""
    return {
        "published": tuple(_published(found)),
        "noise": () if found.published.is_exact else (village_chart(found.utility.village),),
        "attacker": tuple(_attacker(found)),
        "users": () if found.published.is_exact else tuple(_users(found)),
    }


def _published(found: ReportResults) -> Iterator[Chart]:
    yield repeated_chart(found.published.shared, found.published.release.programme)
    if crossed := crossed_chart(found.published.shared, found.published.release.programme):
        yield crossed


def _attacker(found: ReportResults) -> Iterator[Chart]:
    if chart := design_chart(found):
        yield chart
    if found.risk.assessment and (rows := exposed(found.risk.assessment, MOST_EXPOSED)):
        yield exposed_chart(rows, found.risk.confidence, at_most=found.published.is_public)
    if achieved := achieved_by(found):
        yield achieved_chart(achieved)


def design_chart(found: ReportResults) -> PlaneChart | EpsilonChart | None:
    """Return the chart that the noise of the release has a place in, None where neither of two has.

    Bounded noise that counts share has one in the plane of variance and bound, noise with an epsilon and without a
    bound has one on the line of epsilon.
    """
    design, record = found.risk.design, found.published.record
    if design is None or record is None or record.is_deterministic:
        return None
    if math.isfinite(record.bound) and record.spsn:
        return plane_chart_of(design, (record.variance, int(record.bound)))
    epsilon = record.parameters.get("epsilon")
    if epsilon and not math.isfinite(record.bound):
        return line_chart_of(design, float(epsilon))
    return None


def achieved_by(found: ReportResults) -> list[Achieved]:
    """Return what attacks on many counts achieved, in the order of the report of attacks."""
    rows = []
    for outcome in found.risk.attacks.outcomes if found.risk.attacks else ():
        if outcome.score is None or outcome.finding.answers or len(outcome.finding.estimate) < SEVERAL:
            continue
        share = outcome.headline()
        if share.cells:
            without = None if share.naive is None else share.naive / share.cells
            name = outcome.finding.name
            rows.append(Achieved(name, outcome.finding.subject, share.cells, share.achieved, share.predicted, without))
    return rows


def _users(found: ReportResults) -> Iterator[Chart]:
    utility = found.utility.measured
    if utility.cells and (chart := by_size_chart(utility.cells.by_size)):
        yield chart
    yield intervals_chart(utility.intervals, utility.typical)
    if utility.small_areas and (areas := small_areas_chart(utility.small_areas)):
        yield areas
    if gaps := gaps_chart(utility.additivity):
        yield gaps
