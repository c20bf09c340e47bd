"""The map of redundancy: the number of tables that publish the statistics that cross two topics."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import DARK, LETTERS, finished, layered, rows
from discreet.programme.summary import statistic_label, topic_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.charts.chart import Spec
    from discreet.programme.model import Programme
    from discreet.programme.summary import SharedStatistic

MOST = 12
"""The number of topics shown, those in most tables first."""
PALE, DEEP = "#eef0f2", "#4b525c"
"""The ends of the scale of every heat map: dark is more. Grey, because colour states a verdict."""
HALF = 0.5
TWO = 2
TOTAL = "total"
TIMES = "number of tables that publish a statistic of both topics"


@dataclass(frozen=True)
class Crossing:
    """Two topics, or one twice, with their most repeated statistic and the number of tables that publish it."""

    row: str
    column: str
    statistic: str
    tables: int


@dataclass(frozen=True)
class TopicMatrix:
    """A matrix of topics, those in most tables first; the diagonal has the topic alone.

    Attributes:
        title: the message.
        topics: the topics in their order.
        crossings: the pairs of topics that a table crosses.
        name: the name of the chart.
    """

    title: str
    topics: tuple[str, ...]
    crossings: tuple[Crossing, ...]
    name: str = "map"

    @property
    def most(self) -> int:
        """Return the largest number."""
        return max(each.tables for each in self.crossings)

    @property
    def alternative(self) -> str:
        """Return a description in one sentence."""
        most = max(self.crossings, key=lambda each: each.tables)
        return (
            f"Heat map of the number of tables by pair of topics ({len(self.topics)} topics), darker is more: at most "
            f"{most.tables} for {most.statistic}."
        )

    def spec(self) -> Spec:
        """Return the specification."""
        import altair as alt

        data = rows(
            {
                "row": each.row,
                "column": each.column,
                "statistic": each.statistic,
                "tables": each.tables,
                "dark": each.tables > HALF * self.most,
            }
            for each in self.crossings
        )
        order = list(self.topics)
        x = alt.X("column:N", sort=order, title=TIMES).axis(labelAngle=-90, domain=False, ticks=False, orient="top")
        y = alt.Y("row:N", sort=order, title=None).axis(domain=False, ticks=False)
        colour = alt.Color("tables:Q", scale=alt.Scale(domain=[0, self.most], range=[PALE, DEEP]), legend=None)
        fields = alt.Chart(data).mark_rect(stroke="white", strokeWidth=2)
        letters = alt.condition("datum.dark", alt.value("white"), alt.value(DARK))
        numbers = alt.Chart(data).mark_text(fontSize=LETTERS - 1).encode(x=x, y=y, text="tables:Q", color=letters)
        told = ["statistic:N", alt.Tooltip("tables:Q", title="number of tables")]
        drawn = fields.encode(x=x, y=y, color=colour, tooltip=told)
        return finished(layered([drawn, numbers]), 24 * len(self.topics), self.alternative)


def crossed_chart(shared: Sequence[SharedStatistic], programme: Programme) -> TopicMatrix | None:
    """Return the map of the statistics of one and two topics; None unless a table crosses two topics.

    Args:
        shared: the statistics, those in most tables first.
        programme: the programme with the labels of topics and statistics.
    """
    best: dict[tuple[str, str], SharedStatistic] = {}
    for statistic in shared:
        topics = _topics(statistic.name)
        if len(topics) > TWO or statistic.name == TOTAL:
            continue
        for pair in {(topics[0], topics[-1]), (topics[-1], topics[0])}:
            if statistic.tables > getattr(best.get(pair), "tables", 0):
                best[pair] = statistic
    alone = Counter({row: found.tables for (row, column), found in best.items() if row == column})
    shown = tuple(topic for topic, _ in sorted(alone.items(), key=lambda each: (-each[1], each[0]))[:MOST])
    labels = {name: topic_words(programme.topics[name]) if name in programme.topics else name for name in shown}
    crossings = tuple(
        Crossing(
            labels[row], labels[column], statistic_label(programme, best[row, column].name), best[row, column].tables
        )
        for row in shown
        for column in shown
        if (row, column) in best
    )
    pairs = [each for each in crossings if each.row != each.column]
    if not pairs:
        return None
    most = max(pairs, key=lambda each: each.tables)
    title = f"The most repeated crossing of two topics, {most.statistic}, is in {most.tables} tables"
    if most.tables == 1:
        title = "Every statistic of two topics is in one table only"
    return TopicMatrix(title, tuple(labels.values()), crossings)


def _topics(statistic: str) -> list[str]:
    return sorted({part.split(".")[0].split(":")[0] for part in statistic.split()})
