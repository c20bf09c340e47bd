"""Which column of the data holds which topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import ColumnError
from discreet.programme.universe import topics_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.programme.model import Programme


def bind(programme: Programme, columns: Sequence[str], source: str) -> dict[str, str]:
    """Return the column of every topic that the tables use; the topic's own name unless the programme binds another.

    Raises ColumnError for the first topic whose column is not in the data, with the
    tables that need it and the columns that look close.
    """
    found = {}
    for name, topic in programme.topics.items():
        tables = [
            table.id
            for table in programme.tables
            if name in {b.topic for b in table.breakdowns if b.levels} | topics_named(table.universe or "")
        ]
        if not tables:
            continue
        column = topic.column or name
        if column not in columns:
            label = topic.labels.get("en", "")
            # What looks close to one topic is often the column of another.
            free = [other for other in columns if other not in _named(programme)] or columns
            raise ColumnError.absent(source, name, column, label=label, tables=tables, columns=free)
        found[name] = column
    return found


def _named(programme: Programme) -> set[str]:
    return {topic.column or name for name, topic in programme.topics.items()}
