"""A table laid out: its statistics cell by cell, and totals against the sums of their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.tabulation.cell_vector import layouts
from discreet.tabulation.table_grid import population_grids
from tests.attacks.scenes import HAMLET, area, town_release
from tests.quick import up_to
from tests.tabulation.one_table import table_grid
from tests.tabulation.small_data import programmes

if TYPE_CHECKING:
    from discreet.engines.engine import Engine
    from discreet.programme.model import Programme
    from discreet.tabulation.table_grid import LevelSum, TableGrid


def gap_by_hand(made: Programme, grid: TableGrid, fold: LevelSum, values: np.ndarray, place: tuple[int, ...]) -> int:
    """Return one total minus its parts: those codes of the fine level whose areas lie within that of the total."""
    column, topic = grid.columns[fold.column], grid.columns[fold.column].topic
    coarse = fold.coarse[place[fold.column]]
    whole = area(made, topic, column.codes[coarse])
    found = 0
    for fine in fold.fine.tolist():
        if area(made, topic, column.codes[fine]) <= whole:
            found += values[(*place[: fold.column], fine, *place[fold.column + 1 :])]
    return int(values[(*place[: fold.column], coarse, *place[fold.column + 1 :])] - found)


@given(programmes(shuffled=True), st.integers(0, 10**6))
@settings(max_examples=up_to(60))
def test_gaps_are_totals_minus_the_sums_of_their_parts(made: Programme, seed: int) -> None:
    random = np.random.default_rng(seed)
    for tables in made.populations.values():
        for grid in population_grids(made, tables):
            values = random.integers(0, 9, [len(column.codes) for column in grid.columns])
            for fold in grid.folds:
                gaps = grid.gaps(fold, values)
                for place in random.permutation(list(np.ndindex(gaps.shape)))[:5]:
                    where = tuple(place.tolist())
                    assert gaps[where] == gap_by_hand(made, grid, fold, values, where)


def test_true_tables_add_up_along_every_column(engine: Engine) -> None:
    release = town_release(engine=engine)
    folds = 0
    for table in release.programme.tables:
        grid = table_grid(release.programme, table.id)
        true, published = (grid.lay_out(rows) for rows in (release.exact(table.id), release.table(table.id)))
        for fold in grid.folds:
            folds += 1
            assert not grid.gaps(fold, true).any()
        assert any(grid.gaps(fold, published).any() for fold in grid.folds)
    assert folds > len(release.programme.tables)


def test_statistics_have_the_names_of_the_lattice() -> None:
    (layout,) = layouts(HAMLET, spsn=True).values()
    found = {grid.name(choice) for grid in population_grids(HAMLET, HAMLET.tables) for choice in grid.choices}
    assert found == set(layout.names)


def test_a_cell_is_told_by_its_codes() -> None:
    grid = table_grid(HAMLET, "1")
    geo, sex = grid.columns
    assert grid.words((geo.codes.index("n1"), sex.codes.index("F"))) == "GEO n1, SEX F"
    assert grid.words((geo.codes.index("_T"), sex.codes.index("M"))) == "SEX M"
    assert grid.words((0, 0)) == "the total"


def test_cells_that_the_universe_leaves_empty_are_none(engine: Engine) -> None:
    """In the town's tables of those of age Y2 who are not in employment 3, other ages and that code hold nobody."""
    release = town_release(engine=engine)
    (population,) = (name for name in release.programme.populations if "Y2" in name)
    restricted = 0
    for grid in population_grids(release.programme, release.programme.of(population)):
        for choice in grid.choices:
            own = grid.own(choice)
            for place, number in enumerate(choice.kept):
                column = grid.columns[number]
                mask = np.asarray(own.any(axis=tuple(other for other in range(own.ndim) if other != place)))
                codes = [column.codes[label] for label in choice.levels[number].labels.tolist()]
                gone = {code for code, there in zip(codes, mask.tolist(), strict=True) if not there}
                if column.topic == "EMP":
                    assert "3" in gone or "3" not in codes
                    restricted += 1
                elif column.topic != "AGE":
                    fresh = choice.levels[number].fresh
                    assert mask.all() or fresh is not None
    assert restricted
