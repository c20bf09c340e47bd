"""A part of a programme, its topic of areas, and a programme with a category for missing values in its topics."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.universe import topics_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.programme.model import Breakdown, Level, Programme, Table, Topic

NOT_STATED = {"en": "not stated"}
AREA_NAME = re.compile(
    r"(?<![a-z])(geo[a-z]*|areas?|regions?|nuts|lau|municip[a-z]*|parish(es)?|(sub)?districts?|places?|communes?"
    r"|grid([a-z]*)|states?|count(y|ies)|provinces?|wards?|lsoa|msoa|oa|lad|lga|cantons?|boroughs?|prefectures?"
    r"|localit(y|ies)|settlements?|tracts?|puma|zip(codes?)?|post(al)?codes?)(?![a-z])",
    re.IGNORECASE,
)
"""Names of topics of areas, as a word of the name: GEO, GEO.L, NUTS2, lsoa21cd, district_of_residence."""
OTHER_NAME = re.compile(r"birth|citizen|national|origin|work|study|marital|civil|health|employment", re.IGNORECASE)
"""Names of topics that are not the areas where people live, in spite of a word such as region or state."""


def choose_tables(programme: Programme, patterns: Sequence[str] | None, unit: str | None) -> Programme:
    """Return the programme with some of its tables, in their order, and the topics that these use.

    Args:
        programme: the whole.
        patterns: ids of tables, with `*`, `?` and `[..]` as in file names (`9.2`, `3.*`); all tables if None or empty.
        unit: what the tables count, in every universe; the unit of most tables if None.
    """
    tables = _of_unit(programme, unit)
    ids = [table.id for table in tables]
    wanted = patterns or ("*",)
    for pattern in wanted:
        if not any(matches(name, pattern) for name in ids):
            raise UnknownNameError.among("table", pattern, ids)
    chosen = tuple(table for table in tables if any(matches(table.id, pattern) for pattern in wanted))
    used = {topic for table in chosen for topic in _topics_of(table)}
    topics = {name: topic for name, topic in programme.topics.items() if name in used}
    areas = programme.areas if programme.areas in {None, *used} else ""
    return replace(programme, topics=topics, tables=chosen, areas=areas)


def _of_unit(programme: Programme, unit: str | None) -> tuple[Table, ...]:
    units = Counter(table.unit for table in programme.tables)
    # Of units with equally many tables the one that comes first in the programme.
    asked = max(units, key=units.__getitem__) if unit is None else unit
    if asked not in units:
        raise UnknownNameError.among("unit", asked, units)
    return tuple(table for table in programme.tables if table.unit == asked)


def matches(name: str, pattern: str) -> bool:
    """Say whether an id is meant by a pattern with `*`, `?` and `[..]` as in file names."""
    # An id may itself hold a bracket or a star.
    return name == pattern or fnmatchcase(name, pattern)


def _topics_of(table: Table) -> set[str]:
    return {b.topic for b in table.breakdowns} | topics_named(table.universe or "")


def with_missing_category(programme: Programme, topics: Sequence[str], code: str = "_U") -> Programme:
    """Return a programme in which the topics named have one more category, directly under the total.

    Every level of such a topic gets it, so that all levels are still partitions of the
    same records; a level with one category then has two and is no longer the total.
    A universe with `!=` or `not in` on such a topic takes the new category in.
    """
    for name in topics:
        if name not in programme.topics:
            raise UnknownNameError.among("topic", name, programme.topics)
    changed = {name: _with_category(programme.topics[name], code) for name in topics}
    levels = {
        old: new
        for name, topic in changed.items()
        for old, new in zip(programme.topics[name].levels, topic.levels, strict=True)
    }
    tables = tuple(
        replace(table, breakdowns=tuple(_on_levels(b, levels) for b in table.breakdowns)) for table in programme.tables
    )
    topics_of = {name: changed.get(name, topic) for name, topic in programme.topics.items()}
    return replace(programme, topics=topics_of, tables=tables)


def _with_category(topic: Topic, code: str) -> Topic:
    known = {c.code for c in topic.tree.categories} if topic.tree else set()
    levels = []
    for level in topic.levels:
        if level.codes is None:
            raise ProgrammeError(
                f"Topic {topic.name} cannot have the category {code!r} added: level {level.name} has no list of "
                "categories, only their number. Give its categories in the programme.",
                topic=topic.name,
            )
        known.update(level.codes)
        levels.append(replace(level, size=level.size + 1, codes=(*level.codes, code)))
    if code in known:
        raise ProgrammeError(
            f"Topic {topic.name} has the category {code!r} already. Choose another code for what is not stated.",
            topic=topic.name,
        )
    tree = topic.tree
    if tree:
        tree = CategoryTree(tree.topic, (*tree.categories, Category(code, "", NOT_STATED)))
    return replace(topic, levels=tuple(levels), tree=tree)


def _on_levels(breakdown: Breakdown, levels: dict[Level, Level]) -> Breakdown:
    return replace(breakdown, levels=tuple(levels.get(level, level) for level in breakdown.levels))


def area_topic(programme: Programme, asked: str | None = None) -> str | None:
    """Return the topic of the areas: the one asked for, declared, or named so; None if there is no such topic.

    Of several topics with the name of areas the one with most categories is taken.
    """
    used = {b.topic: programme.topics[b.topic] for table in programme.tables for b in table.breakdowns}
    if asked is not None:
        if asked not in used:
            raise UnknownNameError.among("topic of the tables", asked, used)
        return asked
    if programme.areas is not None:
        return programme.areas if programme.areas in used else None
    called = [name for name in used if AREA_NAME.search(name) and not OTHER_NAME.search(name)]
    return max(called, key=lambda name: used[name].levels[-1].size, default=None)
