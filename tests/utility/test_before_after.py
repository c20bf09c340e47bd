"""A small table before and after, and its totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.errors import UnknownNameError
from discreet.utility.before_after import BeforeAfter, Cell, before_after, place_of_size
from tests.utility.small_release import small_release

if TYPE_CHECKING:
    from pathlib import Path


def test_true_counts_are_those_of_the_people(tmp_path: Path) -> None:
    found = before_after(small_release(tmp_path), "1", place=("AREA", "north"), rows="AGE", columns="SEX")
    assert found.rows == ("Young", "Old", "total")
    assert found.columns == ("f", "m", "total")
    assert [[cell.true for cell in row] for row in found.cells] == [[0, 9, 9], [20, 0, 20], [20, 9, 29]]
    assert found.total.true == 29


def test_published_counts_and_sums_are_those_of_the_release(tmp_path: Path) -> None:
    release = small_release(tmp_path)
    found = before_after(release, "1", place=("AREA", "north"), rows="AGE", columns="SEX")
    rows = {tuple(list(row.values())[:-1]): row["value"] for row in release.table("1").to_pylist()}
    for row, code in zip(found.cells, ("young", "old", "_T"), strict=True):
        assert [cell.published for cell in row] == [rows.get(("north", code, sex), 0) for sex in ("f", "m", "_T")]
        assert row[-1].across == row[0].published + row[1].published
    for place, cell in enumerate(found.cells[-1]):
        assert cell.down == found.cells[0][place].published + found.cells[1][place].published
    assert len(found.totals) == 5
    # Same people, same noise: those of the north who are young are its men.
    assert found.cells[0][1].published == found.cells[0][2].published == found.cells[2][1].published


def test_totals_that_do_not_add_up_are_told_apart() -> None:
    cells = (
        (Cell(1, 2), Cell(3, 3, across=2)),
        (Cell(4, 5, down=5), Cell(6, 6, across=6, down=7)),
    )
    found = BeforeAfter("1", "here", ("age", "sex"), ("a", "total"), ("b", "total"), cells)
    assert [cell.apart for cell in found.totals] == [True, False, True]
    assert found.apart == 2


@pytest.mark.parametrize(("size", "place"), [(12, "south"), (16, "north"), (2, "south"), (0, "west")])
def test_the_place_nearest_to_a_size_is_taken(tmp_path: Path, size: int, place: str) -> None:
    assert place_of_size(small_release(tmp_path), "1", "AREA", size) == place


def test_names_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    release = small_release(tmp_path)
    with pytest.raises(UnknownNameError, match="breakdown of table 1"):
        place_of_size(release, "1", "COLOUR", 12)
    with pytest.raises(UnknownNameError, match="table of the release"):
        before_after(release, "9", place=("AREA", "north"), rows="AGE", columns="SEX")
