"""Making the tables: count, add noise, write; the next table is counted while the last is written."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.reading import MICRO
from discreet.tabulation.cells import DENSE_MOST, counts_of, keys_of
from discreet.tabulation.coordinates import coordinate_words
from discreet.tabulation.plan import plan as plan_tables
from discreet.tabulation.rows import Values, rows
from discreet.tabulation.tabulate import Records, tabulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.engines.base import Engine
    from discreet.mechanisms.base import Mechanism
    from discreet.mechanisms.reading import Loaded
    from discreet.release.shelf import Shelf
    from discreet.tabulation.plan import Plan, Statistic
    from discreet.tabulation.tabulate import Counted

WRITING_AHEAD = 2
"""How many tables may wait to be written: each holds its rows in memory."""


@dataclass(frozen=True, eq=False)
class Made:
    """What was made.

    Attributes:
        statistics: different statistics, each computed and given its noise once.
        cells: cells of all tables, empty ones too.
        seconds: counting, noise and writing, which run side by side.
    """

    statistics: int
    cells: int
    seconds: dict[str, float]


@dataclass(frozen=True, eq=False)
class _Table:
    """One table, ready to be written; with its true counts if they are kept."""

    name: str
    published: pa.Table
    exact: pa.Table | None


@dataclass(eq=False)
class Making:
    """One run over all tables.

    Attributes:
        loaded: the records.
        engine: where they are.
        mechanism: gives noise.
        keep_exact: whether true counts are made too.
        release: what this release is known by, for noise by coordinates: version and fingerprint of the data.
        tell: called with stage, tables done and tables in all.
    """

    loaded: Loaded
    engine: Engine
    mechanism: Mechanism
    keep_exact: bool
    release: str
    tell: Callable[[str, int, int | None], None]
    statistics: int = 0
    cells: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"counting": 0.0, "noise": 0.0, "writing": 0.0})

    def run(self, shelf: Shelf) -> Made:
        """Make every table and put it on the shelf."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            writing: deque[Future[None]] = deque()
            for table in self._tables():
                # A write that failed is told before the next table is made.
                while len(writing) >= WRITING_AHEAD or (writing and writing[0].done()):
                    writing.popleft().result()
                writing.append(pool.submit(self._write, shelf, table))
            while writing:
                writing.popleft().result()
        return Made(self.statistics, self.cells, self.seconds)

    def _write(self, shelf: Shelf, table: _Table) -> None:
        begin = time.perf_counter()
        shelf.put(table.name, table.published, table.exact)
        self.seconds["writing"] += time.perf_counter() - begin
        self._step("writing")

    def _step(self, stage: str) -> None:
        done = self._done[stage] = self._done.get(stage, 0) + 1
        self.tell(stage, done, len(self.loaded.programme.tables))

    def __post_init__(self) -> None:
        self._done: dict[str, int] = {}

    def _tables(self) -> Iterator[_Table]:
        for population in self.loaded.programme.populations.values():
            plan = plan_tables(self.loaded.programme, population)
            yield from self._of_population(plan, self._records(plan, population[0].universe))

    def _records(self, plan: Plan, universe: str | None) -> Records:
        def column(axis: int, depth: int) -> str:
            return self.loaded.columns[plan.axes[axis].depths[depth - 1][0].name]

        condition = self.loaded.conditions[universe or None]
        return Records(self.engine, MICRO, column, condition, self.mechanism.key_space)

    def _of_population(self, plan: Plan, records: Records) -> Iterator[_Table]:
        values: dict[Statistic, Values] = {}
        truth: dict[Statistic, Values] = {}
        begin = time.perf_counter()
        for counted in tabulate(plan, records):
            self.seconds["counting"] += time.perf_counter() - begin
            self._step("counting")
            begin = time.perf_counter()
            self._publish(plan, counted, values, truth)
            table = counted.table
            published = rows(plan, table, values)
            exact = rows(plan, table, truth) if self.keep_exact else None
            for statistic in counted.last:
                del values[statistic]
                truth.pop(statistic, None)
            self.cells += table.cells
            self.seconds["noise"] += time.perf_counter() - begin
            self._step("noise")
            yield _Table(table.table.id, published, exact)
            begin = time.perf_counter()

    def _publish(
        self, plan: Plan, counted: Counted, values: dict[Statistic, Values], truth: dict[Statistic, Values]
    ) -> None:
        """Give every statistic that is new its noise, once and all together."""
        if not counted.new:
            return
        occupied = [counted.cells[statistic].occupied() for statistic in counted.new]
        words = np.concatenate([word for _, word in occupied])
        index = np.concatenate([place for place, _ in occupied])
        ends = np.cumsum([0, *(len(place) for place, _ in occupied)])
        counts = counts_of(words)
        published = self.mechanism.publish(counts, keys_of(words))
        self.statistics += len(counted.new)
        if self.keep_exact:
            truth.update(_split(counted.new, index, counts, ends))
        if self.mechanism.perturbs_zeros:
            for statistic, occupied_cells in _split(counted.new, index, published, ends).items():
                values[statistic] = self._with_empty(plan, statistic, occupied_cells)
            return
        # A cell that is published as 0 is not written.
        shown = np.flatnonzero(published)
        values.update(_split(counted.new, index[shown], published[shown], np.searchsorted(shown, ends)))

    def _with_empty(self, plan: Plan, statistic: Statistic, occupied: Values) -> Values:
        """Return the cells with noise on the empty ones too, drawn by their coordinates."""
        size = plan.size(statistic)
        if size > DENSE_MOST:
            raise ParameterError(
                f"Noise on empty cells is made for up to {DENSE_MOST:,} cells of a statistic; one has {size:,}. "
                "Coarsen it, or leave zeros as they are.",
                parameter="perturb_zeros",
            )
        key = hashlib.blake2b(self.release.encode(), digest_size=32).digest()
        value = self.mechanism.publish_empty(coordinate_words(plan, statistic, key))
        value[occupied.index] = occupied.value
        shown = np.flatnonzero(value)
        return Values(shown, value[shown])


def _split(
    statistics: Sequence[Statistic], index: NDArray[np.int64], value: NDArray[np.int64], ends: NDArray[np.int64]
) -> dict[Statistic, Values]:
    """Return the cells of several statistics that stand one after the other, each for itself."""
    pairs = pairwise(ends.tolist())
    return {
        statistic: Values(index[first:last], value[first:last])
        for statistic, (first, last) in zip(statistics, pairs, strict=True)
    }
