"""Selection of tables, the topic of areas, and the addition of a category for missing values to topics."""

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
"""Words in the names of topics of areas: GEO, GEO.L, NUTS2, lsoa21cd, district_of_residence."""
OTHER_NAME = re.compile(r"birth|citizen|national|origin|work|study|marital|civil|health|employment", re.IGNORECASE)
"""Words in the names of topics that are not areas of residence, despite a word such as region or state."""


def choose_tables(programme: Programme, patterns: Sequence[str] | None, unit: str | None) -> Programme:
    """Return the programme with the selected tables, in their order, and the topics that they use.

    Args:
        programme: the whole programme.
        patterns: ids of tables, with `*`, `?` and `[..]` as in file names (`9.2`, `3.*`); all tables if None or empty.
        unit: the counted unit of the tables, in every universe; None for the most frequent unit.
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
    # Among units with equally many tables the first one in the programme.
    chosen = max(units, key=units.__getitem__) if unit is None else unit
    if chosen not in units:
        raise UnknownNameError.among("unit", chosen, units)
    return tuple(table for table in programme.tables if table.unit == chosen)


def matches(name: str, pattern: str) -> bool:
    """Return whether an id matches a pattern with `*`, `?` and `[..]` as in file names."""
    # An id may itself contain a bracket or a star.
    return name == pattern or fnmatchcase(name, pattern)


def _topics_of(table: Table) -> set[str]:
    return {b.topic for b in table.breakdowns} | topics_named(table.universe or "")


def with_missing_category(programme: Programme, topics: Sequence[str], code: str = "_U") -> Programme:
    """Return a programme in which the given topics have one more category, directly below the total.

    Every level of such a topic gets the category, so that all levels are still partitions
    of the same records. A level with one category then has two and is no longer the total.
    A universe with `!=` or `not in` on such a topic includes the new category.
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
                f"The category {code!r} cannot be added to topic {topic.name}: level {level.name} has no list of "
                "categories, only their number. Give its categories in the programme.",
                topic=topic.name,
            )
        known.update(level.codes)
        levels.append(replace(level, size=level.size + 1, codes=(*level.codes, code)))
    if code in known:
        raise ProgrammeError(
            f"Topic {topic.name} already has the category {code!r}. Choose another code for missing values.",
            topic=topic.name,
        )
    tree = topic.tree
    if tree:
        tree = CategoryTree(tree.topic, (*tree.categories, Category(code, "", NOT_STATED)))
    return replace(topic, levels=tuple(levels), tree=tree)


def _on_levels(breakdown: Breakdown, levels: dict[Level, Level]) -> Breakdown:
    return replace(breakdown, levels=tuple(levels.get(level, level) for level in breakdown.levels))


def area_topic(programme: Programme, requested: str | None = None) -> str | None:
    """Return the topic of areas: the requested, the declared, or the one recognised by its name; None without one.

    Among several topics with the name of areas the function returns the one with the most categories.
    """
    used = {b.topic: programme.topics[b.topic] for table in programme.tables for b in table.breakdowns}
    if requested is not None:
        if requested not in used:
            raise UnknownNameError.among("topic of the tables", requested, used)
        return requested
    if programme.areas is not None:
        return programme.areas if programme.areas in used else None
    called = [name for name in used if AREA_NAME.search(name) and not OTHER_NAME.search(name)]
    return max(called, key=lambda name: used[name].levels[-1].size, default=None)
