"""Pictures and sentences of a p-table on the terminal."""

from __future__ import annotations

import pytest

from discreet.cli.ptable import FIGURES, MOST_ROWS, WIDEST_PICTURE, describe, picture, table
from discreet.noise.ptable import PTable


def test_a_picture_has_one_bar_per_noise_and_blanks_where_nothing_happens() -> None:
    row = PTable.max_entropy(variance=2, bound=5).rows[1]
    drawn = picture(row, 5)
    assert len(drawn) == 11
    assert drawn[:4] == "    "
    assert drawn[4] == "█"
    assert " " not in drawn[4:]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_wide_picture_is_joined_to_bins_of_equal_meaning(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    row = PTable.max_entropy(variance=1e4, bound=100, equality=False).rows[-1]
    assert len(picture(row, 100)) == min(WIDEST_PICTURE, columns - FIGURES)
    # Nearly uniform noise: bins of four and of five values must not look different.
    assert set(picture(row, 100)) == {"█"}


def test_a_long_table_shows_its_first_rows_and_its_last() -> None:
    lines = table(PTable.max_entropy(variance=4, bound=40)).splitlines()
    assert len(lines) <= MOST_ROWS + 2
    assert lines[-1].split()[0] == "40+"
    assert "rows)" in lines[-2]


def test_settings_are_described() -> None:
    made = PTable.max_entropy(variance=3, bound=5, threshold=2, equality=False)
    assert describe(made).startswith(
        "p-table: variance up to 3, bound ±5, no published 1 to 2, empty cells stay 0. 9 rows"
    )
    zeros = PTable.least_disclosure(variance=3, bound=5, equality=True, perturb_zeros=True)
    assert "variance exactly 3" in describe(zeros)
    assert "empty cells have noise, objective least-disclosure" in describe(zeros)
