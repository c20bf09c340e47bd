"""Data in a table or view of a PostgreSQL database, read by connections that all see it as it was at one moment.

Errors are described in our words, because the server's own may show values of records.
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
from discreet.sources.read_errors import check_asked, check_names, no_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from adbc_driver_manager.dbapi import Connection

    from discreet.sources.database_address import PostgresName

PLACE = Path("PostgreSQL")
"""Stands for the server in errors, which are about files otherwise."""
OLDEST = 13

ANOTHER = "Put the right one into the file ~/.pgpass or the variable PGPASSWORD."
CHECK = "Check the address: postgresql://user@host:port/database#table."
CONNECTING = (
    ("no password supplied", "asks for a password.", ANOTHER),
    ("authentication failed", "does not accept user name and password.", ANOTHER),
    ("no pg_hba.conf entry|permission denied", "does not let this user in.", "Ask who keeps the server."),
    ("starting up", "is still starting.", "Try again in a moment."),
    ("too many", "has no connection left.", "Try again later."),
    ('role ".*" does not exist', "does not know the user.", CHECK),
    ('database ".*" does not exist', "does not have the database.", CHECK),
)
"""Words of a server's refusal, as patterns, and what they mean."""
READING = {
    "42501": ("may not be read by this user, or not all of it.", "Ask for SELECT on it, without row-level security."),
    "42P01": ("is gone.", "Start again."),
    "57014": ("took the server longer than it allows.", "Ask who keeps the server."),
    "57P01": ("was not read to the end: the server was shut down.", "Start again."),
    "53": ("cannot be read: the server has no memory, disk or connection left.", "Ask who keeps the server."),
    "25": ("was not read to the end: the server ended the transaction.", "Start again."),
}
"""The server's codes (SQLSTATE), whole or their first two characters, and what they mean."""
LOST = ("was not read to the end: the connection to the server is lost.", "Start again.")


def no_driver() -> InputError:
    """Build the error for an installation without the driver."""
    what = "Reading from PostgreSQL needs the package adbc-driver-postgresql."
    return InputError(f"{what} Install it: pip install 'discreet[postgres]'.")


def too_old(version: int) -> DataFileError:
    """Build the error for a server of an old version."""
    what = f"The PostgreSQL server has version {version}, and reading needs {OLDEST} or later."
    return DataFileError(f"{what} Export the table to a CSV file instead.", path=PLACE)


@contextmanager
def connecting() -> Iterator[None]:
    """Turn what is said when a connection fails into what we say, without user and host."""
    from adbc_driver_manager import Error

    try:
        yield
    except Error as error:
        raise DataFileError(_why_not_connected(str(error)), path=PLACE) from None


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what is said of a table while it is read into what we say."""
    import pyarrow as pa
    from adbc_driver_manager import Error

    try:
        yield
    except (Error, pa.ArrowException, OSError) as error:
        raise DataFileError(f"{name} {_why_not_read(error)}", path=PLACE) from None


def _why_not_connected(text: str) -> str:
    # The server says FATAL in every language; what comes before is said on this side, in English.
    if "FATAL" not in text and "no password supplied" not in text:
        if "invalid" in text:
            return f"The address of the PostgreSQL database cannot be understood. {CHECK}"
        todo = "Check host, port and sslmode, and whether the server runs and lets this machine in."
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
    # After a fatal error, which is called so in every language, the server ends the connection.
    if any(words in str(error) for words in ("FATAL:", "closed the connection", "no connection to the server")):
        return " ".join(LOST)
    told = f" (SQLSTATE {state})" if state.isalnum() else ""
    return f"cannot be read: the server stopped with an error{told}. Look into its log, or try the table in psql."


SETTINGS = {
    "client_encoding": "UTF8",
    # One value has one text, whatever the server is set to.
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "lc_monetary": "C",
    # Records that a policy hides would be missing from the counts: an error is better.
    "row_security": "off",
    # The transaction that holds the moment waits while others read.
    "idle_in_transaction_session_timeout": "0",
    # A second reading finds the records in the same order.
    "synchronize_seqscans": "off",
}
TIMEOUT = 10
"""Seconds until a server that does not answer is given up, unless the user has set another number."""


def check_driver() -> None:
    """Refuse to go on without the driver."""
    try:
        import adbc_driver_postgresql.dbapi  # noqa: F401 - only whether it can be loaded
    except ImportError:
        raise no_driver() from None


def begin(address: str, snapshot: str | None = None) -> Connection:
    """Connect and begin a transaction that only reads and sees one moment: now, or that of a snapshot."""
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
    r"""Return a value as SQL has it, whatever `standard_conforming_strings` is: E marks that backslashes are doubled.

    >>> text("it's")
    "'it''s'"
    >>> print(text("a\\b"))
    E'a\\b'
    """
    doubled = value.replace("'", "''")
    escaped = doubled.replace("\\", "\\\\")
    return f"'{doubled}'" if doubled == escaped else f"E'{escaped}'"


def _with_options(address: str) -> str:
    """Return the address with our name, which the server's log shows, and a limit for the time to connect."""
    options = ["application_name=discreet"] if "application_name=" not in address else []
    if "connect_timeout=" not in address and not os.environ.get("PGCONNECT_TIMEOUT"):
        options.append(f"connect_timeout={TIMEOUT}")
    return "&".join([address if "?" in address else f"{address}?", *options]).replace("?&", "?", 1)


