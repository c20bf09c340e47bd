"""DuckDB as an engine; signals wait until it has finished a step.

Signals that wait: some steps must not be cut short.

DuckDB in this process: in memory, spilling to a private folder that is removed at the end.
"""

from __future__ import annotations

import os
import re
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from discreet.engines.spill_folder import SpillFolder
from discreet.errors import EngineError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

    import pyarrow as pa

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Let Ctrl-C and the like wait for the end of a step, such as loading a library that would abort the process.

    Python calls handlers in the main thread alone, so in other threads nothing disturbs anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = {}
    for number in [getattr(signal, name) for name in ENDING if hasattr(signal, name)]:
        # A signal that is ignored, or that ends the process as it should, is left as it is.
        if callable(signal.getsignal(number)):
            before[number] = signal.signal(number, lambda got, _frame: waiting.append(got))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting[:1]:
            signal.raise_signal(number)


SIZE = re.compile(r"[1-9][0-9]{0,5}(\.[0-9]+)? ?[KMGT]i?B", re.IGNORECASE)
"""How a limit of memory is written."""
SPACE = 3 << 30
SPACE_OF_THREAD = 128 << 20
"""Addresses that libraries take, and those of one more core; a tenth of it is memory in use."""


class DuckDB:
    """One database in memory; queries may run in several threads, each on a cursor of its own.

    Args:
        threads: how many threads, all cores by default.
        memory: the most memory, as in `2GB`; DuckDB's own default (80 %) if left out.
        spill: a folder in which to make the private one; the system's for temporary files by default.
    """

    def __init__(self, *, threads: int | None = None, memory: str | None = None, spill: Path | None = None) -> None:
        if memory is not None and not SIZE.fullmatch(memory):
            raise ParameterError.outside("engine", "memory", memory, "a size such as 500MB or 2GB")
        _check_address_space()
        with signals_deferred():
            import duckdb

        # Records that do not fit into memory are written here: nobody else may read them (mode 0700).
        self._spill = SpillFolder(spill)
        settings: dict[str, str | bool | int | float | list[str]] = {}
        settings |= {"threads": threads} if threads else {}
        settings |= {"memory_limit": memory} if memory else {}
        fixed: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": self._spill.name,
            # Nothing is fetched from elsewhere at run time, and no table keeps the order of its records.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": False,
        }
        try:
            self._connection = duckdb.connect(config=settings | fixed)
        except duckdb.Error as error:
            self._spill.cleanup()
            raise EngineError.refused("its settings", error) from None
        self._made: set[str] = set()
        self._calls = 0
        self._ended = threading.Condition()

    def append(self, name: str, batch: pa.RecordBatch) -> None:
        """Add records to a table of this name, which the first batch makes."""
        import pyarrow as pa

        with self._call("taking records in"):
            self._connection.register("arriving", pa.Table.from_batches([batch]))
            verb = f"INSERT INTO {name}" if name in self._made else f"CREATE TABLE {name} AS"
            self._connection.execute(f"{verb} SELECT * FROM arriving")  # noqa: S608 - names are ours
            self._connection.unregister("arriving")
        self._made.add(name)

    def table(self, sql: str) -> pa.Table:
        """Return what a query gives, on a cursor of its own so that threads do not meet."""
        with self._call("a query"), self._connection.cursor() as cursor:
            return cursor.sql(sql).to_arrow_table()

    def drop(self, name: str) -> None:
        """Forget a table, if it is there."""
        with self._call("dropping a table"):
            self._connection.execute(f"DROP TABLE IF EXISTS {name}")
        self._made.discard(name)

    @contextmanager
    def _call(self, step: str) -> Iterator[None]:
        with self._ended:
            self._calls += 1
        try:
            with _named_errors(step):
                yield
        finally:
            with self._ended:
                self._calls -= 1
                self._ended.notify_all()

    def close(self) -> None:
        """Forget everything and remove what was spilled to disk, as soon as no other thread is in a query."""
        with self._ended:
            # An interrupt can get here before the thread that counts; the engine would refuse to close.
            self._ended.wait_for(lambda: not self._calls)
        self._connection.close()
        self._spill.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _check_address_space() -> None:
    """Refuse a limit (ulimit -v) within which libraries cannot start their threads: they end in segmentation faults."""
    try:
        import resource
    except ImportError:
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    least = SPACE + SPACE_OF_THREAD * (os.cpu_count() or 1)
    if limit != resource.RLIM_INFINITY and limit < least:
        what = f"there is not enough memory: the limit of the process (ulimit -v) is {limit >> 20:,} MB"
        raise EngineError(f"The engine did not start: {what}. Allow at least {least >> 20:,} MB.", step="its start")


@contextmanager
def _named_errors(step: str) -> Iterator[None]:
    """Turn an error of the engine into ours: its own text may show values of records."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise EngineError.refused(step, error) from None
    except RuntimeError as error:
        # So the engine calls a signal that reaches it in the main thread.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise
