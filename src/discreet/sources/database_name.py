"""Names of tables in databases: `census.duckdb#persons` and `postgresql://user@host/census#persons`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from discreet.errors import InputError

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
