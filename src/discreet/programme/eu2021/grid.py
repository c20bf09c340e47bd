"""The 2021 census on the European 1 km2 grid, Commission Implementing Regulation (EU) 2018/1799.

Per grid cell: the total, sex, age in three groups, employed persons, place of birth and
place of residence one year before in three groups each. The grid is not crossed with
administrative areas and has no total of its own. The number of populated cells is not in
the regulation: it is given with the country, as in `grid2021:DE:360000`.
"""

from __future__ import annotations

from discreet.errors import ParameterError
from discreet.programme.eu2021.census import countries
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic

TOPICS = {
    "SEX": ("Sex", ("male", "female")),
    "AGE.G": ("Age", ("under 15", "15 to 64", "65 and over")),
    "POB.G": ("Place of birth", ("reporting country", "other EU Member State", "elsewhere")),
    "ROY.G": (
        "Residence one year before",
        ("unchanged", "moved within the reporting country", "moved from outside it"),
    ),
}
"""Topics of the grid with the categories of the regulation's annex, in short."""


def grid(country: str) -> Programme:
    """Return the grid programme of `DE:360000`: a country and its number of populated cells."""
    code, _, cells = country.partition(":")
    if not (cells.isascii() and cells.isdecimal()) or int(cells) < 1:
        raise ParameterError(
            f"grid2021:{country} does not say how many populated grid cells there are. "
            f"Write it after the country, as in grid2021:{code or 'DE'}:360000.",
            parameter="cells",
        )
    squares = Level("GRID", "GRID", int(cells))
    # Without a total: nothing is published for the grid as a whole.
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
    note = "Numbers of grid cells are those given; the grid has no total and no overlap with administrative areas."
    return Programme(f"{countries()[code]['name']}, EU census grid 2021", topics, tuple(tables), (note,))
