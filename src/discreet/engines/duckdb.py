"""DuckDB as an engine, in memory and in this process.

It spills to a private folder, which is removed at the end. Signals are deferred during steps that must not be
interrupted.
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
    """Defer Ctrl-C and similar signals to the end of a step, such as loading a library that would abort the process.

    Python calls signal handlers only in the main thread, so other threads are not interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = {}
    for number in [getattr(signal, name) for name in ENDING if hasattr(signal, name)]:
        # Signals that are ignored or have the default action keep their handling.
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
"""The format of a memory limit."""
SPACE = 3 << 30
SPACE_OF_THREAD = 128 << 20
"""Address space that libraries reserve, in total and per core; about a tenth of it is memory in use."""


class DuckDB:
    """A database in memory; queries may run in several threads, each on its own cursor.

    Args:
        threads: the number of threads; all cores by default.
        memory: the memory limit, e.g. `2GB`; DuckDB's default (80 %) if None.
        spill: the parent of the private spill folder; the system's folder for temporary files by default.
    """

    def __init__(self, *, threads: int | None = None, memory: str | None = None, spill: Path | None = None) -> None:
        if memory is not None and not SIZE.fullmatch(memory):
            raise ParameterError.outside("engine", "memory", memory, "a size such as 500MB or 2GB")
        _check_address_space()
        with signals_deferred():
            import duckdb

        # Records that do not fit into memory are written here; other users cannot read them (mode 0700).
        self._spill = SpillFolder(spill)
        settings: dict[str, str | bool | int | float | list[str]] = {}
        settings |= {"threads": threads} if threads else {}
        settings |= {"memory_limit": memory} if memory else {}
        fixed: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": self._spill.name,
            # No extensions are downloaded at run time, and tables do not preserve the order of records.
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
        """Add records to a table of this name; the first batch creates it."""
        import pyarrow as pa

        with self._call("loading records"):
            self._connection.register("incoming", pa.Table.from_batches([batch]))
            verb = f"INSERT INTO {name}" if name in self._made else f"CREATE TABLE {name} AS"
            self._connection.execute(f"{verb} SELECT * FROM incoming")  # noqa: S608 - names are ours
            self._connection.unregister("incoming")
        self._made.add(name)

    def table(self, sql: str) -> pa.Table:
        """Return the result of a query, run on its own cursor so that threads do not interfere."""
        with self._call("a query"), self._connection.cursor() as cursor:
            return cursor.sql(sql).to_arrow_table()

    def drop(self, name: str) -> None:
        """Drop a table if it exists."""
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
        """Wait for queries in other threads, then drop all tables and remove spilled files."""
        with self._ended:
            # An interrupt can arrive while another thread runs a query; the engine would refuse to close.
            self._ended.wait_for(lambda: not self._calls)
        self._connection.close()
        self._spill.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _check_address_space() -> None:
    """Raise an error if the address space limit (ulimit -v) is too low: threads would end in segmentation faults."""
    try:
        import resource
    except ImportError:
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    least = SPACE + SPACE_OF_THREAD * (os.cpu_count() or 1)
    if limit != resource.RLIM_INFINITY and limit < least:
        what = f"The engine did not start: the address space limit (ulimit -v) is {limit >> 20:,} MB."
        raise EngineError(f"{what} Set at least {least >> 20:,} MB.", step="its start")


@contextmanager
def _named_errors(step: str) -> Iterator[None]:
    """Replace errors of DuckDB by `EngineError`: their text may contain values of records."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise EngineError.refused(step, error) from None
    except RuntimeError as error:
        # DuckDB reports a signal in the main thread with this message.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise
