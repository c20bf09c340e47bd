"""Data in a table or view of a PostgreSQL database, read by connections that share one snapshot.

Messages of the server are replaced, because they may contain values of records.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import weakref
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DataFileError, InputError
from discreet.sources.database_address import DatabaseTable, choose_table, quote
from discreet.sources.read_errors import check_names, check_requested, no_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from adbc_driver_manager.dbapi import Connection

    from discreet.sources.database_address import PostgresName

PLACE = Path("PostgreSQL")
"""Placeholder for the path of the server in errors about files."""
OLDEST = 13

ANOTHER = "Store the correct password in ~/.pgpass or in the variable PGPASSWORD."
CHECK = "Check the address: postgresql://user@host:port/database#table."
ADMINISTRATOR = "Contact the administrator of the server."
REPEAT = "Repeat the command."
CONNECTING = (
    ("no password supplied", "requires a password.", ANOTHER),
    ("authentication failed", "does not accept user name and password.", ANOTHER),
    ("no pg_hba.conf entry|permission denied", "does not grant access to this user.", ADMINISTRATOR),
    ("starting up", "is still starting.", "Repeat the command in a moment."),
    ("too many", "has no free connection.", "Repeat the command later."),
    ('role ".*" does not exist', "has no such user.", CHECK),
    ('database ".*" does not exist', "has no such database.", CHECK),
)
"""Patterns of a server's messages on connecting, and their meanings and remedies."""
READING = {
    "42501": (
        "cannot be read completely: this user lacks the permission.",
        "Request the permission SELECT, without row-level security.",
    ),
    "42P01": ("does not exist any more.", REPEAT),
    "57014": ("was not read completely: the server's time limit was exceeded.", ADMINISTRATOR),
    "57P01": ("was not read completely: the server was shut down.", REPEAT),
    "53": ("cannot be read: the server has no free memory, disk space or connection.", ADMINISTRATOR),
    "25": ("was not read completely: the server ended the transaction.", REPEAT),
}
"""The server's error codes (SQLSTATE), or their first two characters, and their meanings and remedies."""
LOST = ("was not read completely: the connection to the server was lost.", REPEAT)


def no_driver() -> InputError:
    """Build the error for an installation without the driver."""
    what = "Reading from PostgreSQL needs the package adbc-driver-postgresql."
    return InputError(f"{what} Install it with: pip install 'discreet[postgres]'.")


def too_old(version: int) -> DataFileError:
    """Build the error for a server of an old version."""
    what = f"The PostgreSQL server has version {version}, but version {OLDEST} or later is required."
    return DataFileError(f"{what} Export the table to a CSV file instead.", path=PLACE)


