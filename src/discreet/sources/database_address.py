"""Which table or view of a database is meant: `census.duckdb#persons`, `postgresql://user@host/census#persons`."""

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
"""How the name of a DuckDB database ends."""
SCHEMES = ("postgresql://", "postgres://")
SECRET = re.compile("password|secret", re.IGNORECASE)
"""Options of an address that hold a secret."""


@dataclass(frozen=True)
class DuckDBName:
    """A table or view in a DuckDB database; the only one if none is named."""

    path: Path
    table: str | None = None


@dataclass(frozen=True)
class PostgresName:
    """A table or view in a PostgreSQL database; the address, which names user and host, is left out where printed."""

    address: str = field(repr=False)
    table: str | None = None


def parse_database_name(text: str) -> DuckDBName | PostgresName | None:
    """Return the table that a text names, or None if it names no database.

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
    # A number sign may also be part of a file's name: the one after the ending counts.
    found = re.search(rf"({'|'.join(map(re.escape, ENDINGS))})(#|$)", text, re.IGNORECASE)
    return DuckDBName(Path(text[: found.end(1)]), text[found.end(2) :] or None) if found else None


def check_one_table(texts: Sequence[str]) -> None:
    """Refuse a database among several names: records of two tables would have to be joined first."""
    if len(texts) > 1 and any(map(parse_database_name, texts)):
        raise InputError(
            f"{len(texts)} names of data were given, and one of them is a database. One run reads one table or view of "
            "one database, and nothing beside it. Make a view that holds all records, or run once for each."
        )


def _check_no_secret(text: str) -> None:
    """Refuse an address with a password in it, without showing any of it."""
    rest = text.partition("://")[2]
    user, found, _ = rest.partition("@")
    options = parse_qsl(rest.partition("?")[2].partition("#")[0])
    if (found and ":" in user) or any(SECRET.search(name) for name, _ in options):
        raise InputError(
            "The address of the database holds a password, which would stand in lists of processes and in the history "
            "of the shell. Take it out, change it, and give the new one in the file ~/.pgpass or the variable "
            "PGPASSWORD."
        )


@dataclass(frozen=True)
class DatabaseTable:
    """A table or view.

    Attributes:
        schema: the schema it is in.
        name: its name there.
        is_view: whether its records are made by a query.
        is_near: whether it is found without its schema.
    """

    schema: str
    name: str
    is_view: bool
    is_near: bool

    def __str__(self) -> str:
        return self.name if self.is_near else self.full

    @property
    def full(self) -> str:
        """Return its name with the schema."""
        return f"{self.schema}.{self.name}"

    @property
    def quoted(self) -> str:
        """Return its name with the schema, as SQL has it."""
        return f"{quote(self.schema)}.{quote(self.name)}"

    def select(self, values: str) -> str:
        """Return the query for some values of every record, given as SQL."""
        return f"SELECT {values} FROM {self.quoted}"  # noqa: S608 - names are quoted


def quote(name: str) -> str:
    """Return a name as SQL has it, so that it is a name whatever it holds.

    >>> quote('a"b')
    '"a""b"'
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def choose_table(asked: str | None, tables: Sequence[DatabaseTable], database: str, path: Path) -> DatabaseTable:
    """Return the table asked for, or the only one there is.

    Args:
        asked: its name, alone or after that of its schema; None if it was left out.
        tables: all that there are.
        database: what the database is called in messages.
        path: the same as a path, for the error.
    """
    if not tables:
        raise DataFileError(f"{database} has no table or view. Give a database with the records in it.", path=path)
    if asked is None:
        if len(tables) > 1:
            raise _not_named(tables, database, path)
        return tables[0]
    # A point may part the schema from the name, or be part of the name.
    for found in ([t for t in tables if asked == t.full], [t for t in tables if asked == t.name and t.is_near]):
        if found:
            return found[0]
    raise UnknownNameError.among(f"table or view in {database} called", asked, sorted(map(str, tables)))


def _not_named(tables: Sequence[DatabaseTable], database: str, path: Path) -> DataFileError:
    names = sorted(map(str, tables))
    more = len(names) - MOST_LISTED
    listed = ", ".join(names[:MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")
    todo = f"Name one after a number sign, as in #{names[0]}."
    return DataFileError(f"{database} has {len(names):,} tables and views: {listed}. {todo}", path=path)
