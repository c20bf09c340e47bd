"""Connections to a PostgreSQL server that all see the data as they were at one moment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from discreet.sources.postgres_errors import connecting, no_driver

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection

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
