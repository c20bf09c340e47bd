"""Data in a table or view of a DuckDB database, which is opened read-only.

Messages of DuckDB are replaced, because they may contain values of records.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.engines.duckdb import signals_deferred
from discreet.errors import DataFileError
from discreet.sources.column_values import without_views
from discreet.sources.data_files import FileStamp
from discreet.sources.database_address import DatabaseTable, choose_table, quote
from discreet.sources.read_errors import changed, check_requested, no_records, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from discreet.sources.database_address import DuckDBName

MAGIC = b"DUCK"
AT = 8
"""Position of the magic bytes in a database file."""

EXPORT_AGAIN = "Export it again from its original program, or use a Parquet file."
OPENING = (
    ("Out of Memory", "needs more memory than is available.", "Free some memory."),
    ("lock on file", "is in use by another program that may change it.", "Close it there, and repeat the command."),
    ("different configuration", "is open in this process already.", "Close that connection first."),
    ("version number", "was written by a version of DuckDB that this one cannot read.", "Install a newer DuckDB."),
    ("ncrypted", "is encrypted.", "Use a copy that is not encrypted, or a Parquet file."),
)
"""Parts of DuckDB's messages on opening, and their meanings and remedies."""
READING = {
    "PermissionException": ("is a view that reads other files, which is not allowed.", "Create a table from it."),
    "OutOfMemoryException": ("needs more memory than is available.", "Create a table from it, or free some memory."),
    "IOException": ("cannot be read: the database is damaged.", EXPORT_AGAIN),
}
"""Classes of DuckDB's errors on reading, and their meanings and remedies."""
BROKEN = ("cannot be read: the query of the view fails, or the database is damaged.", "Test it in DuckDB.")


def not_duckdb(path: Path) -> DataFileError:
    """Build the error for a file that is not a DuckDB database."""
    return DataFileError.at(path, "is not a DuckDB database.", "Specify a DuckDB database, or a Parquet or CSV file.")


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Convert errors of DuckDB on opening a file to errors without values."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        what, todo = "is damaged, or not a readable DuckDB database.", EXPORT_AGAIN
        for words, meaning, way in OPENING:
            if words in str(error):
                what, todo = meaning, way
        raise DataFileError.at(path, what, todo) from None


@contextmanager
def reading(path: Path, name: str) -> Iterator[None]:
    """Convert errors of DuckDB on reading a table or view to errors without values."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        what, todo = READING.get(type(error).__name__, BROKEN)
        raise DataFileError(f"{name} {what} {todo}", path=path) from None
    except RuntimeError as error:
        # DuckDB raises this error for a signal in the main thread.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


ROWS = 100_000
"""Approximate number of rows of a batch."""
MEMORY = "1GB"
"""Memory limit for reading a table, which is read sequentially and not cached."""
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    # Views are untrusted: do not let them read other files, and download or write nothing.
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
}


@dataclass(frozen=True, eq=False)
class DuckDBSource:
    """A table or view of a DuckDB database; every read has its own cursor, so that it is safe to use from threads."""

    name: str
    path: Path
    table: DatabaseTable
    columns: tuple[str, ...]
    rows: int
    stamps: tuple[FileStamp, FileStamp | None]
    connection: DuckDBPyConnection = field(repr=False)

    def __post_init__(self) -> None:
        # While the connection is open, no other program can write to the file.
        weakref.finalize(self, self.connection.close)

    @property
    def size(self) -> int:
        """Return the size of the whole database on disk in bytes."""
        return sum(stamp.size for stamp in self.stamps if stamp)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return an iterator over batches of records with these columns in this order; no batch is empty."""
        check_requested(self.name, columns, self.columns)
        return self._read(list(columns))

    def fingerprint(self) -> str:
        """Return a hash of the records that does not depend on their order.

        Each record is encoded as the text of its values, each preceded by its length, so that different records have
        different texts. The number of records and the sum of half the MD5 hash of each do not depend on the order, but
        on every record and its duplicates. Other data have the same hash by chance with probability 2^-64. (DuckDB's
        own hash may change between versions.)
        """
        values = ", ".join(map(_with_length, self.columns))
        records = self.table.select(f"concat({values}) AS record")
        sql = f"SELECT count(*), sum(md5_number_lower(record)) FROM ({records})"  # noqa: S608 - names are quoted
        with reading(self.path, self.name), _cursor(self.connection) as cursor:
            found = _ask(cursor, sql)[0]
        content = json.dumps([self.columns, *map(str, found)])
        return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"

    def check_unchanged(self) -> None:
        """Refuse a database that has changed since it was opened."""
        if _stamps(self.path) != self.stamps:
            raise changed(self.path)

    def close(self) -> None:
        """Close the connection, so that other programs can write to the database again."""
        self.connection.close()

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        # A batch without columns has no records; one column is enough to count them.
        read = list(dict.fromkeys(columns)) or [self.columns[0]]
        sql = self.table.select(", ".join(map(quote, read)))
        with reading(self.path, self.name), _cursor(self.connection) as cursor:
            for batch in _stream(cursor, sql):
                if batch.num_rows:
                    yield without_views(batch).select(columns)


