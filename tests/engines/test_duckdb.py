"""DuckDB as an engine: tables in and out, several threads, a private folder, and no value in any message."""

from __future__ import annotations

import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.engines.duckdb import DuckDB
from discreet.errors import EngineError, ParameterError
from tests.each import each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CANARY = "canary-0815"


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(threads=2) as found:
        yield found


def batch(**columns: list[Any]) -> pa.RecordBatch:
    return pa.record_batch(columns)


def rows(engine: DuckDB, sql: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in engine.table(sql).to_pylist())


# --- Tables ---


def test_batches_of_one_name_make_one_table(engine: DuckDB) -> None:
    engine.drop("people")
    engine.append("people", batch(a=[1, 2], k=[10, 20]))
    engine.append("people", batch(a=[1], k=[5]))
    engine.append("others", batch(a=[7]))
    assert rows(engine, "SELECT a, COUNT(*), SUM(k) FROM people GROUP BY a") == [(1, 2, 15), (2, 1, 20)]
    assert isinstance(engine.table("SELECT a FROM people"), pa.Table)
    engine.drop("people")
    assert rows(engine, "SELECT a FROM others") == [(7,)]
    # A table of the same name is created again, with other columns.
    engine.append("people", batch(b=["x"]))
    assert rows(engine, "SELECT * FROM people") == [("x",)]
    engine.drop("people")
    engine.drop("people")
    engine.drop("others")


@each("kind", [np.uint8, np.uint16, np.uint32, np.int64, np.uint64])
def test_numbers_come_back_as_they_went_in(engine: DuckDB, kind: type[np.integer]) -> None:
    largest = np.iinfo(kind).max
    engine.drop("numbers")
    engine.append("numbers", pa.record_batch({"n": np.array([0, largest], dtype=kind)}))
    assert rows(engine, "SELECT n FROM numbers") == [(0,), (int(largest),)]


def test_a_table_without_rows_is_a_table(engine: DuckDB) -> None:
    engine.drop("nobody")
    engine.append("nobody", pa.record_batch({"a": pa.array([], pa.int64())}))
    assert engine.table("SELECT * FROM nobody").schema == pa.schema({"a": pa.int64()})
    assert rows(engine, "SELECT COUNT(*) FROM nobody") == [(0,)]


def test_two_engines_know_nothing_of_each_other(engine: DuckDB) -> None:
    engine.drop("mine")
    engine.append("mine", batch(a=[1]))
    with DuckDB(threads=1) as other, pytest.raises(EngineError, match="CatalogException"):
        other.table("SELECT * FROM mine")


# --- Several threads ---


def test_queries_of_two_threads_run_side_by_side(engine: DuckDB) -> None:
    engine.drop("numbers")
    engine.append("numbers", pa.record_batch({"n": np.arange(100_000)}))
    together = Barrier(2, timeout=60)

    def ask(modulus: int) -> list[tuple[Any, ...]]:
        together.wait()
        return rows(engine, f"SELECT n % {modulus}, COUNT(*) FROM numbers GROUP BY 1")  # noqa: S608 - a number of ours

    with ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            some, others = pool.map(ask, (4, 5))
            assert some == [(rest, 25_000) for rest in range(4)]
            assert others == [(rest, 20_000) for rest in range(5)]


def test_one_thread_asks_while_another_fills_and_drops(engine: DuckDB) -> None:
    engine.drop("numbers")
    engine.append("numbers", pa.record_batch({"n": np.arange(50_000)}))

    def ask() -> set[int]:
        return {rows(engine, "SELECT SUM(n % 7) FROM numbers")[0][0] for _ in range(30)}

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        for number in range(30):
            engine.drop("finer")
            engine.append("finer", batch(i=[number, number + 1]))
            assert rows(engine, "SELECT MIN(i) FROM finer") == [(number,)]
        assert asking.result(60) == {int((np.arange(50_000) % 7).sum())}


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_are_as_many_as_asked_for(threads: int) -> None:
    with DuckDB(threads=threads) as engine:
        assert rows(engine, "SELECT current_setting('threads')") == [(threads,)]


# --- The folder for what does not fit ---


