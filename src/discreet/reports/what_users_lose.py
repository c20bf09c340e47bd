"""The pictures of loss: errors by size of count, of small areas, and tables whose parts do not add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.charts.bars import LONGEST, Bar, BarChart
from discreet.charts.columns import Column, ColumnChart
from discreet.charts.ranges import Range, RangeChart

if TYPE_CHECKING:
    from discreet.accuracy.additivity import Additivity
    from discreet.accuracy.by_size import BySize
    from discreet.accuracy.small_areas import SmallAreas
    from discreet.accuracy.true_count_intervals import Intervals
    from discreet.results import Result

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
            Column(
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
            Column(f"{each.first}-{each.last}", each.expected / each.number, f"{each.expected / each.number:.1%}")
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


def intervals_chart(found: Intervals, typical: Result) -> RangeChart:
    """Return the true counts behind published ones; the sentence on a typical one is the message."""
    known = [
        Range(*each, is_marked=False)
        for each in zip(found.published.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True)
        if each[0] <= MOST_PUBLISHED
    ]
    last = known[-1]
    # From there on intervals move along with what is published.
    more = [
        Range(value, last.low + value - last.published, last.high + value - last.published)
        for value in range(last.published + 1, MOST_PUBLISHED + 1)
    ]
    marked = int(typical.name.rpartition("_")[2])
    ranges = tuple(Range(each.published, each.low, each.high, each.published == marked) for each in (*known, *more))
    return RangeChart(typical.sentence.split(". ")[0].removesuffix("."), ranges)
