"""Data in a table or view of a PostgreSQL database."""

from __future__ import annotations

import hashlib
import json
import weakref
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.sources.postgres_errors import OLDEST, PLACE, reading, too_old
from discreet.sources.postgres_session import ask, begin, check_driver, run, text
from discreet.sources.read_errors import check_asked, check_names, no_records
from discreet.sources.table_choice import Table, choose_table, quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from adbc_driver_manager.dbapi import Connection

    from discreet.sources.database_name import PostgresName

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
    table: Table
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


def _tables(connection: Connection) -> list[Table]:
    """Return all tables and views but those of the server itself."""
    sql = """
        SELECT nspname, relname, relkind IN ('v', 'm'), pg_table_is_visible(c.oid)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
        AND left(nspname, 3) <> 'pg_' AND nspname <> 'information_schema'
    """
    return [Table(*row) for row in ask(connection, sql)]


def _kinds(connection: Connection, table: Table) -> dict[str, str]:
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


def _size(connection: Connection, table: Table) -> int:
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
