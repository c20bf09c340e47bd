"""What is said of a DuckDB database that cannot be read; DuckDB's own words may show values of records."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from discreet.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
