"""Cells: LAUs of one piece, dense in the middle and thin outside, cut by the grid at their borders."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from discreet.programme.eu2021.census import countries
from discreet.synthetic.random_choice import Draws
from discreet.synthetic.residence import LAND, PER_ROW, Grid, names
from discreet.synthetic.synthetic_census import SyntheticCensus
from tests.each import each
from tests.synthetic.sample import persons

REAL_SIZE = 626_108
"""Residents of Luxembourg."""


@cache
def cells(country: str = "LU", number: int = REAL_SIZE, seed: int = 1) -> pd.DataFrame:
    made = SyntheticCensus(country, number, seed)
    blocks = [made.block(place) for place in range(made.blocks)]
    cell = np.concatenate([block.cell for block in blocks])
    return pd.DataFrame({"cell": cell, "area": np.concatenate([block.topics["GEO"] for block in blocks])})


def everywhere(residents: int = 40_000) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the cells of many households in the town of the middle one of three LAUs."""
    grid = Grid(np.full(3, residents), Draws("grid"))
    return grid.cells(np.ones(40_001, np.uint16), np.zeros(40_001, np.uint8), np.linspace(-1, 1, 40_001))


def test_names_are_those_of_inspire() -> None:
    assert names([32104321]) == ["CRS3035RES1000mN3210000E4321000"]
    assert persons().GRID.str.fullmatch(r"CRS3035RES1000mN\d{4}000E\d{4}000").all()


@pytest.mark.slow
@each("country", [country for country in countries() if country != "EL"])
def test_every_country_has_room(country: str) -> None:
    made = SyntheticCensus(country, 3000, seed=5)
    cell = made.block(0).cell
    for kilometres in (cell // PER_ROW, cell % PER_ROW):
        assert kilometres.min() >= 1000
        assert kilometres.max() < 6000


def test_the_town_is_dense_in_its_middle_and_thin_outside() -> None:
    found, counts = np.unique(everywhere(), return_counts=True)
    assert len(found) == pytest.approx(LAND * 200, rel=0.4)
    order = np.sort(counts)[::-1] / counts.sum()
    tenth, half = len(order) // 10, len(order) // 2
    assert order[:tenth].sum() > 0.5
    assert order[half:].sum() < 0.1


def test_it_falls_off_from_the_middle() -> None:
    found = everywhere()
    middle = found[len(found) // 2]
    away = np.hypot(found // PER_ROW - middle // PER_ROW, found % PER_ROW - middle % PER_ROW)
    offset = abs(np.linspace(-1, 1, len(found)))
    assert away[offset < 0.5].max() < 4
    assert away[offset > 0.99].mean() > 2 * away[offset < 0.8].mean()


def test_the_land_of_a_lau_is_of_one_piece() -> None:
    found = np.unique(everywhere())
    corners = set(found.tolist())
    reached, waiting = set(), [int(found[0])]
    while waiting:
        cell = waiting.pop()
        if cell in corners and cell not in reached:
            reached.add(cell)
            waiting += [cell + north * PER_ROW + east for north in (-1, 0, 1) for east in (-1, 0, 1)]
    assert reached == corners


def test_few_cells_are_dense_and_many_have_a_handful() -> None:
    counts = np.sort(cells().groupby("cell").size().to_numpy())[::-1]
    assert 3000 < len(counts) < 4500
    assert counts[: len(counts) // 10].sum() > 0.55 * REAL_SIZE
    assert counts[len(counts) // 2 :].sum() < 0.08 * REAL_SIZE
    assert (counts < 10).mean() > 0.1


def test_borders_cut_cells_and_most_cells_are_whole() -> None:
    areas = cells().drop_duplicates().groupby("cell").size()
    assert 0.15 < (areas > 1).mean() < 0.4


def test_households_of_a_neighbour_are_few_in_a_cell_that_is_shared() -> None:
    # What a difference of grid and municipalities would show: cells in which only a few are of another LAU.
    both = cells().groupby(["cell", "area"]).size()
    shared = both[both.groupby("cell").transform("size") > 1]
    assert (shared < 10).mean() > 0.1


def test_the_grid_lies_otherwise_for_another_seed() -> None:
    one, other = (cells(number=65_536, seed=seed).groupby("cell").size() for seed in (1, 2))
    assert not one.index.equals(other.index)
