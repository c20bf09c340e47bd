"""False zeros, false positives and counts below 0."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.cell_errors import LostCounts, zeros
from discreet.accuracy.count_pairs import pair_times
from discreet.noise.by_count import transition_matrix
from discreet.noise.ptable import PTable


def test_a_table_counted_by_hand() -> None:
    found = zeros(pair_times([0, 0, 0, 0, 1, 2, 2, 9, 9], [0, 0, 4, -1, 0, 0, -1, 8, 9]))
    assert found == LostCounts(occupied=5, empty=4, published=4, false_zeros=2, lost=3, false_positives=1, negatives=2)
    assert (found.false_zero_share, found.lost_share, found.false_positive_share, found.positive_zero_share) == (
        2 / 5,
        3 / 5,
        1 / 4,
        2 / 4,
    )
    assert found.negative_share == 2 / 9


def test_the_example_of_cellkey() -> None:
    # Help page of ck_cnt_measures: one false zero, no false non-zero.
    found = zeros(pair_times([*range(1, 11), 0, 0], [0, 2, 3, 4, 6, 6, 9, 8, 9, 10, 0, 0]))
    assert (found.false_zeros, found.false_positives, found.negatives) == (1, 0, 0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 4)), max_size=40))
def test_cells_are_divided_among_the_numbers(cells: list[tuple[int, int]]) -> None:
    found = zeros(pair_times([true for true, _ in cells], [shown for _, shown in cells]))
    assert found.occupied + found.empty == len(cells)
    assert found.published - found.false_zeros == sum(pair == (0, 0) for pair in cells)
    assert found.lost == sum(true > 0 and shown <= 0 for true, shown in cells) >= found.false_zeros
    assert found.negatives == sum(shown < 0 for _, shown in cells)
    assert all(
        0 <= share <= 1
        for share in (
            found.false_zero_share,
            found.false_positive_share,
            found.positive_zero_share,
            found.negative_share,
        )
    )


def lost_of_ones(variance: float, cells: int) -> float:
    law = transition_matrix(PTable.max_entropy(variance=variance, bound=5))
    true = np.ones(cells, dtype=np.int64)
    return zeros(pair_times(true, law.publish(true, np.random.default_rng(3)))).false_zero_share


def test_sampled_false_zeros_follow_the_p_table_and_others_with_larger_noise() -> None:
    cells = 40_000
    law = transition_matrix(PTable.max_entropy(variance=1, bound=5))
    chance = float(law.chance(np.array(1), np.array(0)))
    error = math.sqrt(chance * (1 - chance) / cells)
    assert abs(lost_of_ones(1, cells) - chance) < 4 * error
    assert abs(lost_of_ones(1.3**2, cells) - chance) > 4 * error


def test_sentences_carry_their_numbers() -> None:
    lost, gone, hiding, invented, below = zeros(pair_times([0, 0, 1, 1, 7], [0, 2, 0, 1, -1])).results()
    assert lost.sentence == "False zeros: 1 of 3 counts above 0 (33.3%) are published as 0."
    assert gone.sentence == "Lost counts: 2 (66.7%) are published as 0 or less."
    assert hiding.sentence == "50.0% of the 2 published zeros have a positive true count."
    assert invented.sentence == "False positives: 1 of 2 empty cells (50.0%) are published above 0."
    assert below.sentence == "Negative counts: 1 of all 5 cells (20.0%) are published below 0."
    assert [each.value for each in (lost, hiding, invented, below)] == pytest.approx([1 / 3, 1 / 2, 1 / 2, 1 / 5])
    assert any("0 in both" in each for each in invented.assumptions)


def test_no_cells_have_no_false_zeros() -> None:
    assert zeros(pair_times([], [])) == LostCounts(0, 0, 0, 0, 0, 0, 0)
    assert all(result.value == 0 for result in zeros(pair_times([], [])).results())
