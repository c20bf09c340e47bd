"""The law of every true count in arrays: that of the p-table's rows, or one law for all; attacks test the rest."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.noise.by_count import NEGLIGIBLE, transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable

COUNTS = np.arange(12)


def test_every_count_has_the_law_of_its_row() -> None:
    table = PTable.max_entropy(variance=2, bound=5, threshold=1)
    law = transition_matrix(table)
    shift = np.arange(-5, 6)
    for count, row in zip(COUNTS.tolist(), table.row_numbers(COUNTS).tolist(), strict=True):
        assert law.chance(np.full(11, count), count + shift) == pytest.approx(table.rows[row].pmf(shift))
    assert (law.variance, law.bound, law.reach) == (table.large.variance, 5, 5)
    assert not law.zeros_are_noisy


@pytest.mark.parametrize("zeros", [False, True])
def test_a_law_is_the_same_for_all_counts_but_empty_cells(zeros: bool) -> None:
    noise = TwoSidedGeometric(epsilon=0.5)
    law = transition_matrix(noise, zeros=zeros)
    assert law.variance_of(COUNTS)[1:] == pytest.approx(noise.variance)
    assert law.variance_of(COUNTS)[0] == pytest.approx(noise.variance if zeros else 0)
    assert law.zeros_are_noisy == zeros
    # An unbounded distribution is truncated at a negligible tail.
    assert noise.pmf(law.reach) >= NEGLIGIBLE > noise.pmf(law.reach + 1)
    assert law.bound == float("inf")


def test_without_noise_counts_are_published_as_they_are() -> None:
    law = transition_matrix(None)
    assert law.publish(COUNTS, np.random.default_rng(1)).tolist() == COUNTS.tolist()
    assert (law.variance, law.bound, law.reach) == (0, 0, 0)


def test_what_would_be_negative_is_published_as_0() -> None:
    law = transition_matrix(TwoSidedGeometric(epsilon=0.5), zeros=True, non_negative=True)
    assert law.publish(np.zeros(1000, dtype=np.int64), np.random.default_rng(1)).min() == 0
    (at_0,) = law.chance(np.array([3]), np.array([0])).tolist()
    assert at_0 == pytest.approx(TwoSidedGeometric(epsilon=0.5).cdf(-3).item(), abs=1e-9)