def test_what_does_not_fit_goes_to_a_private_folder_that_is_removed(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    with DuckDB(threads=1, memory="20MB", spill=tmp_path) as engine:
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for _ in range(4):
            engine.append("much", pa.record_batch({"n": random.integers(0, 2**62, 1_000_000)}))
        assert sum(file.stat().st_size for file in folder.rglob("*")) > 5_000_000
        assert rows(engine, "SELECT COUNT(*) FROM much") == [(4_000_000,)]
        # No files are written outside the folder either.
        assert list(tmp_path.iterdir()) == [folder]
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_removed_after_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(EngineError), DuckDB(threads=1, spill=tmp_path) as engine:
        engine.table("SELECT * FROM nowhere")
    assert list(tmp_path.iterdir()) == []


def test_by_default_the_folder_is_made_among_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with DuckDB(threads=1):
        (folder,) = tmp_path.iterdir()
        assert folder.name.startswith("discreet-")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_closed_engine_answers_no_more_and_may_be_closed_again(tmp_path: Path) -> None:
    engine = DuckDB(threads=1, spill=tmp_path)
    engine.append("people", batch(a=[1]))
    engine.close()
    engine.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(EngineError, match=r"The engine stopped at a query: ConnectionException\."):
        engine.table("SELECT * FROM people")


@pytest.mark.slow
def test_a_query_of_another_thread_is_waited_for(tmp_path: Path) -> None:
    engine = DuckDB(threads=1, spill=tmp_path)
    engine.append("people", batch(a=list(range(20_000))))
    with ThreadPoolExecutor(max_workers=1) as pool:
        asked = pool.submit(engine.table, "SELECT COUNT(*) AS n FROM people x, people y WHERE x.a * y.a % 7 = 1")
        time.sleep(0.2)
        assert not asked.done()
        engine.close()
        # Not `done()`: the pool notes the end a moment after the engine does.
        assert asked.result(timeout=60).num_rows == 1
    assert list(tmp_path.iterdir()) == []


# --- What is refused ---


@each("memory", ["much", "12", "", "-1GB", "1 e 9 B", "2GB; DROP TABLE x"])
def test_a_limit_of_memory_that_is_no_size_is_refused(memory: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="memory must be a size such as 500MB or 2GB"):
        DuckDB(memory=memory, spill=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wrong_settings_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="The engine stopped at its settings: ") as caught:
        DuckDB(threads=-1, spill=tmp_path)
    assert caught.value.step == "its settings"
    assert (caught.value.__cause__, caught.value.__suppress_context__) == (None, True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"stopped at creating its folder .*nowhere does not exist"):
        DuckDB(spill=tmp_path / "nowhere")


@each(
    ("act", "step", "kind"),
    [
        (lambda engine: engine.append("known", batch(a=[CANARY])), "loading records", "ConversionException"),
        (lambda engine: engine.append("known", batch(a=[1], b=[CANARY])), "loading records", "BinderException"),
        (lambda engine: engine.table(f"SELECT CAST('{CANARY}' AS INTEGER)"), "a query", "ConversionException"),
        (lambda engine: engine.table("SELECT CAST(t AS INTEGER) FROM texts"), "a query", "ConversionException"),
        (lambda engine: engine.table("SELECT error(t) FROM texts"), "a query", "InvalidInputException"),
        (lambda engine: engine.table(f'SELECT "{CANARY}" FROM texts'), "a query", "BinderException"),  # noqa: S608
        (lambda engine: engine.drop(f"'{CANARY}' nonsense"), "dropping a table", "ParserException"),
    ],
)
def test_errors_name_the_step_and_show_no_value(
    engine: DuckDB, act: Callable[[DuckDB], object], step: str, kind: str
) -> None:
    for name in ("known", "texts"):
        engine.drop(name)
    engine.append("known", batch(a=[1]))
    engine.append("texts", batch(t=[CANARY]))
    with pytest.raises(EngineError) as caught:
        act(engine)
    assert str(caught.value) == f"The engine stopped at {step}: {kind}."
    assert caught.value.step == step
    # Python prints no error besides the one of the engine.
    assert (caught.value.__cause__, caught.value.__suppress_context__) == (None, True)
    # And the engine goes on.
    assert rows(engine, "SELECT * FROM known") == [(1,)]


def test_running_out_of_memory_says_what_to_do() -> None:
    with DuckDB(threads=1, memory="20MB") as engine, pytest.raises(EngineError) as caught:
        engine.table("SELECT LIST(range) FROM range(50000000)")
    assert caught.value.step == "a query"
    text = str(caught.value)
    assert text.startswith("The engine stopped at a query: it ran out of memory. ")
    assert "--memory" in text
    assert "--tables" in text


@pytest.mark.parametrize("megabytes", [500, 1500])
def test_a_limit_on_addresses_that_libraries_cannot_live_with_is_refused(megabytes: int) -> None:
    script = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20, resource.RLIM_INFINITY))
from discreet.engines.duckdb import DuckDB
from discreet.errors import EngineError
try:
    DuckDB()
except EngineError as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"the address space limit (ulimit -v) is {megabytes:,} MB" in ended.stdout
