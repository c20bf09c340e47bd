"""The protocol of an engine: load records, run SQL text, return Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Engine(Protocol):
    """A database that runs SQL. All queries are plain SQL that both DuckDB and Spark support."""

    def append(self, name: str, batch: pa.RecordBatch) -> None:
        """Add records to a table of this name; the first batch creates it."""

    def table(self, sql: str) -> pa.Table:
        """Return the result of a query."""

    def drop(self, name: str) -> None:
        """Drop a table if it exists."""

    def close(self) -> None:
        """Drop all tables and remove spilled files."""
