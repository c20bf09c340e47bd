"""How tests run here: one engine for all, and the same examples every time, however slow the machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from discreet.engines.duckdb import DuckDB
from tests.postgres_server import start_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres_server import PostgresServer

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def _quick_disk() -> Iterator[None]:
    """Let no test wait for the disk; tests of syncing record the calls (`tests/release/crashes.py`)."""
    with pytest.MonkeyPatch.context() as patch:
        # A descriptor that is not open is still an error.
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(scope="session")
def engine() -> Iterator[DuckDB]:
    """Give one engine to all tests and examples: to start one takes longer than to count a few records."""
    with DuckDB(threads=2) as found:
        yield found


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Give one PostgreSQL server, which takes two seconds to start, to all tests of a process."""
    with start_postgres() as found:
        yield found