def open_duckdb(given: DuckDBName) -> DuckDBSource:
    """Open a database that no other program may change, and find the table and its columns."""
    path = given.path
    # Take the stamps first, so that later changes are detected.
    stamps = _stamps(path)
    _check_magic(path)
    with signals_deferred():
        import duckdb
    with opening(path):
        connection = duckdb.connect(str(path), read_only=True, config=SETTINGS)
    try:
        table = choose_table(given.table, _tables(connection, path), path.name, path)
        name = f"{table} in {path.name}"
        with reading(path, name):
            _limit_resources(connection, table)
            columns = _columns(connection, table)
            rows = _ask(connection, table.select("count(*)"))[0][0]
    except BaseException:
        connection.close()
        raise
    source = DuckDBSource(name, path, table, columns, rows, stamps, connection)
    if not rows:
        raise no_records(path, name, "table")
    return source


def _stamps(path: Path) -> tuple[FileStamp, FileStamp | None]:
    """Return the stamps of a database and of its write-ahead log, if there is one."""
    changes = path.with_name(f"{path.name}.wal")
    return FileStamp.of(path), FileStamp.of(changes) if changes.exists() else None


def _check_magic(path: Path) -> None:
    """Refuse other files, for which DuckDB would search for an extension."""
    try:
        with path.open("rb") as file:
            head = file.read(AT + len(MAGIC))
    except OSError as error:
        raise unreadable(path, error) from error
    if not head.endswith(MAGIC):
        raise not_duckdb(path)


def _tables(connection: DuckDBPyConnection, path: Path) -> list[DatabaseTable]:
    sql = """
        SELECT schema_name, table_name, false FROM duckdb_tables()
        WHERE NOT internal AND database_name = current_database()
        UNION ALL SELECT schema_name, view_name, true FROM duckdb_views()
        WHERE NOT internal AND database_name = current_database()
    """
    with reading(path, path.name):
        found = _ask(connection, sql)
    return [DatabaseTable(schema, name, is_view, schema == "main") for schema, name, is_view in found]


def _limit_resources(connection: DuckDBPyConnection, table: DatabaseTable) -> None:
    """Limit the memory for a table, and use one thread for a view, so that every read has the same order."""
    connection.execute("SET threads = 1" if table.is_view else f"SET memory_limit = '{MEMORY}'")


def _columns(connection: DuckDBPyConnection, table: DatabaseTable) -> tuple[str, ...]:
    """Return the columns, whose names differ by more than case."""
    return tuple(row[0] for row in _ask(connection, f"DESCRIBE {table.quoted}"))


def _with_length(column: str) -> str:
    """Return the SQL for the length and text of a value, or a dash for a missing value."""
    text = f"CAST({quote(column)} AS VARCHAR)"
    # CONCAT ignores missing values, so they need an explicit case.
    return f"CASE WHEN {text} IS NULL THEN '-' ELSE concat(strlen({text}), ':', {text}) END"


@contextmanager
def _cursor(connection: DuckDBPyConnection) -> Iterator[DuckDBPyConnection]:
    with connection.cursor() as cursor:
        # Make the text of times independent of the machine.
        cursor.execute("SET TimeZone = 'UTC'")
        yield cursor


def _ask(connection: DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    return connection.execute(sql).fetchall()


def _stream(cursor: DuckDBPyConnection, sql: str) -> pa.RecordBatchReader:
    relation = cursor.sql(sql)
    # DuckDB 1.4 has this method under another name, which is deprecated in later versions.
    stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return stream(ROWS)
