"""Addresses of tables and views in databases: `census.duckdb#persons`, `postgresql://user@host/census#persons`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from discreet.errors import MOST_LISTED, DataFileError, InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDINGS = (".duckdb", ".ddb", ".db")
"""File extensions of DuckDB databases."""
SCHEMES = ("postgresql://", "postgres://")
SECRET = re.compile("password|secret", re.IGNORECASE)
"""Names of options of an address that contain a secret."""


@dataclass(frozen=True)
class DuckDBName:
    """A table or view in a DuckDB database; without a name, the only one in it."""

    path: Path
    table: str | None = None


@dataclass(frozen=True)
class PostgresName:
    """A table or view in a PostgreSQL database; the representation omits the address with user and host."""

    address: str = field(repr=False)
    table: str | None = None


def parse_database_name(text: str) -> DuckDBName | PostgresName | None:
    """Return the table that a text specifies; None if the text is not the address of a database.

    >>> parse_database_name("census.duckdb#persons").table
    'persons'
    >>> parse_database_name("persons.csv") is None
    True
    """
    if text.lower().startswith(SCHEMES):
        _check_no_secret(text)
        scheme, _, rest = text.partition("://")
        place, _, table = rest.partition("#")
        return PostgresName(f"{scheme.lower()}://{place}", table or None)
    # A number sign may be part of a file name: use the one after the extension.
    found = re.search(rf"({'|'.join(map(re.escape, ENDINGS))})(#|$)", text, re.IGNORECASE)
    return DuckDBName(Path(text[: found.end(1)]), text[found.end(2) :] or None) if found else None


def check_one_table(texts: Sequence[str]) -> None:
    """Refuse a database among several data sources."""
    if len(texts) > 1 and any(map(parse_database_name, texts)):
        raise InputError(
            f"{len(texts)} data sources were specified, and one of them is a database. A run with a database reads "
            "only one table or view. Create a view with all records, or run the command once for each source."
        )


def _check_no_secret(text: str) -> None:
    """Refuse an address with a password; the message contains no part of the address."""
    rest = text.partition("://")[2]
    user, found, _ = rest.partition("@")
    options = parse_qsl(rest.partition("?")[2].partition("#")[0])
    if (found and ":" in user) or any(SECRET.search(name) for name, _ in options):
        raise InputError(
            "The address of the database contains a password, which is visible in process lists and in the history of "
            "the shell. Remove it, change the password, and store the new one in ~/.pgpass or in the variable "
            "PGPASSWORD."
        )


@dataclass(frozen=True)
class DatabaseTable:
    """A table or view.

    Attributes:
        schema: the name of the schema.
        name: the name within the schema.
        is_view: whether it is a view.
        is_visible: whether it can be named without its schema.
    """

    schema: str
    name: str
    is_view: bool
    is_visible: bool

    def __str__(self) -> str:
        return self.name if self.is_visible else self.full

    @property
    def full(self) -> str:
        """Return the name with the schema."""
        return f"{self.schema}.{self.name}"

    @property
    def quoted(self) -> str:
        """Return the name with the schema, quoted for SQL."""
        return f"{quote(self.schema)}.{quote(self.name)}"

    def select(self, values: str) -> str:
        """Return the query for these SQL expressions."""
        return f"SELECT {values} FROM {self.quoted}"  # noqa: S608 - names are quoted


def quote(name: str) -> str:
    """Return a quoted SQL identifier.

    >>> quote('a"b')
    '"a""b"'
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def choose_table(asked: str | None, tables: Sequence[DatabaseTable], database: str, path: Path) -> DatabaseTable:
    """Return the requested table, or the only one.

    Args:
        asked: the name, with or without the schema; None if it was not specified.
        tables: all tables and views of the database.
        database: the name of the database, for messages.
        path: the path of the database, for errors.
    """
    if not tables:
        raise DataFileError(f"{database} has no table or view. Specify a database with records.", path=path)
    if asked is None:
        if len(tables) > 1:
            raise _not_named(tables, database, path)
        return tables[0]
    # A full stop may separate the schema from the name, or be part of the name.
    for found in ([t for t in tables if asked == t.full], [t for t in tables if asked == t.name and t.is_visible]):
        if found:
            return found[0]
    raise UnknownNameError.among(f"table or view in {database} named", asked, sorted(map(str, tables)))


def _not_named(tables: Sequence[DatabaseTable], database: str, path: Path) -> DataFileError:
    names = sorted(map(str, tables))
    more = len(names) - MOST_LISTED
    listed = ", ".join(names[:MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")
    todo = f"Specify one after a number sign, for example #{names[0]}."
    return DataFileError(f"{database} has {len(names):,} tables and views: {listed}. {todo}", path=path)
