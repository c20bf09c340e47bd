"""Count, perturb and write the tables one after another; each table is counted while the previous one is written."""

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
    """Published values of the statistics that further tables need, and weighted values if there are weights.

    Attributes:
        weighted_only: whether tables contain only weighted values.
        values: the published values of each statistic.
        weighted: the weighted values of each statistic; empty if there are no weights.
    """

    weighted_only: bool = False
    values: dict[Statistic, StatisticValues] = field(default_factory=dict)
    weighted: dict[Statistic, StatisticValues] = field(default_factory=dict)

    def add(self, batch: CellBatch, value: Ints, mean_weight: Floats | None) -> None:
        """Add cells; cells with a published 0 are not written and therefore omitted."""
        kept = np.flatnonzero(value)
        self.values.update(batch.by_statistic(value, kept))
        if mean_weight is not None:
            # Round: with decimals the mean weight would disclose the true count, which is its denominator.
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
        # A row with a weighted count of 0 would disclose that the unweighted count is not 0.
        return found.filter(pc.field(WEIGHTED) != 0).drop_columns([VALUE])

    def forget(self, statistics: Sequence[Statistic]) -> None:
        """Drop statistics that no further table needs."""
        for statistic in statistics:
            self.values.pop(statistic, None)
            self.weighted.pop(statistic, None)


WEIGHT_SPACE = 1 << 32
"""The key space for sums of weights, whose two halves together have 64 bits."""
WRITING_AHEAD = 2
"""Maximum number of tables that wait to be written; each keeps its rows in memory."""


@dataclass(frozen=True, eq=False)
class _Table:
    """One table to be written, with its true counts if they are stored, and their digest if there is a secret."""

    name: str
    published: pa.Table
    exact: pa.Table | None
    content: str


@dataclass(eq=False)
class TablePublisher:
    """One run over all tables.

    Attributes:
        loaded: the records.
        engine: the engine that contains the records.
        mechanism: the noise mechanism.
        roles: the columns of counts and weights, if there are any.
        keep_exact: whether tables of true counts are written, too.
        non_negative: whether negative values are published as 0.
        progress: a function that is called with stage, tables done and total number of tables.
        done: the ids of tables that exist already.
        weighted_only: whether tables contain only weighted counts.
        seconds: the time for counting, noise and writing; these stages overlap.
    """

    loaded: LoadedRecords
    engine: Engine
    mechanism: Mechanism
    roles: RecordColumns
    keep_exact: bool
    non_negative: bool
    progress: Progress
    done: frozenset[str] = frozenset()
    weighted_only: bool = False
    seconds: dict[str, float] = field(default_factory=lambda: {"counting": 0.0, "noise": 0.0, "writing": 0.0})

    def run(self, writer: ReleaseWriter) -> dict[str, float]:
        """Compute and write every table that does not exist yet; return the seconds of every stage."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            writing: deque[Future[None]] = deque()
            for table in self._tables():
                # Raise the error of a failed write before the next table is counted.
                while len(writing) >= WRITING_AHEAD or (writing and writing[0].done()):
                    writing.popleft().result()
                writing.append(pool.submit(self._write, writer, table))
            while writing:
                writing.popleft().result()
        return self.seconds

    def _write(self, writer: ReleaseWriter, table: _Table) -> None:
        begin = time.perf_counter()
        writer.put(table.name, table.published, table.exact, table.content)
        self.seconds["writing"] += time.perf_counter() - begin
        self._step("writing", table.name)

    def _step(self, stage: str, name: str) -> None:
        if name in self.done:
            return
        done = self._done[stage] = self._done.get(stage, len(self.done)) + 1
        self.progress(stage, done, len(self.loaded.programme.tables))

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
        """Return the plan, without tables that exist already and that no other table is computed from.

        In pre-tabulated data, one table is read for all tables whose cells are sums of its cells.
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
        """Return a function from a maximal statistic to the engine's table with its cells, or with all records."""
        places = {table.base: self.loaded.places.get(table.table.id) for table in reversed(plan.tables)}
        return lambda statistic: places.get(statistic) or MICRO

    def _counted(self, plan: Plan, records: CodedRecords) -> Iterator[tuple[CountedTable, CountedTable | None]]:
        """Yield each counted table, with its sums of weights if there are weights, otherwise None."""
        if not self.roles.weight:
            for counted in tabulate(plan, records):
                yield counted, None
            return
        weights = replace(records, key_space=WEIGHT_SPACE, sums=WEIGHTS)
        yield from zip(tabulate(plan, records), tabulate(plan, weights), strict=True)

    def _of_population(self, plan: Plan, records: CodedRecords) -> Iterator[_Table]:
        shown, truth = PublishedStatistics(self.weighted_only), PublishedStatistics()
        # Other mechanisms also draw the noise of empty cells by coordinates, but never that of the grand total.
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
            # Without the secret, an attacker could recover small counts from a plain digest by exhaustive search.
            content = keyed_digest(_content(counted), secret) if secret else ""
            yield _Table(table.table.id, published, exact, content)
            begin = time.perf_counter()

    def _due(self, plan: Plan, counted: CountedTable, places: CellCoordinates) -> Iterator[CellBatch]:
        """Yield the cells of new statistics; without consistent noise (SPSN), those of all statistics of the table."""
        due = counted.new if self.mechanism.spsn else counted.table.statistics
        if self.mechanism.perturbs_zeros:
            for statistic in due:
                yield with_empty(plan, counted, statistic, places)
        elif due:
            yield occupied(counted, due)

    def _noisy(
        self, plan: Plan, counted: CountedTable, batch: CellBatch, counts: Ints, places: CellCoordinates
    ) -> Ints:
        cells = NoiseBatch(
            table=counted.table.table.id,
            statistics=tuple(batch.statistics),
            counts=counts,
            keys=keys_of(batch.words),
            find_words=lambda: batch.coordinates(plan, places),
        )
        published = self.mechanism.publish(cells)
        return np.maximum(published, 0) if self.non_negative else published


def _content(counted: CountedTable) -> str:
    """Return a digest of the finest cells of a table; it does not depend on the file or the order of records."""
    index, words = counted.cells[counted.table.base].occupied()
    digest = hashlib.blake2b(index.tobytes(), digest_size=16)
    digest.update(counts_of(words).tobytes())
    return digest.hexdigest()
