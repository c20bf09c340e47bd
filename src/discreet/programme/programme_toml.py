"""A programme as the text of a TOML file, for review and editing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discreet.programme.model import Programme, Topic


def programme_to_toml(programme: Programme) -> str:
    """Return the text of a file that gives the same programme; every table uses topics with all levels."""
    return "\n".join(_lines(programme)) + "\n"


def _lines(programme: Programme) -> Iterator[str]:
    yield f"name = {_text(programme.name)}"
    if programme.notes:
        yield f"notes = [{', '.join(map(_text, programme.notes))}]"
    if programme.areas is not None:
        yield f"areas = {_text(programme.areas)}"
    for topic in programme.topics.values():
        yield from _topic(topic)
    for table in programme.tables:
        yield from ("", "[[tables]]", f"id = {_text(table.id)}")
        yield f"columns = [{', '.join(_text(each.code) for each in table.breakdowns)}]"
        if table.unit != "persons":
            yield f"unit = {_text(table.unit)}"
        if table.universe:
            yield f"universe = {_text(table.universe)}"


def _topic(topic: Topic) -> Iterator[str]:
    yield from ("", f"[topics.{_key(topic.name)}]")
    if topic.labels:
        yield f"label = {_labels(topic.labels)}"
    categories = topic.tree.categories if topic.tree else ()
    if not any(category.parent or category.labels for category in categories):
        yield f"categories = [{', '.join(_text(category.code) for category in categories)}]"
        return
    yield "hierarchy = ["
    for category in categories:
        label = f", {_labels(category.labels)}" if category.labels else ""
        yield f"  [{_text(category.code)}, {_text(category.parent)}{label}],"
    yield "]"


def _labels(labels: Mapping[str, str]) -> str:
    """Return a label: text if it is only English, otherwise an inline table by language."""
    if list(labels) == ["en"]:
        return _text(labels["en"])
    return f"{{ {', '.join(f'{_key(language)} = {_text(text)}' for language, text in labels.items())} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    """Return a basic string of TOML, which equals a JSON string except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
