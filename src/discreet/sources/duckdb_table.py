"""Data in a table or view of a DuckDB database, which is opened for reading only.

Errors are described in our words, because DuckDB's own may show values of records.
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
from discreet.sources.read_errors import changed, check_asked, no_records, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from discreet.sources.database_address import DuckDBName

MAGIC = b"DUCK"
AT = 8
"""Where in a database the four letters stand."""

WRITE_AGAIN = "Export it from the program that made it, or give a Parquet file."
OPENING = (
    ("Out of Memory", "needs more memory than there is.", "Free some memory."),
    ("lock on file", "is in use by another program that may change it.", "Close it there, and start again."),
    ("different configuration", "is open in this process already.", "Close that connection first."),
    ("version number", "was written by a version of DuckDB that this one cannot read.", "Install a newer DuckDB."),
    ("ncrypted", "is encrypted.", "Give a copy that is not, or a Parquet file."),
)
"""Words of DuckDB's message on opening, and what they mean."""
READING = {
    "PermissionException": ("reads other files, and a database may only be read by itself.", "Make a table of it."),
    "OutOfMemoryException": ("needs more memory than there is.", "Make a table of it, or free some memory."),
    "IOException": ("cannot be read: the database is damaged.", WRITE_AGAIN),
}
"""DuckDB's errors on reading, and what they mean."""
BROKEN = ("cannot be read: the query behind it fails, or the database is damaged.", "Try it in DuckDB.")


def not_duckdb(path: Path) -> DataFileError:
    """Build the error for a file that is no DuckDB database."""
    return DataFileError.at(path, "is no DuckDB database.", "Give one, or a Parquet or CSV file.")


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn what DuckDB says when it opens a file into what we say."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        what, todo = "is damaged, or no DuckDB database that can be read.", WRITE_AGAIN
        for words, meaning, way in OPENING:
            if words in str(error):
                what, todo = meaning, way
        raise DataFileError.at(path, what, todo) from None


@contextmanager
def reading(path: Path, name: str) -> Iterator[None]:
    """Turn what DuckDB says of a table or view into what we say."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        what, todo = READING.get(type(error).__name__, BROKEN)
        raise DataFileError(f"{name} {what} {todo}", path=path) from None
    except RuntimeError as error:
        # So DuckDB calls a signal that reaches it in the main thread.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


ROWS = 100_000
"""Rows of a batch, about."""
MEMORY = "1GB"
"""What a table may take: it is read from start to end, and what was read need not be kept."""
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    # A view made by somebody else reads no other files, and nothing is fetched or written.
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
}


@dataclass(frozen=True, eq=False)
class DuckDBSource:
    """A table or view of a DuckDB database; every reading has a cursor of its own, so that threads do not meet."""

    name: str
    path: Path
    table: DatabaseTable
    columns: tuple[str, ...]
    rows: int
    stamps: tuple[FileStamp, FileStamp | None]
    connection: DuckDBPyConnection = field(repr=False)

    def __post_init__(self) -> None:
        # While it is open no other program can write to the file.
        weakref.finalize(self, self.connection.close)

    @property
    def size(self) -> int:
        """Return the bytes of the whole database on disk."""
        return sum(stamp.size for stamp in self.stamps if stamp)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return an iterator over the records: these columns in this order, none of it empty."""
        check_asked(self.name, columns, self.columns)
        return self._read(list(columns))

    def fingerprint(self) -> str:
        """Return the hash of the records whatever their order.

        A record is the text of its values, each after its length, so that no two records have one text. The number of
        records and the sum of half the MD5 hash of each do not depend on the order, but on every record and its
        copies: others have the same by chance with probability 2^-64. (DuckDB's own hash may change with its version.)
        """
        values = ", ".join(map(_with_length, self.columns))
        records = self.table.select(f"concat({values}) AS record")
        sql = f"SELECT count(*), sum(md5_number_lower(record)) FROM ({records})"  # noqa: S608 - names are quoted
        with reading(self.path, self.name), _cursor(self.connection) as cursor:
            found = _ask(cursor, sql)[0]
        content = json.dumps([self.columns, *map(str, found)])
        return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"

    def check_unchanged(self) -> None:
        """Refuse a database that is not what it was when it was opened."""
        if _stamps(self.path) != self.stamps:
            raise changed(self.path)

    def close(self) -> None:
        """Let other programs write to the database again."""
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
    """Open a database that no other program is changing, and find the table and its columns."""
    path = given.path
    # The stamps come first: what changes from here on is noticed.
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
            _settle(connection, table)
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
    """Return what the system knows of a database and of the file beside it with its last changes, if there is one."""
    changes = path.with_name(f"{path.name}.wal")
    return FileStamp.of(path), FileStamp.of(changes) if changes.exists() else None


def _check_magic(path: Path) -> None:
    """Refuse other files, for which DuckDB would look for an extension."""
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


def _settle(connection: DuckDBPyConnection, table: DatabaseTable) -> None:
    """Give a table little memory, and a view one thread: with more, two readings could differ in their order."""
    connection.execute("SET threads = 1" if table.is_view else f"SET memory_limit = '{MEMORY}'")


def _columns(connection: DuckDBPyConnection, table: DatabaseTable) -> tuple[str, ...]:
    """Return the columns, which differ also for those who do not tell upper from lower case."""
    return tuple(row[0] for row in _ask(connection, f"DESCRIBE {table.quoted}"))


def _with_length(column: str) -> str:
    """Return the SQL of a value as text after its length, and of a missing one as a dash."""
    text = f"CAST({quote(column)} AS VARCHAR)"
    # CONCAT leaves a missing value out, and so it cannot tell it by itself.
    return f"CASE WHEN {text} IS NULL THEN '-' ELSE concat(strlen({text}), ':', {text}) END"


@contextmanager
def _cursor(connection: DuckDBPyConnection) -> Iterator[DuckDBPyConnection]:
    with connection.cursor() as cursor:
        # Times are the same on every machine.
        cursor.execute("SET TimeZone = 'UTC'")
        yield cursor


def _ask(connection: DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    return connection.execute(sql).fetchall()


def _stream(cursor: DuckDBPyConnection, sql: str) -> pa.RecordBatchReader:
    relation = cursor.sql(sql)
    # DuckDB 1.4 has the same under another name, from which later versions warn off.
    stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return stream(ROWS)