@contextmanager
def connecting() -> Iterator[None]:
    """Convert connection errors to errors without user and host."""
    from adbc_driver_manager import Error

    try:
        yield
    except Error as error:
        raise DataFileError(_why_not_connected(str(error)), path=PLACE) from None


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Convert errors on reading a table to errors without values."""
    import pyarrow as pa
    from adbc_driver_manager import Error

    try:
        yield
    except (Error, pa.ArrowException, OSError) as error:
        raise DataFileError(f"{name} {_why_not_read(error)}", path=PLACE) from None


def _why_not_connected(text: str) -> str:
    # Messages of the server contain FATAL in every language; messages of the client are in English.
    if "FATAL" not in text and "no password supplied" not in text:
        if "invalid" in text:
            return f"The address of the PostgreSQL database is invalid. {CHECK}"
        todo = "Check host, port and sslmode, and that the server runs and accepts connections from this machine."
        return f"The PostgreSQL server cannot be reached. {todo}"
    for words, what, todo in CONNECTING:
        if re.search(words, text):
            return f"The PostgreSQL server {what} {todo}"
    return f"The PostgreSQL server refuses the connection: user name, password or database may be wrong. {CHECK}"


def _why_not_read(error: Exception) -> str:
    state = getattr(error, "sqlstate", None) or ""
    for code in (state, state[:2]):
        if code in READING:
            return " ".join(READING[code])
    # After a fatal error, which contains FATAL in every language, the server ends the connection.
    if any(words in str(error) for words in ("FATAL:", "closed the connection", "no connection to the server")):
        return " ".join(LOST)
    code = f" (SQLSTATE {state})" if state.isalnum() else ""
    return f"cannot be read: the server reported an error{code}. Check its log, or test the table in psql."


SETTINGS = {
    "client_encoding": "UTF8",
    # Make the text of values independent of the settings of the server.
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "lc_monetary": "C",
    # Raise an error if a policy hides records, instead of omitting them from the counts.
    "row_security": "off",
    # The transaction that holds the snapshot is idle while others read.
    "idle_in_transaction_session_timeout": "0",
    # Read the records in the same order every time.
    "synchronize_seqscans": "off",
}
TIMEOUT = 10
"""Default timeout in seconds for connecting to the server."""


def check_driver() -> None:
    """Raise an error if the driver is not installed."""
    try:
        import adbc_driver_postgresql.dbapi  # noqa: F401 - checks whether it can be imported
    except ImportError:
        raise no_driver() from None


def begin(address: str, snapshot: str | None = None) -> Connection:
    """Connect and begin a read-only transaction with a new snapshot, or with an exported one."""
    from adbc_driver_postgresql import dbapi

    with connecting():
        connection: Connection = dbapi.connect(_with_options(address), autocommit=True)
    try:
        run(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if snapshot:
            run(connection, f"SET TRANSACTION SNAPSHOT {text(snapshot)}")
        ask(connection, f"SELECT {', '.join(f'set_config({text(k)}, {text(v)}, true)' for k, v in SETTINGS.items())}")
    except BaseException:
        connection.close()
        raise
    return connection


def run(connection: Connection, sql: str) -> None:
    """Run a command."""
    with connection.cursor() as cursor:
        cursor.execute(sql)


def ask(connection: Connection, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def text(value: str) -> str:
    r"""Return a quoted SQL string, valid for any `standard_conforming_strings`: E marks escaped backslashes.

    >>> text("it's")
    "'it''s'"
    >>> print(text("a\\b"))
    E'a\\b'
    """
    doubled = value.replace("'", "''")
    escaped = doubled.replace("\\", "\\\\")
    return f"'{doubled}'" if doubled == escaped else f"E'{escaped}'"


def _with_options(address: str) -> str:
    """Return the address with the application name, for the server's log, and a timeout for connecting."""
    options = ["application_name=discreet"] if "application_name=" not in address else []
    if "connect_timeout=" not in address and not os.environ.get("PGCONNECT_TIMEOUT"):
        options.append(f"connect_timeout={TIMEOUT}")
    return "&".join([address if "?" in address else f"{address}?", *options]).replace("?&", "?", 1)


