"""Load a programme from a TOML file, from an SDMX definition, or from the package.

Errors in a TOML file state the line and the nearest valid spelling. A file has these keys:

name = "Small town"
areas = "GEO"                 # optional: the topic whose categories are areas; default: recognised by its name

[topics.SEX]
categories = ["F", "M"]

[topics.AGE]
label = {en = "Age", fr = "Âge"}
hierarchy = [["Y", "", "young"], ["O", "", "old"], ["Y1", "Y", "0-14"], ["Y2", "Y", "15-29"]]
breakdowns = {L = 1}          # AGE.L is AGE cut at depth 1; AGE itself has all depths

[topics.GEO]
hierarchy = "areas.csv"       # columns code, parent, label (or label.en, label.fr, ..); commas or semicolons

[topics.EDU]
size = 11                     # if only the number of categories is known, or sizes = [3, 11]

[columns]
AGE = "age_group"             # the data column with the finest codes; default: the name of the topic

[[tables]]
id = "1"
columns = ["GEO", "SEX", "AGE.L"]
unit = "persons"              # default: persons
universe = "EMP = 1"          # default: all records
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import ProgrammeError, ProgrammeFileError, UnknownNameError
from discreet.limits import bounded_toml, read_named
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.eu2021.census import census_named, countries, grid
from discreet.programme.model import Breakdown, Programme, Table, Topic, levels_by_depth
from discreet.programme.regions import csv_rows
from discreet.programme.sdmx_definition import programme_from_dsd
from discreet.programme.universe import narrowed_universe, universe_of

if TYPE_CHECKING:
    from collections.abc import Callable


KEYS = {
    "file": ("name", "notes", "areas", "topics", "columns", "tables"),
    "topic": ("label", "categories", "hierarchy", "size", "sizes", "breakdowns"),
    "table": ("id", "columns", "unit", "universe", "count"),
}


def read_programme(path: Path) -> Programme:
    """Return the programme of a TOML file."""
    try:
        text = read_named(path).decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise ProgrammeFileError.at(path, None, f"cannot be read: {error.strerror}.", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise ProgrammeFileError.at(path, None, "is not text in UTF-8.", "Save it as UTF-8.") from error
    try:
        content = bounded_toml(text, path)
    except tomllib.TOMLDecodeError as error:
        raise ProgrammeFileError.at(path, None, f"is not TOML: {error}.", "Correct the line.") from error
    return _Reader(path, text, content).programme()


@dataclass(frozen=True)
class _Reader:
    """The reader of one file: its path and text for messages, its content for the programme."""

    path: Path
    text: str
    content: dict[str, Any]

    def programme(self) -> Programme:
        self._check_keys("file", self.content, None)
        ids = [str(table.get("id", number)) for number, table in enumerate(self._tables, start=1)]
        try:
            tables = tuple(self._table(name, table) for name, table in zip(ids, self._tables, strict=True))
            notes = self._texts("notes", self.content.get("notes", []))
            name = str(self.content.get("name", self.path.stem))
            found = Programme(name, self.topics, tables, tuple(notes), self._areas)
        except ProgrammeError as error:
            raise self.error(error.topic, str(error), "") from error
        self._check_universes(found)
        return found

    @property
    def _areas(self) -> str | None:
        areas = self.content.get("areas")
        if areas is not None and not isinstance(areas, str):
            raise self.error("areas", "areas must be the name of a topic.", 'Write areas = "TOPIC".')
        return areas

    @property
    def _tables(self) -> list[dict[str, Any]]:
        tables = self.content.get("tables", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.error("tables", "tables must be written as [[tables]].", "Start every table with [[tables]].")
        return tables

    @cached_property
    def topics(self) -> dict[str, Topic]:
        """Return the topics by name."""
        entries = self.content.get("topics", {})
        if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
            raise self.error("topics", "topics must be written as [topics.NAME].", "Give every topic its own heading.")
        columns = self.content.get("columns", {})
        if not isinstance(columns, dict) or not all(isinstance(column, str) for column in columns.values()):
            raise self.error("columns", "[columns] must bind topics to columns by name.", 'Write TOPIC = "column".')
        self._known_names("topic", columns, entries)
        try:
            found = {name: self._topic(name, entry) for name, entry in entries.items()}
            return found | {name: _zero_or_one(name) for name in self._counted if name not in found}
        except ProgrammeError as error:
            raise self.error(error.topic, str(error), "") from error

    @property
    def _counted(self) -> list[str]:
        """Return the columns of 0 and 1 that tables name as `count`."""
        named = [table["count"] for table in self._tables if isinstance(table.get("count"), str)]
        return list(dict.fromkeys(name for name in named if name))

    def _topic(self, name: str, entry: dict[str, Any]) -> Topic:
        self._check_keys("topic", entry, name)
        given = [key for key in ("categories", "hierarchy", "size", "sizes") if key in entry]
        if len(given) > 1:
            raise self.error(name, f"topic {name} has {' and '.join(given)}.", "Keep one of them.")
        column = self.content.get("columns", {}).get(name)
        labels = _labels(entry.get("label"))
        sizes = entry.get("sizes", [entry["size"]] if "size" in entry else None)
        if sizes is not None and not (isinstance(sizes, list) and all(type(size) is int for size in sizes)):
            raise self.error(name, f"topic {name}: size must be a whole number.", "Correct it.")
        tree = self._tree(name, entry) if sizes is None else None
        # A level has the name of a breakdown of which it is the finest level.
        named = {depth: f"{name}.{short}" for short, depth in self._cuts(name).items()}
        levels = levels_by_depth(name, tree.cuts if tree else sizes or (), named)
        return Topic(name, levels, tree, labels, column)

    def _cuts(self, topic: str) -> dict[str, int]:
        cuts = self.content["topics"].get(topic, {}).get("breakdowns", {})
        if not isinstance(cuts, dict) or not all(type(depth) is int and depth > 0 for depth in cuts.values()):
            raise self.error(
                topic, f"topic {topic}: breakdowns must be like {{L = 1}}.", "Give each a depth from 1 on."
            )
        return cuts

    def _tree(self, name: str, entry: dict[str, Any]) -> CategoryTree:
        if "categories" in entry:
            codes = self._texts(name, entry["categories"], f"topic {name}: categories")
            return CategoryTree(name, tuple(Category(code) for code in codes))
        hierarchy = entry.get("hierarchy")
        if isinstance(hierarchy, str):
            return CategoryTree(name, self._from_csv(name, hierarchy))
        if not isinstance(hierarchy, list):
            what = f"topic {name} does not define its categories."
            raise self.error(name, what, 'Add categories = [..], hierarchy = [..] or "file.csv", or size = n.')
        found = []
        for line in hierarchy:
            if not isinstance(line, list) or not 1 <= len(line) <= 3 or not _is_category(*line):
                raise self.error(
                    name, f"topic {name}: a line of its hierarchy is not [code, parent, label].", "Correct it."
                )
            code, parent, label = [*line, "", ""][:3]
            found.append(Category(code, parent, _labels(label)))
        return CategoryTree(name, tuple(found))

    def _from_csv(self, name: str, file: str) -> tuple[Category, ...]:
        path = self.path.parent / file
        if not path.is_file():
            what = f"topic {name}: {file} cannot be read: No such file or directory."
            raise self.error(file, what, "The path is relative to the programme.")
        rows = csv_rows(path, "Check its quotes.")
        if rows and not {"code", "parent"} <= set(rows[0]):
            raise ProgrammeFileError.at(path, 1, "needs the columns code, parent and label.", "Add the missing one.")
        found = []
        for number, row in enumerate(rows, start=2):
            if None in row or row["parent"] is None:
                what = "has a different number of fields from the header."
                raise ProgrammeFileError.at(path, number, what, "Complete the line, or quote its commas.")
            labels = {
                key.partition(".")[2] or "en": text for key, text in row.items() if key.startswith("label") and text
            }
            found.append(Category(row["code"], row["parent"] or "", labels))
        return tuple(found)

    def _table(self, name: str, entry: dict[str, Any]) -> Table:
        self._check_keys("table", entry, name)
        columns = self._texts(f'"{name}"', entry.get("columns", []), f"table {name}: columns")
        if not columns:
            raise self.error(f'"{name}"', f"table {name} has no columns.", 'Add columns = ["..", ".."].')
        for key in ("unit", "universe", "count"):
            if not isinstance(entry.get(key, ""), str):
                raise self.error(f'"{name}"', f"table {name}: {key} must be text.", "Put it in quotes.")
        self._known_names("breakdown", columns, self.breakdowns, f"table {name} uses ")
        unit, universe = str(entry.get("unit", "persons")), entry.get("universe")
        if counted := entry.get("count"):
            self._check_counted(name, counted)
            condition = f'"{counted}" = 1'
            universe = narrowed_universe(universe, condition)
        return Table(name, tuple(self.breakdowns[code] for code in columns), unit, universe)

    def _check_universes(self, programme: Programme) -> None:
        for table, entry in zip(programme.tables, self._tables, strict=True):
            try:
                universe_of(programme, table)
            except (ProgrammeError, UnknownNameError) as error:
                line = self._line(str(entry["universe"])) or self._line(f'"{table.id}"')
                raise ProgrammeFileError.at(self.path, line, str(error), "") from error

    def _check_counted(self, table: str, column: str) -> None:
        """Raise an error for a counted topic unless its codes are 0 and 1."""
        codes = self.topics[column].levels[-1].codes
        if set(codes or ()) != {"0", "1"}:
            what = f"table {table} counts {column}, which is a topic with codes other than 0 and 1."
            raise self.error(f'"{table}"', what, "Name a column of 0 and 1, or write a universe.")

    @cached_property
    def breakdowns(self) -> dict[str, Breakdown]:
        """Return a breakdown per topic with all its levels, and those that end at a depth."""
        found = {}
        for name, topic in self.topics.items():
            found[name] = Breakdown(name, name, topic.levels)
            for short, depth in self._cuts(name).items():
                code = f"{name}.{short}"
                if code in self.topics or depth > len(topic.levels):
                    what = f"breakdown {code} is also a topic, or has depth {depth} of {len(topic.levels)}."
                    raise self.error(name, what, "Choose another name or depth.")
                found[code] = Breakdown(code, name, topic.levels[:depth])
        return found

    def _check_keys(self, kind: str, entry: dict[str, Any], name: str | None) -> None:
        self._known_names("key", entry, KEYS[kind], f"{kind} {name} has " if name else "")

    def _known_names(self, kind: str, used: Any, known: Any, owner: str = "") -> None:  # noqa: ANN401 - from TOML
        for name in used:
            if name not in known:
                near = difflib.get_close_matches(str(name), list(known), n=2, cutoff=0.5)
                hint = f"Did you mean {' or '.join(near)}?" if near else f"Available: {', '.join(known) or 'none'}."
                raise self.error(str(name), f"{owner}the unknown {kind} {name!r}.", hint)

    def _texts(self, needle: str, given: object, owner: str = "") -> list[str]:
        """Return a list of texts, or raise an error; whole numbers become text."""
        owner = owner or needle
        if not isinstance(given, list) or not all(isinstance(x, str) or type(x) is int for x in given):
            raise self.error(needle, f"{owner} must be a list of texts.", 'Write ["..", ".."].')
        return [str(x) for x in given]

    def error(self, needle: str, what: str, todo: str) -> ProgrammeFileError:
        """Return the error for the line that contains a word."""
        return ProgrammeFileError.at(self.path, self._line(needle), what, todo)

    def _line(self, needle: str) -> int | None:
        """Return the number of the first line that contains a word; None if no line does."""
        if not needle:
            return None
        lines = [(number, line.partition("#")[0]) for number, line in enumerate(self.text.splitlines(), start=1)]
        # The heading of a topic or the id of a table first; other lines may contain the name too.
        for sought in (f"[topics.{needle}]", f"id = {needle}", f'"{needle}"', needle):
            for number, line in lines:
                if sought in line:
                    return number
        return None


def _zero_or_one(name: str) -> Topic:
    """Return the topic of a 0/1 variable that marks the counted records."""
    tree = CategoryTree(name, (Category("0"), Category("1")))
    return Topic(name, levels_by_depth(name, tree.cuts), tree)


def _is_category(code: object, parent: object = "", label: object = "") -> bool:
    """Return whether the arguments are a code, its parent, and a label or labels by language."""
    texts = label.values() if isinstance(label, dict) else [label]
    return all(isinstance(each, str) for each in (code, parent, *texts))


def _labels(label: Any) -> dict[str, str]:  # noqa: ANN401 - from TOML
    if isinstance(label, dict):
        return {str(language): str(text) for language, text in label.items()}
    return {"en": str(label)} if label else {}


SHIPPED: dict[str, Callable[[str], Programme]] = {"eu2021": census_named, "grid2021": grid}
"""Programmes of the package, by prefix; the text after the colon starts with a country."""


def load_programme(spec: str | Path) -> Programme:
    """Return a programme from `eu2021:LU` (a programme of the package for a country) or from the path of a TOML file.

    The prefix `sdmx:` reads a data structure definition in SDMX-ML: `sdmx:town.xml`.
    Other vintages of the areas: `eu2021:LU:nuts2016:lau2010`. Grid: `grid2021:LU:2500` with the number of its cells.

    >>> len(load_programme("eu2021:LU").tables)
    119
    """
    prefix, colon, country = str(spec).partition(":")
    # A single letter before the colon is a drive.
    if colon and len(prefix) > 1 and not Path(spec).exists():
        if prefix == "sdmx":
            return programme_from_dsd(country)
        if prefix not in SHIPPED:
            raise UnknownNameError.among("shipped programme", prefix, [*SHIPPED, "sdmx"])
        code = country.partition(":")[0]
        if code not in countries():
            raise UnknownNameError.among(f"country for {prefix}", code, countries())
        return SHIPPED[prefix](country)
    return read_programme(Path(spec))
