"""The noise of a release, against a comparison cell by cell."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from discreet.errors import ReleaseError, UnknownNameError
from discreet.utility.noise_seen import NoiseSeen, noise_seen
from discreet.utility.pairs import pairs
from tests.utility.small_release import small_release

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def cells(table: pa.Table) -> dict[tuple[str, ...], int]:
    return {tuple(list(row.values())[:-1]): row["value"] for row in table.to_pylist()}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_pairs_are_those_of_a_comparison_cell_by_cell(tmp_path: Path, form: str) -> None:
    release = small_release(tmp_path, form=form)
    for table in release.ids:
        true, published = cells(release.exact(table)), cells(release.table(table))
        expected = Counter((true.get(cell, 0), published.get(cell, 0)) for cell in {*true, *published})
        found = pairs(release, table)
        assert Counter(zip(found.true.tolist(), found.published.tolist(), strict=True)) == expected


def test_noise_is_counted_over_all_tables(tmp_path: Path) -> None:
    release = small_release(tmp_path)
    told: list[tuple[int, int]] = []
    seen = noise_seen(release, lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
    both = [pair for table in release.ids for pair in zip(*vars(pairs(release, table)).values(), strict=True)]
    assert seen.large == 3
    assert seen.times == Counter((min(int(true), 3), int(shown - true)) for true, shown in both)
    assert seen.counts == len(both)
    assert seen.largest <= seen.largest_allowed == 3


def test_shares_and_sentences() -> None:
    seen = NoiseSeen(5, {(5, 0): 6, (5, -2): 2, (1, 0): 1, (1, 3): 1, (0, 0): 90}, 4)
    assert (seen.counts, seen.largest, seen.unchanged, seen.small) == (10, 3, 0.7, 0.2)
    assert seen.of_large == {-2: 2, 0: 6}
    largest, unchanged, small = seen.results()
    assert largest.sentence == (
        "Of 10 counts above 0 in all tables, none was published more than 3 away from the true one; 4 is the most that "
        "the law allows."
    )
    assert unchanged.sentence.startswith("70.0% of these counts")
    assert small.sentence.startswith("20.0% of these counts are below 5")


def test_without_true_counts_nothing_is_compared(tmp_path: Path) -> None:
    release = small_release(tmp_path, keep_exact=False)
    with pytest.raises(ReleaseError, match="has no true counts of table 1 beside it"):
        noise_seen(release)
    with pytest.raises(UnknownNameError, match="There is no table of the release '9'"):
        release.exact("9")
