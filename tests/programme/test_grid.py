"""The census grid: no total over the grid, a number of cells to be given."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError
from discreet.programme.lattice import lattice
from discreet.programme.programme_files import load_programme
from tests.each import each


def test_the_grid_has_no_total() -> None:
    made = load_programme("grid2021:DE:360000")
    found = lattice(made)
    published = [name for name, shown in zip(found.names(), found.published, strict=True) if shown]
    assert sorted(published) == ["AGE.G GRID", "GRID", "GRID POB.G", "GRID ROY.G", "GRID SEX"]
    # One triple of women, men and total per grid cell.
    sex = found.position("GRID SEX")
    assert found.cells[sex] / 2 == 360_000
    assert list(made.populations) == ["persons", "persons where EMP = 1"]


@each("spec", ["grid2021:DE", "grid2021:DE:", "grid2021:DE:many", "grid2021:DE:0"])
def test_the_number_of_cells_must_be_given(spec: str) -> None:
    with pytest.raises(ParameterError, match="as in grid2021:DE:360000"):
        load_programme(spec)
