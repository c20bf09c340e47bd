"""A programme from a PX file: variables become topics with codes, labels and hierarchies; data are not read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError, ProgrammeFileError
from discreet.limits import read_named
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import TOTAL, Breakdown, Programme, Table, Topic, levels_by_depth

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ENTRY = re.compile(
    r'\s*([A-Z][A-Z0-9-]*)(?:\[([^\]"]*)\])?(?:\(((?:"[^"]*"|[^")])*)\))?\s*=\s*((?:"[^"]*"|[^";])*);', re.DOTALL
)
"""KEYWORD[language]("variable")=values;"""
TEXT = re.compile(r'"([^"]*)"')
PIECES = re.compile(r'"\s*\n\s*"')
"""A long text continues on the next line."""
DATA = re.compile(r"(?:^|;)[ \t]*(DATA\s*=)", re.MULTILINE)
LANGUAGE = "en"
FIX = "Give a PX file (PC-Axis) with STUB, HEADING and VALUES."

Keywords = dict[tuple[str, str, str], str]
"""The text of every keyword by its name, language and variable."""


def programme_from_px(path: str | Path) -> Programme:
    """Return the programme of a PX file: one table with all its variables except time and contents.

    The value that ELIMINATION names, or that has the code `_T`, is the total and not a category.
    """
    path = Path(path)
    words = _keywords(path)
    main = words.get(("LANGUAGE", "", ""), f'"{LANGUAGE}"').strip().strip('"') or LANGUAGE
    variables = [*_texts(words.get(("STUB", "", ""), "")), *_texts(words.get(("HEADING", "", ""), ""))]
    if not variables:
        raise ProgrammeFileError.at(path, None, "has neither STUB nor HEADING.", FIX)
    left_out = [name for name in variables if _is_not_of_units(name, words)]
    if len(left_out) == len(variables):
        raise ProgrammeFileError.at(path, None, "has no variables except time and contents.", FIX)
    topics: dict[str, Topic] = {}
    try:
        for name in variables:
            if name not in left_out:
                values = _texts(words.get(("VALUES", "", name), ""))
                by_language = [(main, name, values), *_translations(name, variables.index(name), words)]
                called = _topic_name(name, topics)
                tree = CategoryTree(called, _categories(path, name, words, by_language))
                labels = {language: text for language, text, _ in by_language}
                topics[called] = Topic(called, levels_by_depth(called, tree.cuts), tree, labels)
        title = _joined(words.get(("TITLE", "", ""), "")) or path.stem
        matrix = _joined(words.get(("MATRIX", "", ""), "")) or path.stem
        table = Table(matrix, tuple(Breakdown(name, name, topic.levels) for name, topic in topics.items()))
        notes = (f"From the PX file {path.name}.", *([f"Excluded: {', '.join(left_out)}."] if left_out else []))
        return Programme(title, topics, (table,), notes)
    except ProgrammeError as error:
        raise ProgrammeFileError.at(path, None, str(error), "") from error


def _keywords(path: Path) -> Keywords:
    try:
        data = read_named(path)
    except OSError as error:
        raise ProgrammeFileError.at(path, None, f"cannot be read: {error.strerror}.", "Check the path.") from error
    page = re.search(rb'CODEPAGE\s*=\s*"([A-Za-z0-9_-]+)"', data)
    try:
        text = data.decode(page[1].decode() if page else "utf-8")
    except (LookupError, UnicodeDecodeError):
        text = data.decode("latin-1")
    end = DATA.search(text)
    if end is None:
        raise ProgrammeFileError.at(path, None, "has no keyword DATA.", FIX)
    head, found, place = text[: end.start(1)].lstrip("\ufeff"), Keywords(), 0
    while match := ENTRY.match(head, place):
        found[match[1], match[2] or "", _joined(match[3] or "")] = match[4]
        place = match.end()
    if left := head[place:].lstrip():
        line = head.count("\n", 0, len(head) - len(left)) + 1
        raise ProgrammeFileError.at(path, line, "is not KEYWORD=values;", FIX)
    return found


def _texts(values: str) -> list[str]:
    """Return the texts of a list."""
    return TEXT.findall(PIECES.sub("", values))


def _joined(values: str) -> str:
    return "".join(_texts(values)) or values.strip().strip('"')


def _is_not_of_units(name: str, words: Keywords) -> bool:
    """Return whether a variable is the time or the contents, which do not describe the counted units."""
    contents = _joined(words.get(("CONTVARIABLE", "", ""), ""))
    return name == contents or any(key[0] == "TIMEVAL" and key[2] == name for key in words)


def _categories(
    path: Path, name: str, words: Keywords, by_language: Sequence[tuple[str, str, list[str]]]
) -> tuple[Category, ...]:
    labels = by_language[0][2]
    codes = _texts(words.get(("CODES", "", name), "")) or labels
    if not labels or len(codes) != len(labels):
        what = f"has {len(codes)} codes and {len(labels)} values of {name!r}."
        raise ProgrammeFileError.at(path, None, what, "Give every value a code.")
    # Without quotation marks the value is YES or NO, not a category.
    total = next(iter(_texts(words.get(("ELIMINATION", "", name), ""))), None)
    totals = {code for code, label in zip(codes, labels, strict=True) if code == TOTAL or label == total}
    above = dict(_pairs(words.get(("HIERARCHIES", "", name), "")))
    return tuple(
        Category(
            code,
            "" if above.get(code, "") in totals else above.get(code, ""),
            {language: texts[number] for language, _, texts in by_language if number < len(texts)},
        )
        for number, code in enumerate(codes)
        if code not in totals
    )


def _pairs(values: str) -> Iterator[tuple[str, str]]:
    """Yield each code of a hierarchy with its parent: `"root","root":"a","a":"a1"`."""
    for parent, code in re.findall(r'"([^"]*)"\s*:\s*"([^"]*)"', values):
        yield code, parent


def _translations(name: str, place: int, words: Keywords) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the name and the values of a variable in the other languages of the file."""
    languages = dict.fromkeys(language for _, language, _ in words if language)
    for language in languages:
        stub, heading = (_texts(words.get((key, language, ""), "")) for key in ("STUB", "HEADING"))
        names = [*stub, *heading]
        other = names[place] if place < len(names) else name
        yield language, other, _texts(words.get(("VALUES", language, other), ""))


def _topic_name(label: str, others: Mapping[str, Topic]) -> str:
    """Return a name without blanks that no other topic has."""
    name = re.sub(r"\W+", "_", label).strip("_") or "V"
    free, number = name, 1
    while free in others or free == "total":
        number += 1
        free = f"{name}_{number}"
    return free
