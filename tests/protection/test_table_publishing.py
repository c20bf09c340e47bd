"""Making the tables: every one is put on the shelf, errors of either side end the run, and nothing piles up."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from discreet.errors import EngineError, FileWriteError, ParameterError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.protection import table_publishing
from discreet.protection.pipeline import protect
from discreet.protection.record_loading import load
from discreet.protection.table_publishing import WRITING_AHEAD, TablePublisher
from discreet.records.record_columns import RecordColumns
from discreet.sources.source import open_source
from discreet.tabulation import cell_batch
from discreet.tabulation.distinct_cells import programme_size
from discreet.tabulation.table_rows import rows
from tests.protection.town import SECRET, SEX, TOWN, cells, participants, people
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from discreet.engines.duckdb import DuckDB
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism, NoiseBatch
    from discreet.programme.lattice import Statistic
    from discreet.programme.model import Programme
    from discreet.release.record import Record
    from discreet.release.release import Release, RunSummary
    from discreet.tabulation.plan import Plan, TablePlan
    from discreet.tabulation.table_rows import StatisticValues

ZEROS = PTable.max_entropy(variance=2, bound=5, perturb_zeros=True)
MIXED = CellKey(PTable.max_entropy(variance=2, bound=5), secret=SECRET)


@dataclass
class Kept:
    """A shelf that keeps what it is given, and may fail at one table."""

    fails_at: str = ""
    published: dict[str, pa.Table] = field(default_factory=dict)
    exact: dict[str, pa.Table | None] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def begin(self, run: str, secret: bytes | None = None) -> frozenset[str]:
        raise AssertionError(run, secret)

    def written(self, name: str) -> pa.Table | None:
        return self.published.get(name)

    @property
    def contents(self) -> dict[str, str]:
        return self.digests

    def put(self, name: str, published: pa.Table, exact: pa.Table | None, content: str = "") -> None:
        self.digests[name] = content
        if name == self.fails_at:
            raise FileWriteError("the disk is full", path=None)  # type: ignore[arg-type]  # no path is needed here
        self.published[name], self.exact[name] = published, exact

    def finish(self, record: Record, summary: RunSummary, programme: Programme) -> Release:
        raise AssertionError((record, summary, programme))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


Told = list[tuple[str, int, int | None]]


def ready(
    engine: Engine,
    spec: Programme = TOWN,
    mechanism: Mechanism = MIXED,
    *,
    keep_exact: bool = False,
    non_negative: bool = False,
    data: pa.Table | None = None,
) -> tuple[TablePublisher, Told]:
    """Return a run over loaded records, and what it tells."""
    told: Told = []
    records, roles = people(150) if data is None else data, RecordColumns(id="ID")
    loaded = load(open_source(records), spec, mechanism, roles, engine, missing="error", progress=lambda *_: None)
    return TablePublisher(
        loaded, engine, mechanism, roles, keep_exact, non_negative, lambda *step: told.append(step)
    ), told


def within(seconds: float, action: Callable[[], object]) -> object:
    """Do something in another thread, and fail if it takes too long."""
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        return pool.submit(action).result(seconds)
    finally:
        pool.shutdown(wait=False)


# --- What is made ---


def test_every_table_is_made_with_its_true_counts_if_they_are_kept(engine: DuckDB) -> None:
    run, told = ready(engine, keep_exact=True)
    shelf = Kept()
    seconds = run.run(shelf)
    assert sorted(shelf.published) == sorted(table.id for table in TOWN.tables)
    records = people(150).to_pylist()
    for table in TOWN.tables[:3]:
        exact = shelf.exact[table.id]
        assert exact is not None
        hand = {cell: len(numbers) for cell, numbers in participants(TOWN, table, records).items() if numbers}
        assert cells(exact) == hand
        noisy = cells(shelf.published[table.id])
        assert set(noisy) <= set(hand)
        assert 0 < max(abs(value - hand[cell]) for cell, value in noisy.items()) <= 5
    assert set(seconds) == {"counting", "noise", "writing"}
    assert all(taken > 0 for taken in seconds.values())
    for stage in ("counting", "noise", "writing"):
        assert [step[1:] for step in told if step[0] == stage] == [(number, 5) for number in range(1, 6)]


def test_statistics_and_cells_are_told(engine: DuckDB) -> None:
    summary = protect(people(150), TOWN, MIXED, id="ID", engine=engine).summary
    assert summary
    # Everyone: GEO, AGE, SEX with two, two and one depths below the total, and AGE by EMP without its total;
    # the smaller population: GEO by SEX, and EMP by SEX, which share SEX and the total.
    assert summary.statistics == (3 * 3 * 2 + 3) + (2 * 2 + 2)
    assert summary.cells == programme_size(TOWN).cells


def test_true_counts_are_not_made_unless_they_are_kept(engine: DuckDB) -> None:
    run, _ = ready(engine)
    shelf = Kept()
    run.run(shelf)
    assert set(shelf.exact.values()) == {None}


@dataclass(frozen=True)
class Counting(CellKey):
    """The cell key method, and how many cells were given to it at a time."""

    given: list[int] = field(default_factory=list)

    def publish(self, batch: NoiseBatch) -> NDArray[np.int64]:
        self.given.append(len(batch.counts))
        return super().publish(batch)


@dataclass(frozen=True)
class CountingFresh(Fresh):
    """Fresh noise, and which cells were given to it for which table."""

    given: list[tuple[str, int]] = field(default_factory=list)

    def publish(self, batch: NoiseBatch) -> NDArray[np.int64]:
        self.given.append((batch.table, len(batch.counts)))
        return super().publish(batch)


SEXES, AGES = topic("SEX", "F M"), topic("AGE", "y o")
SHARED = programme([SEXES, AGES], [by(SEXES), by(AGES)], [by(SEXES)], [by(AGES), by(SEXES)])
FOUR = pa.table({"ID": [1, 2, 3, 4], "SEX": list("FFMM"), "AGE": list("yoyo")})


def test_noise_is_drawn_once_for_every_statistic_and_once_per_table(engine: DuckDB) -> None:
    mechanism = Counting(MIXED.noise, secret=SECRET)
    run, _ = ready(engine, SHARED, mechanism, data=FOUR)
    run.run(Kept())
    # Four cells, two and two margins, the total; the other tables show nothing new.
    assert mechanism.given == [9]


def test_without_the_same_noise_everywhere_every_table_draws_for_all_its_cells(engine: DuckDB) -> None:
    mechanism = CountingFresh(MIXED.noise)
    run, _ = ready(engine, SHARED, mechanism, data=FOUR)
    run.run(Kept())
    assert mechanism.given == [("1", 9), ("2", 3), ("3", 9)]


def test_noise_on_empty_cells_is_drawn_statistic_by_statistic(engine: DuckDB) -> None:
    mechanism = CountingFresh(ZEROS)
    run, _ = ready(engine, SHARED, mechanism, data=FOUR.slice(0, 1))
    run.run(Kept())
    assert mechanism.given == [("1", n) for n in (4, 2, 2, 1)] + [("2", 2), ("2", 1)] + [("3", n) for n in (4, 2, 2, 1)]


def test_what_would_be_negative_is_zero_and_has_no_row(engine: DuckDB) -> None:
    shelves = []
    for non_negative in (False, True):
        law = CellKey(TwoSidedGeometric(epsilon=0.3), secret=SECRET)
        run, _ = ready(engine, mechanism=law, non_negative=non_negative, keep_exact=True)
        shelves.append(Kept())
        run.run(shelves[-1])
    as_drawn, cut = ({name: cells(table) for name, table in shelf.published.items()} for shelf in shelves)
    assert min(value for table in as_drawn.values() for value in table.values()) < 0
    assert cut == {
        name: {cell: value for cell, value in table.items() if value > 0} for name, table in as_drawn.items()
    }
    # True counts are as they were.
    assert shelves[0].exact == shelves[1].exact


def test_what_no_later_table_shows_is_forgotten(engine: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[TablePlan, set[Statistic]]] = []

    def watched(plan: Plan, table: TablePlan, values: Mapping[Statistic, StatisticValues]) -> pa.Table:
        seen.append((table, set(values)))
        return rows(plan, table, values)

    monkeypatch.setattr(table_publishing, "rows", watched)
    # The second is contained in the first, but is no margin of it; the third is shown by no other.
    given = topic("A", {"a0": "", "a1": "", "a00": "a0", "a01": "a0"})
    spec = programme([given, SEX], [by(given, 2, total=False), by(SEX)], [by(given, 1, 1)], [by(SEX)])
    data = pa.table({"ID": [1, 2], "A": ["a00", "a1"], "SEX": ["F", "M"]})
    for keep_exact in (False, True):
        seen.clear()
        run, _ = ready(engine, spec, keep_exact=keep_exact, data=data)
        run.run(Kept())
        tables = [table for table, _ in seen]
        for number, (_, kept) in enumerate(seen):
            needed = {statistic for table in tables[number:] for statistic in table.statistics}
            assert kept <= needed


# --- Noise on empty cells ---


def test_coordinates_depend_on_the_version_and_on_the_population(engine: DuckDB) -> None:
    sexes = topic("SEX", "F M")
    others = [topic(name, " ".join(f"{name}{number}" for number in range(40))) for name in "XY"]
    spec = programme([sexes, *others], [by(one) for one in others], [by(one) for one in others],
                     universes=[None, "SEX = F"])  # fmt: skip
    data = pa.table({"ID": [1], "SEX": ["F"], "X": ["X0"], "Y": ["Y0"]})
    found = []
    for version in ("1", "1", "2"):
        run, _ = ready(engine, spec, CellKey(ZEROS, secret=SECRET, version=version), data=data)
        shelf = Kept()
        run.run(shelf)
        found.append(shelf.published)
    assert found[0] == found[1]
    # 1,600 empty cells: independent noise of variance 2 is the same in about one of five.
    for one, other in ((found[0]["1"], found[2]["1"]), (found[0]["1"], found[0]["2"])):
        first, second = cells(one), cells(other)
        same = sum(first.get((x, y), 0) == second.get((x, y), 0) for x in others[0].levels[0].codes or ()
                   for y in others[1].levels[0].codes or ())  # fmt: skip
        assert 200 < same < 500


def test_noise_on_empty_cells_has_an_end(engine: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_batch, "DENSE_MOST", 5)
    message = (
        "Noise on empty cells is limited to statistics of 5 cells, but table 1 has one of 36. Use coarser categories, "
        "exclude the table, or keep zeros unperturbed."
    )
    with pytest.raises(ParameterError, match=re.escape(message)) as caught:
        protect(people(3), TOWN, CellKey(ZEROS, secret=SECRET), id="ID", engine=engine)
    assert caught.value.parameter == "perturb_zeros"


def test_a_population_of_nobody_has_no_rows(engine: DuckDB) -> None:
    spec = programme([SEX], [by(SEX)], universes=["SEX = F"])
    data = pa.table({"ID": [1, 2], "SEX": ["M", "M"]})
    for mechanism in (MIXED, Exact()):
        assert cells(protect(data, spec, mechanism, id="ID", engine=engine).table("1")) == {}
    noisy = cells(protect(data, spec, CellKey(ZEROS, secret=SECRET), id="ID", engine=engine).table("1"))
    assert set(noisy) <= {("_T",), ("F",), ("M",)}


# --- When something fails ---


@pytest.mark.parametrize("name", ["1", "3", "5"])
def test_an_error_in_writing_ends_the_run(name: str, engine: DuckDB) -> None:
    run, _ = ready(engine)
    shelf = Kept(fails_at=name)
    with pytest.raises(FileWriteError, match="the disk is full"):
        within(60, lambda: run.run(shelf))
    assert name not in shelf.published


def test_an_error_in_counting_ends_the_run(engine: DuckDB) -> None:
    @dataclass
    class Failing:
        """An engine that fails at the second query."""

        asked: int = 0

        def append(self, name: str, batch: pa.RecordBatch) -> None:
            engine.append(name, batch)

        def drop(self, name: str) -> None:
            engine.drop(name)

        def table(self, sql: str) -> pa.Table:
            self.asked += 1
            if self.asked == 2:
                raise EngineError.refused("a query", MemoryError())
            return engine.table(sql)

        def close(self) -> None:
            raise AssertionError

    run, _ = ready(Failing())
    with pytest.raises(EngineError, match="The engine stopped at a query"):
        within(60, lambda: run.run(Kept()))


def test_tables_that_wait_to_be_written_are_few(engine: DuckDB) -> None:
    given = [topic(f"T{number}", "x y") for number in range(8)]
    spec = programme(given, *[[by(one)] for one in given])
    data = pa.table({"ID": [1], **{one.name: ["x"] for one in given}})
    run, told = ready(engine, spec, data=data)
    waiting: list[int] = []

    @dataclass
    class Slow(Kept):
        def put(self, name: str, published: pa.Table, exact: pa.Table | None, content: str = "") -> None:
            time.sleep(0.05)
            done: dict[str, Any] = {stage: number for stage, number, _ in list(told)}
            waiting.append(done["noise"] - len(self.published))
            super().put(name, published, exact, content)

    run.run(Slow())
    # The one that is being written, those that wait, and the one that was just made.
    assert max(waiting) <= WRITING_AHEAD + 1
