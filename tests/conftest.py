"""How tests run here: one engine for all, and the same examples every time, however slow the machine."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from contextlib import nullcontext
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

import pytest
from hypothesis import is_hypothesis_test, settings

from discreet.engines import duckdb as duckdb_engine
from discreet.engines.duckdb import DuckDB
from discreet.protection import pipeline
from tests.postgres_server import start_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from tests.postgres_server import PostgresServer

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=15)
MEMORY = "/dev/shm"  # noqa: S108 - pytest makes a folder of its own there
ENOUGH = 4 * 2**30


def pytest_configure(config: pytest.Config) -> None:
    _write_to_memory()
    # What is collected stays: to look for garbage in it again and again takes a tenth of the time.
    gc.disable()
    settings.load_profile("repeatable" if _slow(config) else "quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Try few examples in every run, and all of them beside the slow tests."""
    for item in items if _slow(config) else []:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Leave the many collected tests out of every search for garbage: they stay until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def pytest_sessionfinish() -> None:
    """Let what was collected go, or libraries would report at exit that it was never freed."""
    gc.unfreeze()


def _write_to_memory() -> None:
    """Put temporary files, of which tests write tens of thousands, into memory where there is enough of it."""
    if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
        # Processes that tests start find it there; this one has to look again.
        os.environ["TMPDIR"] = MEMORY
        tempfile.tempdir = None


def _slow(config: pytest.Config) -> bool:
    return bool(config.getoption("markexpr") == "slow")


@pytest.fixture(scope="session", autouse=True)
def _quick_disk() -> Iterator[None]:
    """Let no test wait for the disk; tests of syncing record the calls (`tests/release/crashes.py`)."""
    with pytest.MonkeyPatch.context() as patch:
        # A descriptor that is not open is still an error.
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(scope="session", autouse=True)
def many_rounds() -> Iterator[int]:
    """Take few of the rounds that make it slow to try data against a record; give how many there are."""
    many = pipeline.HASH_ITERATIONS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "HASH_ITERATIONS", 2)
        yield many


@pytest.fixture(scope="session")
def shared_engine() -> Iterator[DuckDB]:
    """Give one engine to all tests and examples: to start one takes longer than to count a few records."""
    with DuckDB(threads=2) as found:
        yield found


@pytest.fixture(scope="session")
def engine(shared_engine: DuckDB) -> DuckDB:
    """Give the engine of all tests under the name that tests of engines have for their own."""
    return shared_engine


@pytest.fixture(scope="session", autouse=True)
def _one_engine(shared_engine: DuckDB) -> Iterator[None]:
    """Give the same engine to whoever asks for one without limits, as commands do."""

    def started(*, threads: int | None = None, memory: str | None = None) -> AbstractContextManager[DuckDB]:
        # Runs side by side would get into each other's way.
        alone = current_thread() is main_thread()
        return (
            nullcontext(shared_engine)
            if alone and not threads and not memory
            else DuckDB(threads=threads, memory=memory)
        )

    with pytest.MonkeyPatch.context() as patch:
        # Commands import the engine when they run.
        for place in (pipeline, duckdb_engine):
            patch.setattr(place, "DuckDB", started)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Give one PostgreSQL server, which takes two seconds to start, to all tests of a process."""
    with start_postgres() as found:
        yield found
