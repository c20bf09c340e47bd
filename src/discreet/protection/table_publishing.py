"""Table after table: count, add noise, write.

What tables show of statistics that are still needed.

Making the tables: count, add noise, write; the next table is counted while the last is written.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.mechanisms.mechanism import NoiseBatch
from discreet.programme.model import VALUE, WEIGHTED
from discreet.protection.record_loading import MICRO
from discreet.records.secret import keyed_digest
from discreet.tabulation.cell_batch import occupied, with_empty
from discreet.tabulation.cell_coordinates import CellCoordinates
from discreet.tabulation.cell_counts import counts_of, keys_of
from discreet.tabulation.counting import PERSONS, ROWS, WEIGHTS, CodedRecords, tabulate
from discreet.tabulation.plan import plan as plan_tables
from discreet.tabulation.table_rows import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from discreet.arrays import Floats, Ints
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.lattice import Statistic
    from discreet.programme.model import Table
    from discreet.progress import Progress
    from discreet.protection.record_loading import LoadedRecords
    from discreet.records.record_columns import RecordColumns
    from discreet.release.release_writer import ReleaseWriter
    from discreet.tabulation.cell_batch import CellBatch
    from discreet.tabulation.counting import CountedTable
    from discreet.tabulation.plan import Plan, TablePlan
    from discreet.tabulation.table_rows import StatisticValues


@dataclass(frozen=True, eq=False)
class PublishedStatistics:
    """What tables show of statistics that are still needed: values and, where there are weights, weighted ones.

    Attributes:
        weighted_only: whether tables show weighted values alone.
    """

    weighted_only: bool = False
    values: dict[Statistic, StatisticValues] = field(default_factory=dict)
    weighted: dict[Statistic, StatisticValues] = field(default_factory=dict)

    def add(self, batch: CellBatch, value: Ints, mean_weight: Floats | None) -> None:
        """Take cells, without those that are 0: these are not written."""
        kept = np.flatnonzero(value)
        self.values.update(batch.by_statistic(value, kept))
        if mean_weight is not None:
            # Whole numbers: with decimals the mean weight would tell the true count, of which it is a fraction.
            whole = np.rint(value * mean_weight).astype(np.int64)
            self.weighted.update(batch.by_statistic(whole, kept))

    def rows(self, plan: Plan, table: TablePlan) -> pa.Table:
        """Return the rows of a table."""
        import pyarrow.compute as pc

        found = rows(plan, table, self.values)
        if not self.weighted:
            return found
        found = found.append_column(WEIGHTED, rows(plan, table, self.weighted).column(VALUE))
        if not self.weighted_only:
            return found
        # A row with a weighted count of 0 would show that the unweighted one is not 0.
        return found.filter(pc.field(WEIGHTED) != 0).drop_columns([VALUE])

    def forget(self, statistics: Sequence[Statistic]) -> None:
        """Drop what no table shows any more."""
        for statistic in statistics:
            self.values.pop(statistic, None)
            self.weighted.pop(statistic, None)


WEIGHT_SPACE = 1 << 32
"""The key space with which the two halves of a sum of weights add up to 64 bits."""
WRITING_AHEAD = 2
"""How many tables may wait to be written: each holds its rows in memory."""


@dataclass(frozen=True, eq=False)
class _Table:
    """One table, ready to be written; with its true counts if they are kept, and their digest if there is a secret."""

    name: str
    published: pa.Table
    exact: pa.Table | None
    content: str


@dataclass(eq=False)
class TablePublisher:
    """One run over all tables.

    Attributes:
        loaded: the records.
        engine: where they are.
        mechanism: gives noise.
        roles: tells whether rows have counts and weights.
        keep_exact: whether true counts are made too.
        non_negative: whether what would be negative is published as 0.
        tell: called with stage, tables done and tables in all.
        done: tables that are there already.
        weighted_only: whether tables show weighted counts alone.
        seconds: counting, noise and writing, which run side by side.
    """

    loaded: LoadedRecords
    engine: Engine
    mechanism: Mechanism
    roles: RecordColumns
    keep_exact: bool
    non_negative: bool
    tell: Progress
    done: frozenset[str] = frozenset()
    weighted_only: bool = False
    seconds: dict[str, float] = field(default_factory=lambda: {"counting": 0.0, "noise": 0.0, "writing": 0.0})

    def run(self, shelf: ReleaseWriter) -> dict[str, float]:
        """Make every table that is not there yet and put it on the shelf; return the seconds of every stage."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            writing: deque[Future[None]] = deque()
            for table in self._tables():
                # A write that failed is told before the next table is made.
                while len(writing) >= WRITING_AHEAD or (writing and writing[0].done()):
                    writing.popleft().result()
                writing.append(pool.submit(self._write, shelf, table))
            while writing:
                writing.popleft().result()
        return self.seconds

    def _write(self, shelf: ReleaseWriter, table: _Table) -> None:
        begin = time.perf_counter()
        shelf.put(table.name, table.published, table.exact, table.content)
        self.seconds["writing"] += time.perf_counter() - begin
        self._step("writing", table.name)

    def _step(self, stage: str, name: str) -> None:
        if name in self.done:
            return
        done = self._done[stage] = self._done.get(stage, len(self.done)) + 1
        self.tell(stage, done, len(self.loaded.programme.tables))

    def __post_init__(self) -> None:
        self._done: dict[str, int] = {}

    def _tables(self) -> Iterator[_Table]:
        for population in self.loaded.programme.populations.values():
            plan = self._plan(population)
            if all(table.table.id in self.done for table in plan.tables):
                continue
            made = self._of_population(plan, self._records(plan, population[0].universe))
            yield from (table for table in made if table.name not in self.done)

    def _plan(self, population: Sequence[Table]) -> Plan:
        """Return the plan of all tables, without those that are there already and that no other is made from.

        Of tables that were counted before, one is read for all whose cells are sums of its own.
        """
        whole = plan_tables(self.loaded.programme, population)
        needed = self.loaded.places.keys() | ({table.id for table in population} - self.done)
        return replace(whole, tables=tuple(table for table in whole.tables if table.table.id in needed))

    def _records(self, plan: Plan, universe: str | None) -> CodedRecords:
        def column(axis: int, depth: int) -> str:
            return self.loaded.columns[plan.axes[axis].levels[depth - 1]]

        condition = self.loaded.conditions[universe or None]
        sums = ROWS if self.roles.count else PERSONS
        return CodedRecords(self.engine, self._place(plan), column, condition, self.mechanism.key_space, sums)

    def _place(self, plan: Plan) -> Callable[[Statistic], str]:
        """Return where a maximal statistic is counted: among all records, or in the table that holds its cells."""
        places = {table.base: self.loaded.places.get(table.table.id) for table in reversed(plan.tables)}
        return lambda statistic: places.get(statistic) or MICRO

    def _counted(self, plan: Plan, records: CodedRecords) -> Iterator[tuple[CountedTable, CountedTable | None]]:
        """Give table after table, with the sums of weights beside the counts if there are weights."""
        if not self.roles.weight:
            for counted in tabulate(plan, records):
                yield counted, None
            return
        weights = replace(records, key_space=WEIGHT_SPACE, sums=WEIGHTS)
        yield from zip(tabulate(plan, records), tabulate(plan, weights), strict=True)

    def _of_population(self, plan: Plan, records: CodedRecords) -> Iterator[_Table]:
        shown, truth = PublishedStatistics(self.weighted_only), PublishedStatistics()
        # Cells without a key of their own have noise by coordinates under other mechanisms, too, but never the total.
        labelled = getattr(self.mechanism, "labelled_total", False)
        first = plan.tables[0].table
        places = CellCoordinates(self.loaded.programme, first, self.mechanism.version, labelled_total=labelled)
        begin = time.perf_counter()
        for counted, weights in self._counted(plan, records):
            self.seconds["counting"] += time.perf_counter() - begin
            self._step("counting", counted.table.table.id)
            begin = time.perf_counter()
            for batch in self._due(plan, counted, places):
                counts = counts_of(batch.words)
                mean = batch.mean_weight(counts, weights) if weights else None
                shown.add(batch, self._noisy(plan, counted, batch, counts, places), mean)
                if self.keep_exact:
                    truth.add(batch, counts, mean)
            table = counted.table
            published = shown.rows(plan, table)
            exact = truth.rows(plan, table) if self.keep_exact else None
            shown.forget(counted.last)
            truth.forget(counted.last)
            self.seconds["noise"] += time.perf_counter() - begin
            self._step("noise", table.table.id)
            secret = self.mechanism.secret
            # Whoever could compute the digest of small counts would find them by trying.
            content = keyed_digest(_content(counted), secret) if secret else ""
            yield _Table(table.table.id, published, exact, content)
            begin = time.perf_counter()

    def _due(self, plan: Plan, counted: CountedTable, places: CellCoordinates) -> Iterator[CellBatch]:
        """Give the cells of statistics that are new, or, without the same noise everywhere, of all of the table."""
        due = counted.new if self.mechanism.spsn else counted.table.statistics
        if self.mechanism.perturbs_zeros:
            for statistic in due:
                yield with_empty(plan, counted, statistic, places)
        elif due:
            yield occupied(counted, due)

    def _noisy(
        self, plan: Plan, counted: CountedTable, batch: CellBatch, counts: Ints, places: CellCoordinates
    ) -> Ints:
        lot = NoiseBatch(
            table=counted.table.table.id,
            statistics=tuple(batch.statistics),
            counts=counts,
            keys=keys_of(batch.words),
            find_words=lambda: batch.coordinates(plan, places),
        )
        published = self.mechanism.publish(lot)
        return np.maximum(published, 0) if self.non_negative else published


def _content(counted: CountedTable) -> str:
    """Return a digest of the finest cells of a table: the same for the same persons, in whatever file and order."""
    index, words = counted.cells[counted.table.base].occupied()
    digest = hashlib.blake2b(index.tobytes(), digest_size=16)
    digest.update(counts_of(words).tobytes())
    return digest.hexdigest()
