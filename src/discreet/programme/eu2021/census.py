"""The table programme of the 2021 EU census for one country, and its 1 km2 grid.

Tables are those of Regulation (EU) 2017/712 and breakdowns those of 2017/543. Levels follow the code trees: every depth
of a breakdown's tree is a level, and equal partitions of several breakdowns are one level. Areas are those of NUTS 2021
and LAU 2020 by default.

The grid is that of Commission Implementing Regulation (EU) 2018/1799. It publishes for every grid cell the total, sex,
age in three groups, employed persons, place of birth and place of residence one year before in three groups each. It is
not crossed with administrative areas and has no grand total. The regulation does not give the number of populated
cells. It is given with the country, as in `grid2021:DE:360000`.
"""

from __future__ import annotations

import csv
import gzip
import io
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from discreet.errors import ParameterError, UnknownNameError
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.eu2021.country_areas import CountryAreas, areas_of
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic

UNITS = {"total population": "persons"}
"""Names of units that differ from the regulation; the others (private households, families, ..) are the same."""


def census(country: str, *, nuts: int = 2021, lau: int = 2020) -> Programme:
    """Return the programme of one country by its two-letter Eurostat code (EL for Greece)."""
    known = countries()
    if country not in known:
        raise UnknownNameError.among("country in the EU census programme", country, known)
    areas = areas_of(country, known[country], nuts=nuts, lau=lau)
    topics = _topics(areas)
    breakdowns = _breakdowns(topics, areas)
    tables = tuple(
        Table(
            entry["id"],
            # "A|B" means A, or B if A is not available; A is used here.
            tuple(breakdowns[code.split("|")[0]] for code in entry["breakdowns"]),
            UNITS.get(entry["unit"], entry["unit"]),
        )
        for entry in _toml("programme.toml")["table"]
    )
    used = {breakdown.topic for table in tables for breakdown in table.breakdowns}
    name = f"{known[country]['name']}, EU census 2021"
    return Programme(name, {topic: topics[topic] for topic in topics if topic in used}, tables, areas.notes)


def census_named(name: str) -> Programme:
    """Return the programme of `LU`, or of `LU:nuts2016:lau2010` with other vintages of its areas."""
    country, *vintages = name.split(":")
    asked = {}
    for vintage in vintages:
        kind, year = vintage.rstrip("0123456789"), vintage.lstrip("abcdefghijklmnopqrstuvwxyz")
        if kind not in {"nuts", "lau"} or not year.isdigit():
            raise UnknownNameError.among("vintage of areas", vintage, ["nuts2016", "lau2018", "lau2010"])
        asked[kind] = int(year)
    return census(country, **asked)


@cache
def countries() -> dict[str, dict[str, str]]:
    """Return the rows of the geography by country code."""
    return {row["country"]: row for row in csv.DictReader(io.StringIO(_text("geography.csv")))}


def member_states() -> list[str]:
    """Return the codes of the 27 Member States."""
    return [code for code, row in countries().items() if row["eu27"] == "yes"]


@cache
def _text(name: str) -> str:
    data = files("discreet.programme.eu2021").joinpath(name).read_bytes()
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode()


@cache
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads(_text(name))


@dataclass(frozen=True)
class _Source:
    """One topic of the regulation: its breakdowns with their trees, coarse to fine."""

    name: str
    label: str
    breakdowns: dict[str, CategoryTree]

    @property
    def tree(self) -> CategoryTree:
        """Return the tree that joins the trees of all breakdowns."""
        joined = {c.code: c for tree in self.breakdowns.values() for c in tree.categories}
        return CategoryTree(self.name, tuple(joined.values()))


@cache
def _sources() -> dict[str, _Source]:
    """Return the topics whose categories do not depend on geography."""
    found: dict[str, _Source] = {}
    for entry in _toml("breakdowns.toml")["breakdown"]:
        topic = entry["code"].split(".")[0]
        if entry["geographic"]:
            continue
        source = found.setdefault(topic, _Source(topic, entry["topic"], {}))
        categories = tuple(Category(code, parent, {"en": label}) for code, parent, label in entry["categories"])
        source.breakdowns[entry["code"]] = CategoryTree(topic, categories)
    return found


def _topics(areas: CountryAreas) -> dict[str, Topic]:
    """Return all topics of the programme; the place of work depends on the country's regions."""
    found = {}
    for name, source in _sources().items():
        if name != "LPW":
            found[name] = Topic(name, _levels(source), source.tree, {"en": source.label})
    return found | areas.topics()


@cache
def _level_codes(name: str) -> dict[tuple[str, ...], str]:
    """Return the categories of every level of a topic with the name of the level.

    A level has the name of the breakdown whose finest level it is. Otherwise its name
    consists of the first breakdown that contains it and its depth there.
    """
    named: dict[tuple[str, ...], str] = {}
    for code, tree in _sources()[name].breakdowns.items():
        for depth, cut in enumerate(tree.cuts, start=1):
            finest = depth == tree.depth
            if cut not in named or (finest and ":" in named[cut]):
                named[cut] = code if finest else f"{code}:{depth}"
    return dict(sorted(named.items(), key=lambda item: len(item[0])))


def _levels(source: _Source) -> tuple[Level, ...]:
    return tuple(Level(source.name, name, len(codes), codes) for codes, name in _level_codes(source.name).items())


def _breakdowns(topics: dict[str, Topic], areas: CountryAreas) -> dict[str, Breakdown]:
    found = areas.breakdowns()
    for name, source in _sources().items():
        if name == "LPW":
            continue
        for code, tree in source.breakdowns.items():
            levels = tuple(level for level in topics[name].levels if level.codes in tree.cuts)
            found[code] = Breakdown(code, name, levels)
    return found


TOPICS = {
    "SEX": ("Sex", ("male", "female")),
    "AGE.G": ("Age", ("under 15", "15 to 64", "65 and over")),
    "POB.G": ("Place of birth", ("reporting country", "other EU Member State", "elsewhere")),
    "ROY.G": (
        "Residence one year before",
        ("unchanged", "moved within the reporting country", "moved from outside it"),
    ),
}
"""Topics of the grid with the categories of the regulation's annex, abbreviated."""


def grid(country: str) -> Programme:
    """Return the grid programme of `DE:360000`: a country and its number of populated cells."""
    code, _, cells = country.partition(":")
    if not (cells.isascii() and cells.isdecimal()) or int(cells) < 1:
        raise ParameterError(
            f"grid2021:{country} does not give the number of populated grid cells. "
            f"Add it after the country, as in grid2021:{code or 'DE'}:360000.",
            parameter="cells",
        )
    squares = Level("GRID", "GRID", int(cells))
    # No total: the grid as a whole is not published.
    by_square = Breakdown("GRID", "GRID", (squares,), total=False)
    topics = {"GRID": Topic("GRID", (squares,), None, {"en": "1 km2 grid cell"})}
    tables = []
    for name, (label, categories) in TOPICS.items():
        level = Level(name, name, len(categories), categories)
        topics[name] = Topic(name, (level,), None, {"en": label})
        tables.append(Table(name.lower(), (by_square, Breakdown(name, name, (level,)))))
    working = Level("EMP", "EMP", 2, ("0", "1"))
    topics["EMP"] = Topic("EMP", (working,), None, {"en": "Employed persons"})
    tables.append(Table("employed", (by_square,), universe="EMP = 1"))
    note = "The number of grid cells is the given one; the grid has no total and no overlap with administrative areas."
    return Programme(f"{countries()[code]['name']}, EU census grid 2021", topics, tuple(tables), (note,))