ROWS = 100_000
"""Rows of a batch, about."""
BYTES_PER_VALUE = 8
BATCH_SIZE = "adbc.postgresql.batch_size_hint_bytes"
AS_THEY_ARE = frozenset(
    ["bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "date", "time", "timestamp", "timestamptz"]
)
"""Types that the driver gives a type of its own; of all others it is the text that counts."""


@dataclass(frozen=True, eq=False)
class PostgresSource:
    """A table or view of a PostgreSQL database as it was when it was opened.

    A transaction that stays open holds the moment. Every reading has a connection of its own, with a transaction that
    sees the same moment, so that threads do not meet.

    Attributes:
        name: what to call it in messages.
        table: the table or view.
        kinds: the type of every column.
        rows: the number of records of a view; to count those of a table would take as long as to read them.
        size: the bytes on the server's disk; a view has none.
        address: of the database.
        snapshot: the server's name for the moment.
        holder: the connection that holds it.
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
        """Return an iterator over the records: these columns in this order, none of it empty."""
        check_asked(self.name, columns, self.columns)
        return self._read(list(columns))

    def fingerprint(self) -> str:
        """Return the hash of the records whatever their order.

        The server counts the records and sums a hash of 64 bits of the text of each. By this function it also puts
        records into the parts of a partitioned table, so that it stays the same in later versions.
        """
        sums = "count(*), sum(hashtextextended((record.*)::text, 0))"
        with reading(self.name), closing(begin(self.address, self.snapshot)) as connection:
            found = ask(connection, self.table.select(sums) + " AS record")[0]
        content = json.dumps([self.columns, *map(str, found)])
        return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"

    def check_unchanged(self) -> None:
        """Refuse data whose moment the server no longer holds; what was changed since then is not seen."""
        with reading(self.name):
            ask(self.holder, "SELECT 1")

    def close(self) -> None:
        """Let the moment go."""
        self.holder.close()

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        # A batch without columns has no records; one column is enough to count them.
        read = list(dict.fromkeys(columns)) or [self.columns[0]]
        values = ", ".join(f"{_value(column, self.kinds[column])} AS {quote(column)}" for column in read)
        with reading(self.name), closing(begin(self.address, self.snapshot)) as connection:
            # With several processes the order of records would differ from reading to reading.
            run(connection, "SET LOCAL max_parallel_workers_per_gather = 0")
            with connection.cursor() as cursor:
                cursor.adbc_statement.set_options(**{BATCH_SIZE: str(ROWS * len(read) * BYTES_PER_VALUE)})
                cursor.execute(self.table.select(values))
                for batch in cursor.fetch_record_batch():
                    if batch.num_rows:
                        yield batch.select(columns)


def open_postgres(given: PostgresName) -> PostgresSource:
    """Connect to a server, hold the moment, and find the table and its columns."""
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
    """Return all tables and views but those of the server itself."""
    sql = """
        SELECT nspname, relname, relkind IN ('v', 'm'), pg_table_is_visible(c.oid)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
        AND left(nspname, 3) <> 'pg_' AND nspname <> 'information_schema'
    """
    return [DatabaseTable(*row) for row in ask(connection, sql)]


def _kinds(connection: Connection, table: DatabaseTable) -> dict[str, str]:
    """Return the type of every column, of a domain the one below it, and "enum" for all lists of values."""
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
    """Return the bytes of a table, of a partitioned one those of its parts."""
    place = f"{text(table.quoted)}::regclass"
    parts = f"SELECT relid FROM pg_partition_tree({place}) UNION SELECT {place}"  # noqa: S608 - names are quoted
    sizes = f"SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint FROM ({parts}) AS part"  # noqa: S608 - as above
    return int(ask(connection, sizes)[0][0])


def _value(column: str, kind: str) -> str:
    """Return the SQL of a value as it is to be read."""
    name = quote(column)
    if kind == "numeric":
        # The number 1.00 is the code 1, and no number is a missing value.
        return f"nullif(trim_scale({name})::text, 'NaN')"
    return name if kind in AS_THEY_ARE else f"{name}::text"
