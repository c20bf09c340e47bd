"""What is said of a PostgreSQL table that cannot be read; the server's own words may show values of records."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import DataFileError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
