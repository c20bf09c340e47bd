"""The map of redundancy: how often the statistics that cross two topics come back in the tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.charts.chart import ACCENT, DARK, LETTERS, finished, layered, rows
from discreet.programme.summary import statistic_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.charts.chart import Spec
    from discreet.programme.model import Programme
    from discreet.programme.summary import SharedStatistic

MOST = 12
"""Topics that are shown, those in most tables."""
PALE = "#f6e3da"
"""Light end of the scale, which ends in the accent: one hue, dark is more."""
HALF = 0.5
TWO = 2
TOTAL = "total"
TIMES = "tables in which one statistic of both comes back"


@dataclass(frozen=True)
class Crossing:
    """Two topics, or one twice, the statistic of them that comes back most often, and in how many tables it does."""

    row: str
    column: str
    statistic: str
    tables: int


@dataclass(frozen=True)
class TopicMatrix:
    """Topics against topics, those in most tables first; a topic against itself is the topic alone.

    Attributes:
        title: the message.
        topics: in their order.
        crossings: of topics that any table crosses.
        name: of the chart.
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
        """Return what is drawn, in words."""
        told = "; ".join(f"{each.statistic} in {each.tables}" for each in self.crossings)
        return f"A field for every two topics: darker where a statistic of both is in more tables. {told}."

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
        colour = alt.Color("tables:Q", scale=alt.Scale(domain=[0, self.most], range=[PALE, ACCENT]), legend=None)
        fields = alt.Chart(data).mark_rect(stroke="white", strokeWidth=2)
        letters = alt.condition("datum.dark", alt.value("white"), alt.value(DARK))
        numbers = alt.Chart(data).mark_text(fontSize=LETTERS - 1).encode(x=x, y=y, text="tables:Q", color=letters)
        told = ["statistic:N", alt.Tooltip("tables:Q", title="in tables")]
        drawn = fields.encode(x=x, y=y, color=colour, tooltip=told)
        return finished(layered([drawn, numbers]), 24 * len(self.topics), self.alternative)


def crossed_chart(shared: Sequence[SharedStatistic], programme: Programme) -> TopicMatrix | None:
    """Return the map of the statistics of one and two topics; None where no table has a topic.

    Args:
        shared: the statistics, those in most tables first.
        programme: to call them by their words.
    """
    best: dict[tuple[str, str], SharedStatistic] = {}
    for statistic in shared:
        topics = _topics(statistic.name)
        if len(topics) > TWO or statistic.name == TOTAL:
            continue
        for pair in {(topics[0], topics[-1]), (topics[-1], topics[0])}:
            if statistic.tables > getattr(best.get(pair), "tables", 0):
                best[pair] = statistic
    if not best:
        return None
    alone = Counter({row: found.tables for (row, column), found in best.items() if row == column})
    shown = tuple(topic for topic, _ in sorted(alone.items(), key=lambda each: (-each[1], each[0]))[:MOST])
    crossings = tuple(
        Crossing(row, column, statistic_label(programme, best[row, column].name), best[row, column].tables)
        for row in shown
        for column in shown
        if (row, column) in best
    )
    pairs = [each for each in crossings if each.row != each.column]
    most = max(pairs or crossings, key=lambda each: each.tables)
    where = "one table" if most.tables == 1 else f"{most.tables} tables"
    if not pairs:
        title = f"No table crosses two topics; {most.statistic} stands in {where}"
    elif most.tables == 1:
        title = "No statistic of two topics comes back: each is in one table alone"
    else:
        title = f"Of all crossings of two topics {most.statistic} comes back most often: in {where}"
    return TopicMatrix(title, shown, crossings)


def _topics(statistic: str) -> list[str]:
    return sorted({part.split(".")[0].split(":")[0] for part in statistic.split()})
