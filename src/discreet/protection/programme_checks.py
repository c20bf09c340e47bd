"""Whether a programme can be counted at all, before any record is read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError
from discreet.programme.model import LEVEL, TOTAL, VALUE, WEIGHTED

if TYPE_CHECKING:
    from discreet.programme.model import Breakdown, Programme, Table, Topic

MOST_CELLS = 1 << 62
"""Cells of one table, empty ones too: each must have a number of its own in 64 bits, and some room beyond."""


def check_countable(programme: Programme) -> None:
    """Refuse tables for which there is nothing to compare the data with, or whose cells cannot be told apart."""
    for table in programme.tables:
        for breakdown in table.breakdowns:
            _check_categories(programme.topics[breakdown.topic], breakdown, table)
        _check_columns(table)
        _check_size(table)


def _check_categories(topic: Topic, breakdown: Breakdown, table: Table) -> None:
    if any(level.codes is None for level in breakdown.levels):
        raise ProgrammeError(
            f"Topic {topic.name} has no list of categories, only their number, so table {table.id} cannot be "
            "counted. Give the topic categories or a hierarchy, or leave the table out.",
            topic=topic.name,
        )
    if not topic.tree and breakdown.levels not in {(), topic.levels[-1:]}:
        raise ProgrammeError(
            f"Topic {topic.name} has no hierarchy that tells which category contains which, so table {table.id} "
            "cannot be counted by its coarser levels. Give the topic a hierarchy, or leave the table out.",
            topic=topic.name,
        )
    if any(TOTAL in (level.codes or ()) for level in breakdown.levels):
        raise ProgrammeError(
            f"Topic {topic.name} has a category {TOTAL}, which is the code of the total in every table. Give it "
            "another code, or leave it out if it is the total.",
            topic=topic.name,
        )


def _check_columns(table: Table) -> None:
    """Refuse two columns of one name: each breakdown may have one for its levels, and counts are the last."""
    codes = [breakdown.code for breakdown in table.breakdowns]
    names = [*codes, *(code + LEVEL for code in codes), VALUE, WEIGHTED]
    twice = [breakdown for breakdown in table.breakdowns if names.count(breakdown.code) > 1]
    if twice:
        raise ProgrammeError(
            f"Table {table.id} would have two columns called {twice[0].code}; levels are called after their column "
            f"(NAME{LEVEL}), counts {VALUE} and, with weights, {WEIGHTED}. Give the breakdown another name.",
            topic=twice[0].topic,
        )


def _check_size(table: Table) -> None:
    cells = math.prod(1 + sum(level.size for level in breakdown.levels) for breakdown in table.breakdowns)
    if cells * (len(table.breakdowns) + 1) > MOST_CELLS:
        raise ProgrammeError(
            f"Table {table.id} has about {cells:.1e} cells, more than can be numbered. Break it down by fewer topics.",
            topic="",
        )
