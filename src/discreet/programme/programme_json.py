"""A programme as one JSON object, for files that describe a release.

name, notes, areas (the topic of areas, if it is declared)
topics      name, labels, column, tree, levels (name, size, depth or codes)
tables      id, unit, universe, breakdowns (code, topic, levels by name, total)

Optional parts are omitted if they are absent: a column, a tree, codes, a universe.
A level is written as a depth of the topic's tree if this depth gives its categories,
so that the file lists the areas of a country once. A category is `[code, parent]` or
`[code, parent, label]`; a label is text if it is only English, otherwise an object by
language.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.programme.universe import universe_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def programme_to_json(programme: Programme) -> dict[str, Any]:
    """Return a programme as a JSON object; equal programmes give equal text."""
    return {
        "name": programme.name,
        "notes": list(programme.notes),
        **({} if programme.areas is None else {"areas": programme.areas}),
        "topics": [_topic_to_json(topic) for topic in programme.topics.values()],
        "tables": [_table_to_json(table, programme) for table in programme.tables],
    }


def programme_from_json(content: dict[str, Any]) -> Programme:
    """Return the programme of a JSON object, or raise an error that states the key."""
    entry = _Place(content).entries(("name", "notes", "topics", "tables"), ("areas",))
    found = [_topic(place) for place in entry["topics"].items()]
    topics = {topic.name: topic for topic in found}
    _refuse_twice(entry["topics"], [topic.name for topic in found], "topic")
    tables = tuple(_table(place, topics) for place in entry["tables"].items())
    notes, areas = tuple(entry["notes"].texts()), entry["areas"].text_or_none()
    programme = Programme(entry["name"].text(), topics, tables, notes, areas)
    for place, table in zip(entry["tables"].items(), tables, strict=True):
        try:
            universe_of(programme, table)
        except (ProgrammeError, UnknownNameError) as error:
            raise place.error(str(error)) from error
    return programme


# --- Writing ---


def _topic_to_json(topic: Topic) -> dict[str, Any]:
    found: dict[str, Any] = {"name": topic.name, "labels": dict(topic.labels)}
    if topic.column is not None:
        found["column"] = topic.column
    if topic.tree:
        found["tree"] = [_category_to_json(category) for category in topic.tree.categories]
    return found | {"levels": [_level_to_json(level, topic.tree) for level in topic.levels]}


def _category_to_json(category: Category) -> list[Any]:
    labels = dict(category.labels)
    label = [labels["en"] if list(labels) == ["en"] else labels] if labels else []
    return [category.code, category.parent, *label]


def _level_to_json(level: Level, tree: CategoryTree | None) -> dict[str, Any]:
    found = {"name": level.name, "size": level.size}
    if level.codes is None:
        return found
    depth = next((depth for depth, cut in enumerate(tree.cuts if tree else (), 1) if cut == level.codes), None)
    return found | ({"codes": list(level.codes)} if depth is None else {"depth": depth})


def _table_to_json(table: Table, programme: Programme) -> dict[str, Any]:
    found: dict[str, Any] = {"id": table.id, "unit": table.unit}
    if table.universe is not None:
        found["universe"] = table.universe
    return found | {"breakdowns": [_breakdown_to_json(b, table, programme) for b in table.breakdowns]}


def _breakdown_to_json(breakdown: Breakdown, table: Table, programme: Programme) -> dict[str, Any]:
    owner = f"Table {table.id}, breakdown {breakdown.code}"
    if breakdown.topic not in programme.topics:
        what = f"{owner}: topic {breakdown.topic} does not exist. Add it to the programme."
        raise ProgrammeError(what, topic=breakdown.topic)
    for level in breakdown.levels:
        # Levels are written by name and read back from the topic; a different level of that name would be replaced.
        if level not in programme.topics[breakdown.topic].levels:
            what = f"{owner}: topic {breakdown.topic} has no level {level.name} with {level.size} categories."
            raise ProgrammeError(f"{what} Use the levels of the topic in its breakdowns.", topic=breakdown.topic)
    return {
        "code": breakdown.code,
        "topic": breakdown.topic,
        "levels": [level.name for level in breakdown.levels],
        "total": breakdown.total,
    }


# --- Reading ---


@dataclass(frozen=True)
class _Place:
    """A value with its key path; its methods return the value in the expected type or raise an error."""

    value: object
    key: str = ""

    def error(self, what: str) -> ProgrammeError:
        return ProgrammeError(f"Programme in JSON, {self.key or 'the whole'}: {what}", topic="")

    def _must_be(self, wanted: str) -> ProgrammeError:
        shown = repr(self.value)
        return self.error(f"must be {wanted}, not {shown if len(shown) < 40 else type(self.value).__name__}.")

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self._must_be("text")
        return self.value

    def text_or_none(self) -> str | None:
        return None if self.value is None else self.text()

    def whole(self, least: int) -> int:
        # In Python a bool is also an int.
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < least:
            raise self._must_be(f"a whole number from {least} on")
        return self.value

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            raise self._must_be("true or false")
        return self.value

    def items(self) -> list[_Place]:
        if not isinstance(self.value, list):
            raise self._must_be("a list")
        return [_Place(item, f"{self.key}[{number}]") for number, item in enumerate(self.value)]

    def texts(self) -> list[str]:
        return [item.text() for item in self.items()]

    def labels(self) -> dict[str, str]:
        return {language: place.text() for language, place in self._members().items()}

    def _members(self) -> dict[str, _Place]:
        if not isinstance(self.value, dict) or not all(isinstance(key, str) for key in self.value):
            raise self._must_be("an object")
        return {key: _Place(item, f"{self.key}.{key}" if self.key else key) for key, item in self.value.items()}

    def entries(self, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, _Place]:
        """Return the members of an object with these keys; a missing optional key has the value None."""
        members = self._members()
        known = (*needed, *optional)
        for key in members:
            if key not in known:
                raise self.error(f"has the unknown key {key!r}. Available: {', '.join(known)}.")
        for key in needed:
            if key not in members:
                raise self.error(f"lacks the key {key!r}. Add it.")
        return {key: members.get(key, _Place(None, f"{self.key}.{key}")) for key in known}


def _refuse_twice(place: _Place, names: list[str], kind: str) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise place.error(f"has the {kind} {twice[0]!r} twice. Keep one of them.")


def _topic(place: _Place) -> Topic:
    entry = place.entries(("name", "labels", "levels"), ("column", "tree"))
    name = entry["name"].text()
    tree = None
    if entry["tree"].value is not None:
        tree = CategoryTree(name, tuple(_category(item) for item in entry["tree"].items()))
    levels = tuple(_level(item, name, tree) for item in entry["levels"].items())
    _refuse_twice(entry["levels"], [level.name for level in levels], "level")
    if tree:
        _check_nested(entry["levels"], levels, tree)
    return Topic(name, levels, tree, entry["labels"].labels(), entry["column"].text_or_none())


def _category(place: _Place) -> Category:
    parts = place.items()
    if len(parts) not in {2, 3}:
        raise place.error("must be [code, parent] or [code, parent, label]; the parent is empty under the total.")
    labels: Mapping[str, str] = {}
    if len(parts) == 3:
        labels = {"en": parts[2].text()} if isinstance(parts[2].value, str) else parts[2].labels()
    return Category(parts[0].text(), parts[1].text(), labels)


def _level(place: _Place, topic: str, tree: CategoryTree | None) -> Level:
    entry = place.entries(("name", "size"), ("depth", "codes"))
    size, codes = entry["size"].whole(1), _codes(place, entry, tree)
    if codes is not None and len(codes) != size:
        raise entry["size"].error(f"is {size}, but the level has {len(codes)} categories. Correct one of them.")
    return Level(topic, entry["name"].text(), size, codes)


def _codes(place: _Place, entry: dict[str, _Place], tree: CategoryTree | None) -> tuple[str, ...] | None:
    """Return the categories of a level, from its list or from the tree; None if it has only their number."""
    if entry["depth"].value is None:
        if entry["codes"].value is None:
            return None
        codes = entry["codes"].texts()
        _refuse_twice(entry["codes"], codes, "code")
        return tuple(codes)
    if entry["codes"].value is not None:
        raise place.error("has both depth and codes. Keep one of them.")
    depth = entry["depth"].whole(1)
    if tree is None:
        raise entry["depth"].error("needs the tree of the topic. Add it, or list the codes instead.")
    if depth > tree.depth:
        raise entry["depth"].error(f"is {depth}, but the tree of the topic has {tree.depth} levels. Correct it.")
    return tree.cut(depth)


def _check_nested(place: _Place, levels: tuple[Level, ...], tree: CategoryTree) -> None:
    """Raise an error for a level that is not a partition by the tree, or that does not refine the level before it."""
    known = {category.code for category in tree.categories}
    listed = [(item, level.codes) for item, level in zip(place.items(), levels, strict=True) if level.codes]
    for item, codes in listed:
        unknown = [code for code in codes if code not in known]
        if unknown:
            raise item.error(f"has the code {unknown[0]!r}, which is not in the tree. Add it to the tree or remove it.")
        if tree.above(codes, tree.leaves) is None:
            raise item.error("must contain every leaf of the tree exactly once, itself or an ancestor. Correct it.")
    for (_, coarse), (item, fine) in pairwise(listed):
        if tree.above(coarse, fine) is None:
            raise item.error("does not refine the level before it. Order levels from coarse to fine.")


def _table(place: _Place, topics: Mapping[str, Topic]) -> Table:
    entry = place.entries(("id", "unit", "breakdowns"), ("universe",))
    breakdowns = tuple(_breakdown(item, topics) for item in entry["breakdowns"].items())
    return Table(entry["id"].text(), breakdowns, entry["unit"].text(), entry["universe"].text_or_none())


def _breakdown(place: _Place, topics: Mapping[str, Topic]) -> Breakdown:
    entry = place.entries(("code", "topic", "levels", "total"))
    topic = entry["topic"].text()
    if topic not in topics:
        raise entry["topic"].error(f"is {topic!r}, which is not a topic. Available: {', '.join(topics) or 'none'}.")
    return Breakdown(entry["code"].text(), topic, _levels(entry["levels"], topics[topic]), entry["total"].truth())


def _levels(place: _Place, topic: Topic) -> tuple[Level, ...]:
    """Return the named levels of a topic."""
    known = {level.name: level for level in topic.levels}
    for item in place.items():
        if item.text() not in known:
            what = f"is {item.text()!r}, which is not a level of topic {topic.name}."
            raise item.error(f"{what} Available: {', '.join(known)}.")
    _refuse_twice(place, place.texts(), "level")
    levels = tuple(known[name] for name in place.texts())
    if levels != tuple(level for level in topic.levels if level in levels):
        raise place.error(f"must be ordered from coarse to fine, as {', '.join(known)}.")
    return levels
