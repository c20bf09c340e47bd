"""Counting: one GROUP BY per maximal table; every other statistic is aggregated once, from its smallest parent."""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.tabulation.cell_counts import Step, grouped, roll_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from discreet.engines.engine import Engine
    from discreet.programme.lattice import Statistic
    from discreet.tabulation.cell_counts import Cells
    from discreet.tabulation.plan import Plan, TablePlan

AHEAD = 2
"""Maximum number of GROUP BY queries that run ahead: the engine counts while numpy aggregates."""


PERSONS = "COUNT(*) AS n, CAST(SUM(k) AS BIGINT) AS k"
"""One person per record."""
ROWS = "CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(k) AS BIGINT) AS k"
"""The number of persons of a record is in column n."""
WEIGHTS = "CAST(SUM(w) AS BIGINT) & 4294967295 AS n, CAST(SUM(w) AS BIGINT) >> 32 AS k"
"""The sum of column w in 64 bits; its key space is 2^32."""


@dataclass(frozen=True, eq=False)
class CodedRecords:
    """Coded records in an engine.

    Attributes:
        engine: the engine that contains the records.
        place: a function that returns the engine's table in which a statistic is counted.
        column: a function that returns the name of the column for an axis and a depth.
        condition: the SQL condition for the records of the population; None for all records.
        key_space: the number of keys K; the keys in column `k` are below it.
        sums: the SQL of the sums, with the lower half of a word as n and the upper as k: PERSONS, ROWS or WEIGHTS.
    """

    engine: Engine
    place: Callable[[Statistic], str]
    column: Callable[[int, int], str]
    condition: str | None
    key_space: int
    sums: str = PERSONS

    def group_by(self, plan: Plan, statistic: Statistic) -> str:
        """Return the SQL that counts a statistic: the flat index, count and key of every non-empty cell."""
        stride, terms = 1, []
        for number in reversed([number for number, depth in enumerate(statistic) if depth]):
            terms.append(f"CAST({self.column(number, statistic[number])} AS BIGINT) * {stride}")
            stride *= plan.axes[number].size(statistic[number])
        index = " + ".join(reversed(terms)) or "CAST(0 AS BIGINT)"
        if stride < 1 << 31:
            index = index.replace("BIGINT", "INTEGER")
        where = f" WHERE {self.condition}" if self.condition else ""
        return (
            f"SELECT {index} AS i, {self.sums} "  # noqa: S608 - names are ours
            f"FROM {self.place(statistic)}{where} GROUP BY 1"
        )


@dataclass(frozen=True, eq=False)
class CountedTable:
    """One counted table.

    Attributes:
        table: the plan of the table.
        cells: the cells of its statistics.
        new: the statistics that no earlier table contains, the finest first.
        last: the statistics that no later table contains.
    """

    table: TablePlan
    cells: dict[Statistic, Cells]
    new: list[Statistic]
    last: list[Statistic]


def tabulate(plan: Plan, records: CodedRecords) -> Iterator[CountedTable]:
    """Yield the counted tables one by one; a statistic of several tables is computed for the first of them."""
    with ThreadPoolExecutor(max_workers=1) as counting:
        yield from _CountState(plan, records, counting).tables()


@dataclass(eq=False)
class _CountState:
    """The state of a count: statistics that have been counted and are still needed."""

    plan: Plan
    records: CodedRecords
    pool: ThreadPoolExecutor
    cells: dict[Statistic, Cells] = field(default_factory=dict)
    given: set[Statistic] = field(default_factory=set)

    def __post_init__(self) -> None:
        # The maximal statistics in the order in which the tables need them.
        self.waiting = deque(dict.fromkeys(self.plan.sources.values()))
        self.running: dict[Statistic, Future[pa.Table]] = {}
        self.left = self.plan.uses.copy()
        self.unshown = Counter(statistic for table in self.plan.tables for statistic in table.statistics)

    def tables(self) -> Iterator[CountedTable]:
        self._start()
        for table in self.plan.tables:
            for statistic in table.statistics:
                if statistic not in self.cells:
                    self.cells[statistic] = self._computed(table, statistic)
            new = [statistic for statistic in table.statistics if statistic not in self.given]
            self.given.update(new)
            self.left.subtract(table.statistics)
            self.unshown.subtract(table.statistics)
            last = [statistic for statistic in table.statistics if not self.unshown[statistic]]
            yield CountedTable(table, {statistic: self.cells[statistic] for statistic in table.statistics}, new, last)
            for statistic in last:
                # A statistic that no later table contains may still be needed to aggregate a later one.
                if not self.left[statistic]:
                    del self.cells[statistic]

    def _start(self) -> None:
        """Start to count the next maximal statistics while the current ones are aggregated."""
        while self.waiting and len(self.running) < AHEAD:
            statistic = self.waiting.popleft()
            sql = self.records.group_by(self.plan, statistic)
            self.running[statistic] = self.pool.submit(self.records.engine.table, sql)

    def _computed(self, table: TablePlan, statistic: Statistic) -> Cells:
        if statistic != table.base:
            parent, place = self.plan.parent(table, statistic)
            return self._summed(parent, statistic, [place])
        larger = self.plan.sources[statistic]
        if larger == statistic:
            return self._counted(statistic)
        if larger not in self.cells:
            self.cells[larger] = self._counted(larger)
        found = self._summed(larger, statistic, range(len(statistic)))
        self.left[larger] -= 1
        if not self.left[larger]:
            del self.cells[larger]
        return found

    def _counted(self, statistic: Statistic) -> Cells:
        """Return the cells that the engine counted, and start the next count."""
        rows = self.running.pop(statistic).result()
        self._start()
        return grouped(self.plan.shape(statistic), rows, self.records.key_space)

    def _summed(self, fine: Statistic, coarse: Statistic, places: list[int] | range) -> Cells:
        """Return a statistic aggregated from a finer one, axis by axis."""
        cells, now = self.cells[fine], list(fine)
        for place in places:
            if now[place] == coarse[place]:
                continue
            among = sum(1 for depth in now[:place] if depth)
            step = Step(among, self.plan.axes[place], now[place], coarse[place])
            cells = roll_up(cells, step, self.records.key_space, self.records.engine)
            now[place] = coarse[place]
        return cells
