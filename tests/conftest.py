"""How tests run here: one engine for all, and the same examples every time, however slow the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from discreet.engines.duckdb import DuckDB

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def engine() -> Iterator[DuckDB]:
    """Give one engine to all tests and examples: to start one takes longer than to count a few records."""
    with DuckDB(threads=2) as found:
        yield found
