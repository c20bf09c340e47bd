"""What an engine can do: take records in, run SQL text, give Arrow tables out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Engine(Protocol):
    """A place where SQL runs. Plain SQL that DuckDB and Spark both understand is all it is given."""

    def append(self, name: str, batch: pa.RecordBatch) -> None:
        """Add records to a table of this name, which the first batch makes."""

    def table(self, sql: str) -> pa.Table:
        """Return what a query gives."""

    def drop(self, name: str) -> None:
        """Forget a table, if it is there."""

    def close(self) -> None:
        """Forget everything and remove what was spilled to disk."""
