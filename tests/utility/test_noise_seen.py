"""The noise of a release, against a comparison cell by cell."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from discreet.errors import ReleaseError, UnknownNameError
from discreet.utility.noise_seen import NoiseSeen, noise_seen
from discreet.utility.side_by_side import ONCE
from tests.utility.small_release import small_release

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def cells(table: pa.Table) -> dict[tuple[str, ...], int]:
    return {tuple(list(row.values())[:-1]): row["value"] for row in table.to_pylist()}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_noise_is_that_of_a_comparison_cell_by_cell_and_a_shared_count_is_taken_once(tmp_path: Path, form: str) -> None:
    release = small_release(tmp_path, form=form)
    told: list[tuple[int, int]] = []
    seen = noise_seen(release, lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
    # All of the second table is in the first one too.
    true, published = cells(release.exact("1")), cells(release.table("1"))
    counts = [(true.get(cell, 0), published.get(cell, 0)) for cell in {*true, *published}]
    assert seen.large == 3
    occupied = {kind: n for kind, n in seen.times.items() if kind != (0, 0)}
    assert occupied == Counter((min(count, 3), shown - count) for count, shown in counts)
    assert seen.counts == len(counts)
    assert seen.largest <= seen.largest_allowed == 3
    assert all(result.assumptions == (ONCE,) for result in seen.results())


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
    with pytest.raises(ReleaseError, match=r"has no file 1\.parquet with the true counts of 1"):
        noise_seen(release)
    with pytest.raises(UnknownNameError, match="There is no table of the release '9'"):
        release.exact("9")
