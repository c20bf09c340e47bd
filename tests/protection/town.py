"""A made-up town for the tests of mechanisms: its programme, its people, and tables by cell."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tests.tabulation.small_data import by, codes_of, in_universe, programme, topic, without_levels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from discreet.programme.model import Programme, Table, Topic
    from discreet.release.release import Release
    from tests.tabulation.small_data import Cell, Record

SECRET = b"a secret for the tests only"

# One country of one region: both are the total. Of the three districts the first has a single village.
GEO = topic(
    "GEO",
    {
        "LU": "",
        "LU0": "LU",
        "d1": "LU0",
        "d2": "LU0",
        "d3": "LU0",
        "v10": "d1",
        "v20": "d2",
        "v21": "d2",
        "v30": "d3",
        "v31": "d3",
        "v32": "d3",
    },
)
AGE = topic("AGE", {"Y": "", "O": "", "Y1": "Y", "Y2": "Y"})
SEX = topic("SEX", "F M")
EMP = topic("EMP", "1 2 3")
TOPICS = [GEO, AGE, SEX, EMP]
TOWN = programme(
    TOPICS,
    [by(GEO), by(AGE), by(SEX)],
    [by(SEX), by(GEO, 3, 3)],
    [by(AGE), by(EMP, total=False)],
    [by(GEO, 4), by(SEX)],
    [by(EMP), by(SEX)],
    universes=[None, None, None, "AGE = Y2 and EMP != 3", "AGE = Y2 and EMP != 3"],
)


def people(size: int, seed: int = 1) -> pa.Table:
    """Return records with an id and a code per topic; some villages have few."""
    random = np.random.default_rng(seed)
    columns = {"ID": [f"person {number}" for number in range(size)]}
    for given in TOPICS:
        codes = given.levels[-1].codes or ()
        share = np.geomspace(1, 0.05, len(codes))
        columns[given.name] = random.choice(codes, size, p=share / share.sum()).tolist()
    return pa.table(columns)


def squares(size: int, *, names: str = "XY") -> list[Topic]:
    """Return topics of `size` categories each, for tables of many cells."""
    return [topic(name, " ".join(f"{name}{number}" for number in range(size))) for name in names]


def cells(table: pa.Table) -> dict[Cell, int]:
    """Return the rows of a table as a dictionary, and refuse a cell that stands there twice."""
    columns = [column.to_pylist() for column in without_levels(table).columns]
    rows = list(zip(*columns[:-1], strict=True)) or [()] * len(columns[-1])
    assert len(set(rows)) == len(rows)
    return dict(zip(rows, columns[-1], strict=True))


def all_cells(release: Release) -> dict[tuple[str, Cell], int]:
    """Return the cells of all tables that have a row."""
    return {(name, cell): value for name in release.ids for cell, value in cells(release.table(name)).items()}


def listed(table: Table) -> Iterator[Cell]:
    """Give every cell of a table, empty ones too."""
    codes: list[list[str]] = []
    for breakdown in table.breakdowns:
        total = ["_T"] if breakdown.total or not breakdown.levels else []
        codes.append(list(dict.fromkeys([*total, *(c for level in breakdown.levels for c in level.codes or ())])))
    yield from product(*codes)


def participants(spec: Programme, table: Table, records: Sequence[Record]) -> dict[Cell, frozenset[int]]:
    """Return who is counted in every cell of a table, by number."""
    found: dict[Cell, set[int]] = {cell: set() for cell in listed(table)}
    for number, record in enumerate(records):
        if in_universe(spec, table, record):
            for cell in product(*(codes_of(spec, b, record[b.topic]) for b in table.breakdowns)):
                found[cell].add(number)
    return {cell: frozenset(numbers) for cell, numbers in found.items()}


def frame(spec: Programme, records: Sequence[Record], **more: Sequence[object]) -> pa.Table:
    """Return records as a table, with a column per topic."""
    columns: Mapping[str, Sequence[object]] = {name: [record[name] for record in records] for name in spec.topics}
    return pa.table({**columns, **more})