ROWS = 100_000
"""Approximate number of rows of a batch."""
BYTES_PER_VALUE = 8
BATCH_SIZE = "adbc.postgresql.batch_size_hint_bytes"
NATIVE_TYPES = frozenset(
    ["bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "date", "time", "timestamp", "timestamptz"]
)
"""Types that the driver maps to Arrow types; all other types are read as text."""


@dataclass(frozen=True, eq=False)
class PostgresSource:
    """A table or view of a PostgreSQL database as it was when it was opened.

    An open transaction holds the snapshot. Every read has its own connection, with a transaction on the same snapshot,
    so that it is safe to use from threads.

    Attributes:
        name: the name for messages.
        table: the table or view.
        kinds: the type of every column.
        rows: the number of records of a view; None for a table, where counting takes as long as reading.
        size: the size on the server's disk in bytes; 0 for a view.
        address: the address of the database.
        snapshot: the server's id of the snapshot.
        holder: the connection that holds the snapshot.
    """

    name: str
    table: DatabaseTable
    kinds: dict[str, str]
    rows: int | None
    size: int
    address: str = field(repr=False)
    snapshot: str = field(repr=False)
    holder: Connection = field(repr=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, self.holder.close)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the column names."""
        return tuple(self.kinds)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return an iterator over batches of records with these columns in this order; no batch is empty."""
        check_requested(self.name, columns, self.columns)
        return self._read(list(columns))

    def fingerprint(self) -> str:
        """Return a hash of the records that does not depend on their order.

        The server counts the records and sums a 64-bit hash of the text of each. The server uses the same hash function
        for hash partitioning, so that it does not change in later versions.
        """
        sums = "count(*), sum(hashtextextended((record.*)::text, 0))"
        with reading(self.name), closing(begin(self.address, self.snapshot)) as connection:
            found = ask(connection, self.table.select(sums) + " AS record")[0]
        content = json.dumps([self.columns, *map(str, found)])
        return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"

    def check_unchanged(self) -> None:
        """Refuse data whose snapshot the server no longer holds; later changes are not visible in the snapshot."""
        with reading(self.name):
            ask(self.holder, "SELECT 1")

    def close(self) -> None:
        """Release the snapshot."""
        self.holder.close()

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        # A batch without columns has no records; one column is enough to count them.
        read = list(dict.fromkeys(columns)) or [self.columns[0]]
        values = ", ".join(f"{_value(column, self.kinds[column])} AS {quote(column)}" for column in read)
        with reading(self.name), closing(begin(self.address, self.snapshot)) as connection:
            # With parallel workers the order of records would differ between reads.
            run(connection, "SET LOCAL max_parallel_workers_per_gather = 0")
            with connection.cursor() as cursor:
                cursor.adbc_statement.set_options(**{BATCH_SIZE: str(ROWS * len(read) * BYTES_PER_VALUE)})
                cursor.execute(self.table.select(values))
                for batch in cursor.fetch_record_batch():
                    if batch.num_rows:
                        yield batch.select(columns)


def open_postgres(given: PostgresName) -> PostgresSource:
    """Connect to a server, take a snapshot, and find the table and its columns."""
    check_driver()
    with reading("The PostgreSQL database"):
        holder = begin(given.address)
    try:
        return _find(given, holder)
    except BaseException:
        holder.close()
        raise


def _find(given: PostgresName, holder: Connection) -> PostgresSource:
    with reading("The PostgreSQL database"):
        snapshot, database, version = ask(
            holder,
            "SELECT pg_export_snapshot(), current_database(), current_setting('server_version_num')::int / 10000",
        )[0]
        if version < OLDEST:
            raise too_old(version)
        tables = _tables(holder)
    called = f"PostgreSQL database {database}"
    table = choose_table(given.table, tables, called, PLACE)
    name = f"{table.full} in {called}"
    with reading(name):
        kinds = _kinds(holder, table)
        check_names(Path(name), list(kinds), "table")
        if not ask(holder, table.select("1") + " LIMIT 1"):
            raise no_records(PLACE, name, "table")
        size = _size(holder, table)
        rows = None if size else int(ask(holder, table.select("count(*)"))[0][0])
    return PostgresSource(name, table, kinds, rows, size, given.address, snapshot, holder)


def _tables(connection: Connection) -> list[DatabaseTable]:
    """Return all tables and views except system tables."""
    sql = """
        SELECT nspname, relname, relkind IN ('v', 'm'), pg_table_is_visible(c.oid)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
        AND left(nspname, 3) <> 'pg_' AND nspname <> 'information_schema'
    """
    return [DatabaseTable(*row) for row in ask(connection, sql)]


def _kinds(connection: Connection, table: DatabaseTable) -> dict[str, str]:
    """Return the type of every column: the base type of a domain, and "enum" for all enumerated types."""
    sql = f"""
        WITH RECURSIVE below AS (
            SELECT attnum, attname, atttypid AS kind FROM pg_attribute
            WHERE attrelid = {text(table.quoted)}::regclass AND attnum > 0 AND NOT attisdropped
            UNION ALL SELECT attnum, attname, typbasetype FROM below JOIN pg_type ON oid = kind WHERE typtype = 'd'
        )
        SELECT attname, CASE typtype WHEN 'e' THEN 'enum' ELSE typname END
        FROM below JOIN pg_type ON oid = kind WHERE typtype <> 'd' ORDER BY attnum
    """  # noqa: S608 - names are quoted
    return dict(ask(connection, sql))


def _size(connection: Connection, table: DatabaseTable) -> int:
    """Return the size of a table in bytes, including its partitions."""
    place = f"{text(table.quoted)}::regclass"
    parts = f"SELECT relid FROM pg_partition_tree({place}) UNION SELECT {place}"  # noqa: S608 - names are quoted
    sizes = f"SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint FROM ({parts}) AS part"  # noqa: S608 - as above
    return int(ask(connection, sizes)[0][0])


def _value(column: str, kind: str) -> str:
    """Return the SQL expression for reading a value."""
    name = quote(column)
    if kind == "numeric":
        # The number 1.00 is the code 1, and NaN is a missing value.
        return f"nullif(trim_scale({name})::text, 'NaN')"
    return name if kind in NATIVE_TYPES else f"{name}::text"
