"""Hellinger's distance against its formula cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.hellinger import hellinger, hellinger_of_counts
from discreet.errors import NothingToCountError, ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.noise.max_entropy import MaxEntropy

TABLES = st.lists(st.tuples(st.integers(0, 50), st.integers(-5, 50)), max_size=30)


def test_tables_measured_by_hand() -> None:
    # Shares 1/2, 1/2 and 1, 0.
    assert hellinger([1, 1], [5, 0]) == pytest.approx(math.sqrt(1 - math.sqrt(1 / 2)))
    assert hellinger_of_counts([4, 9, 0], [9, 1, 0]) == pytest.approx(math.sqrt((1 + 4) / 2))
    assert hellinger([3, 4], [3, 4]) == hellinger_of_counts([3, 4], [3, 4]) == 0


def test_a_count_below_0_is_taken_as_0() -> None:
    assert hellinger([1, 1], [5, -3]) == hellinger([1, 1], [5, 0])
    assert hellinger_of_counts([1, 1], [5, -3]) == hellinger_of_counts([1, 1], [5, 0])


@given(TABLES)
def test_both_follow_their_formulas(cells: list[tuple[int, int]]) -> None:
    true, published = np.array([(2, 3), *cells]).T
    shown = np.maximum(published, 0)
    p, q = true / true.sum(), shown / shown.sum()
    # By Bhattacharyya's sum, another way to write the same.
    assert hellinger(true, published) ** 2 == pytest.approx(1 - np.sqrt(p * q).sum(), abs=1e-12)
    assert hellinger_of_counts(true, published) ** 2 == pytest.approx(
        (true.sum() + shown.sum()) / 2 - np.sqrt(true * shown).sum(), abs=1e-9
    )


@given(TABLES, st.integers(1, 9))
def test_shares_know_no_scale_and_no_order(cells: list[tuple[int, int]], factor: int) -> None:
    true, published = np.array([(2, 3), *cells]).T
    found = hellinger(true, published)
    assert 0 <= found <= 1 + 1e-12
    assert hellinger(true, published * factor) == pytest.approx(found, abs=1e-7)
    assert hellinger(true[::-1], published[::-1]) == pytest.approx(found, abs=1e-12)
    assert hellinger(np.maximum(published, 0), true) == pytest.approx(found, abs=1e-7)


def sampled(variance: float, true: int, cells: int) -> float:
    counts = np.full(cells, true)
    published = transition_matrix(MaxEntropy(variance=variance, bound=5)).publish(counts, np.random.default_rng(8))
    return hellinger_of_counts(counts, published) ** 2 / cells


def test_sampled_noise_has_the_mean_of_its_law_and_larger_noise_has_not() -> None:
    true, cells, noise = 60, 20_000, np.arange(-5, 6)
    law = MaxEntropy(variance=2, bound=5)
    terms = (np.sqrt(true + noise) - math.sqrt(true)) ** 2 / 2
    mean = float(terms @ law.pmf(noise))
    error = math.sqrt(float((terms - mean) ** 2 @ law.pmf(noise)) / cells)
    assert abs(sampled(2, true, cells) - mean) < 4 * error
    assert abs(sampled(2 * 1.3**2, true, cells) - mean) > 4 * error


def test_empty_tables_are_refused() -> None:
    with pytest.raises(NothingToCountError, match="The true table has no count above 0"):
        hellinger([0, 0], [1, 2])
    with pytest.raises(NothingToCountError, match=r"The published table has no count above 0.*hellinger_of_counts"):
        hellinger([1, 2], [0, -2])
    with pytest.raises(NothingToCountError, match="The table is empty"):
        hellinger_of_counts([], [])
    with pytest.raises(ParameterError, match="published counts the shape"):
        hellinger([1], [1, 2])
