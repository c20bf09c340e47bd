"""Which table or view of a database is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import MOST_LISTED, DataFileError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Table:
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


def choose_table(asked: str | None, tables: Sequence[Table], database: str, path: Path) -> Table:
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


def _not_named(tables: Sequence[Table], database: str, path: Path) -> DataFileError:
    names = sorted(map(str, tables))
    more = len(names) - MOST_LISTED
    listed = ", ".join(names[:MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")
    todo = f"Name one after a number sign, as in #{names[0]}."
    return DataFileError(f"{database} has {len(names):,} tables and views: {listed}. {todo}", path=path)
