"""Checks whether a programme can be counted, before any record is read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError
from discreet.programme.model import LEVEL, TOTAL, VALUE, WEIGHTED

if TYPE_CHECKING:
    from discreet.programme.model import Breakdown, Programme, Table, Topic

MOST_CELLS = 1 << 62
"""Maximum number of cells of one table, including empty cells: cell indices must fit into 64 bits with a margin."""


def check_countable(programme: Programme) -> None:
    """Refuse tables without categories or hierarchies, with ambiguous columns, or with too many cells."""
    for table in programme.tables:
        for breakdown in table.breakdowns:
            _check_categories(programme.topics[breakdown.topic], breakdown, table)
        _check_columns(table)
        _check_size(table)


def _check_categories(topic: Topic, breakdown: Breakdown, table: Table) -> None:
    if any(level.codes is None for level in breakdown.levels):
        raise ProgrammeError(
            f"Topic {topic.name} has no list of categories, only their number, so table {table.id} cannot be "
            "counted. Define the categories or a hierarchy of the topic, or exclude the table.",
            topic=topic.name,
        )
    if not topic.tree and breakdown.levels not in {(), topic.levels[-1:]}:
        raise ProgrammeError(
            f"Topic {topic.name} has no hierarchy of categories, so table {table.id} cannot be counted by its coarser "
            "levels. Define a hierarchy of the topic, or exclude the table.",
            topic=topic.name,
        )
    if any(TOTAL in (level.codes or ()) for level in breakdown.levels):
        raise ProgrammeError(
            f"Topic {topic.name} has a category {TOTAL}, which is the code of the total in every table. Assign "
            "another code, or remove the category if it is the total.",
            topic=topic.name,
        )


def _check_columns(table: Table) -> None:
    """Refuse two columns with the same name among breakdowns, their levels and the counts."""
    codes = [breakdown.code for breakdown in table.breakdowns]
    names = [*codes, *(code + LEVEL for code in codes), VALUE, WEIGHTED]
    twice = [breakdown for breakdown in table.breakdowns if names.count(breakdown.code) > 1]
    if twice:
        raise ProgrammeError(
            f"Table {table.id} would have two columns named {twice[0].code}. Reserved names are those of levels "
            f"(NAME{LEVEL}) and of counts ({VALUE} and, with weights, {WEIGHTED}). Rename the breakdown.",
            topic=twice[0].topic,
        )


def _check_size(table: Table) -> None:
    cells = math.prod(1 + sum(level.size for level in breakdown.levels) for breakdown in table.breakdowns)
    if cells * (len(table.breakdowns) + 1) > MOST_CELLS:
        raise ProgrammeError(
            f"Table {table.id} has about {cells:.1e} cells, more than the maximum. Use fewer breakdowns.",
            topic="",
        )
