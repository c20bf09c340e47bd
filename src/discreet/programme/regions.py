"""Regions defined by the office: a CSV file maps areas to regions, and every table by area is also made by region.

A region is an ordinary category: its count and its cell key are sums over the records of its areas. It therefore has
one noise term instead of the sum of the noise terms of its areas. Areas that are not in the file are excluded.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeFileError, UnknownNameError
from discreet.limits import read_named
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Level, Programme, Topic
from discreet.programme.universe import narrowed_universe

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from discreet.programme.model import Table

DELIMITERS = ",;\t|"


def csv_rows(path: Path, todo: str) -> list[dict[str, str]]:
    """Return the rows by column; the delimiter is the one that gives the header the most columns.

    Args:
        path: the file.
        todo: the advice in the error message.
    """
    try:
        data = read_named(path)
        text = data.decode("utf-8-sig")
        headers = {mark: next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), []) for mark in DELIMITERS}
        delimiter = max(headers, key=lambda mark: len(headers[mark]))
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except OSError as error:
        raise ProgrammeFileError.at(path, None, f"cannot be read: {error.strerror}.", todo) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start + 1:,} of the file is not text in UTF-8."
        raise ProgrammeFileError.at(path, line, what, "Save the file as UTF-8.") from error
    except csv.Error as error:
        raise ProgrammeFileError.at(path, None, "cannot be read as CSV.", todo) from error


OUTSIDE = "_O"
"""The category of areas outside all regions; the tables exclude it."""
COLUMNS = ("area", "region")


def with_regions(programme: Programme, path: Path) -> Programme:
    """Return the programme with an additional table by region for every table by area.

    Args:
        programme: the whole programme.
        path: a CSV file with the columns `area` (any code of the topic, also one with codes below it), `region` (a new
            code) and, optionally, `label`. The name of the file becomes part of the topic and the suffix of the table
            ids: `districts.csv` gives the topic `GEO_DISTRICTS` and the tables `1.1.districts`.
    """
    name = re.sub(r"\W+", "_", path.stem)
    regions, labels = _read(path)
    topic = _topic_of(programme, list(regions), path)
    called = f"{topic.name}_{name.upper()}"
    if called in programme.topics:
        what = f"its name gives the topic {called}, which the programme already has."
        raise ProgrammeFileError.at(path, None, what, "Give the file another name.")
    made = _by_region(topic, called, regions, labels, path)
    new = Breakdown(made.name, made.name, made.levels)
    covered = OUTSIDE not in (made.levels[0].codes or ())
    tables = [
        _of_regions(table, topic.name, new, name, covered=covered)
        for table in programme.tables
        if any(breakdown.topic == topic.name for breakdown in table.breakdowns)
    ]
    return replace(programme, topics={**programme.topics, made.name: made}, tables=(*programme.tables, *tables))


def _of_regions(table: Table, topic: str, new: Breakdown, name: str, *, covered: bool) -> Table:
    """Return a table with regions in place of areas, without the records outside all regions."""
    universe = table.universe if covered else narrowed_universe(table.universe, f"{new.topic} != {OUTSIDE}")
    breakdowns = tuple(new if breakdown.topic == topic else breakdown for breakdown in table.breakdowns)
    return replace(table, id=f"{table.id}.{name}", breakdowns=breakdowns, universe=universe)


def _read(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the region of every area, and the labels of regions."""
    lines = csv_rows(path, "Give a CSV file.")
    if not lines or not set(COLUMNS) <= set(lines[0]):
        raise ProgrammeFileError.at(path, 1, "needs the columns area and region, and a line per area.", "Add them.")
    regions: dict[str, str] = {}
    labels: dict[str, str] = {}
    for number, line in enumerate(lines, start=2):
        area, region = line["area"], line["region"]
        if None in line:
            what = "has more fields than the header."
            raise ProgrammeFileError.at(path, number, what, "Correct the line, or quote its commas.")
        if region == OUTSIDE:
            what = f"{OUTSIDE} is reserved for areas outside all regions."
            raise ProgrammeFileError.at(path, number, what, "Give the region another code.")
        if not area or not region:
            raise ProgrammeFileError.at(path, number, "has no area or no region.", "Complete the line.")
        if regions.get(area, region) != region:
            what = f"area {area} is in two regions, {regions[area]} and {region}."
            raise ProgrammeFileError.at(path, number, what, "Keep one. Put overlapping regions into separate files.")
        regions[area] = region
        labels.update({region: line["label"]} if line.get("label") else {})
    return regions, labels


def _topic_of(programme: Programme, areas: list[str], path: Path) -> Topic:
    """Return the topic whose categories include the largest number of these areas."""
    known = {name: {c.code for c in topic.tree.categories} for name, topic in programme.topics.items() if topic.tree}
    best = max(known, key=lambda name: len(known[name] & set(areas)), default=None)
    if best is None or not known[best] & set(areas):
        raise ProgrammeFileError.at(
            path, 2, f"no topic of the programme has the category {areas[0]!r}.", "Use the programme's codes of areas."
        )
    for area in areas:
        if area not in known[best]:
            raise UnknownNameError.among(f"category of topic {best}, named in {path.name}", area, sorted(known[best]))
    return programme.topics[best]


def _by_region(topic: Topic, name: str, regions: Mapping[str, str], labels: Mapping[str, str], path: Path) -> Topic:
    """Return a topic with the regions at the top and all areas of the original topic below them."""
    tree = topic.tree
    assert tree is not None  # noqa: S101 - a topic is found by its categories
    clash = next((region for region in regions.values() if region in {c.code for c in tree.categories}), None)
    if clash:
        what = f"region {clash} has the code of a category of {topic.name}."
        raise ProgrammeFileError.at(path, None, what, "Give the region another code.")
    home = {leaf: _region_of(tree, leaf, regions, path) for leaf in tree.leaves}
    codes = list(dict.fromkeys(regions.values()))
    codes += [OUTSIDE] if OUTSIDE in home.values() else []
    above = [Category(code, "", {"en": labels[code]} if code in labels else {}) for code in codes]
    below = _inside(tree, home)
    level = Level(name, name, len(codes), tuple(codes))
    return Topic(name, (level,), CategoryTree(name, (*above, *below)), column=topic.column or topic.name)


def _inside(tree: CategoryTree, home: Mapping[str, str]) -> list[Category]:
    """Return the areas that lie entirely in one region, each below its parent or below the region."""
    regions: dict[str, set[str]] = {}
    for leaf, region in home.items():
        for code in tree.path(leaf):
            regions.setdefault(code, set()).add(region)
    found = []
    for category in tree.categories:
        if len(regions[category.code]) == 1:
            whole = category.parent and len(regions[category.parent]) == 1
            found.append(Category(category.code, category.parent if whole else next(iter(regions[category.code]))))
    return found


def _region_of(tree: CategoryTree, leaf: str, regions: Mapping[str, str], path: Path) -> str:
    """Return the region of an area at the finest level: its own, or that of an area that contains it."""
    named = [code for code in tree.path(leaf) if code in regions]
    found = {regions[code] for code in named}
    if len(found) > 1:
        what = f"area {named[-1]} lies in area {named[0]}, which is in another region."
        raise ProgrammeFileError.at(path, None, what, "Name the areas of one level only.")
    return found.pop() if found else OUTSIDE
