"""Totals against the sums of their parts: by hand on a small table, and of the size that the noise foretells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.additivity import Additivity, table_gaps
from discreet.accuracy.table_pairs import TablePair, TablePairs
from discreet.mechanisms.exact import Exact
from discreet.noise.by_count import transition_matrix
from discreet.noise.ptable import PTable
from tests.attacks.scenes import town_release
from tests.tabulation.one_table import table_grid
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from discreet.engines.engine import Engine

A, B = topic("A", "a b"), topic("B", "x y z")
TWO = programme([A, B], [by(A), by(B)])
"""Rows of A and columns of B, each behind their total."""
ADDING = np.array([[21, 3, 7, 11], [6, 1, 2, 3], [15, 2, 5, 8]])


def beside(published: np.ndarray) -> TablePair:
    return TablePair(table_grid(TWO, "1"), None, published, ())


def test_a_table_that_adds_up_has_no_gaps() -> None:
    found = table_gaps(beside(ADDING))
    # The total of A in each of 4 columns and the total of B in each of 3 rows.
    assert (found.totals, found.apart, found.mean, found.largest) == (7, 0, 0.0, 0)


def test_gaps_are_counted_along_both_columns() -> None:
    moved = ADDING.copy()
    moved[1, 0] += 4
    found = table_gaps(beside(moved))
    # The row total is 4 too high, and the total of the column of totals 4 too low.
    assert (found.totals, found.apart, found.largest) == (7, 2, 4)
    assert found.mean == 4
    assert found.worst == "the total"


def test_empty_totals_are_left_out() -> None:
    sparse = ADDING.copy()
    sparse[0, 1] = sparse[1, 1] = sparse[2, 1] = 0
    sparse[0, 0], sparse[1, 0], sparse[2, 0] = 18, 5, 13
    assert table_gaps(beside(sparse)).totals == 6
    assert table_gaps(beside(np.zeros_like(ADDING))).totals == 0


@given(st.integers(0, 10**6))
def test_a_gap_means_a_total_apart(seed: int) -> None:
    moved = ADDING + np.random.default_rng(seed).integers(-1, 2, ADDING.shape)
    found = table_gaps(beside(moved))
    assert 0 <= found.apart <= found.totals
    assert (found.largest > 0) == (found.apart > 0) == (found.mean > 0) == bool(found.worst)


def test_several_tables_are_weighed_by_their_totals() -> None:
    moved = ADDING.copy()
    moved[1, 0] += 4
    found = Additivity((table_gaps(beside(ADDING)), table_gaps(beside(moved))))
    assert found.share_of_tables == 0.5
    assert found.share_of_totals == pytest.approx(2 / 14)
    assert found.mean == 4
    assert found.worst.largest == 4
    sentences = {result.name: result.sentence for result in found.results()}
    assert sentences["tables_apart"] == "1 of 2 tables with totals have at least one additivity error."
    assert "the mean absolute error of these is 4.0 persons" in sentences["totals_apart"]
    assert "The largest additivity error is 4, in table 1 at" in sentences["largest_gap"]


def test_tables_without_totals_are_no_reason_to_divide_by_nothing() -> None:
    nothing = Additivity(())
    assert (nothing.share_of_tables, nothing.share_of_totals, nothing.mean) == (0, 0, 0)


def test_the_size_of_gaps_is_that_of_the_noise_and_of_no_larger_one() -> None:
    """The gap of a total with k large parts has variance (k + 1) V."""
    random = np.random.default_rng(5)
    true = ADDING * 100
    law = transition_matrix(PTable.max_entropy(variance=2, bound=6))
    stretched = transition_matrix(PTable.max_entropy(variance=2 * 1.3**2, bound=8))
    grid = table_grid(TWO, "1")
    squares: dict[str, list[float]] = {"law": [], "stretched": []}
    for _ in range(400):
        for name, used in (("law", law), ("stretched", stretched)):
            published = used.publish(true, random)
            gaps = grid.gaps(grid.folds[1], published)
            squares[name].append(float((gaps**2).mean()))
    expected = (3 + 1) * law.variance
    for name, values in squares.items():
        mean, error = np.mean(values), np.std(values) / np.sqrt(len(values))
        assert (abs(mean - expected) < 4 * error) == (name == "law")


def test_true_counts_add_up_and_published_ones_do_not(engine: Engine) -> None:
    exact, noisy = (
        Additivity(tuple(table_gaps(table) for table in TablePairs(release)))
        for release in (town_release(Exact(), engine=engine), town_release(engine=engine))
    )
    assert (exact.share_of_totals, exact.share_of_tables) == (0, 0)
    assert noisy.share_of_tables == 1
    assert exact.totals > 0
