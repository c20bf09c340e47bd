"""What one true count is published as, against the law itself and by trying every range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable
from discreet.noise.published_counts import RAREST, published_counts, published_range
from tests.each import each

PTABLE = PTable.max_entropy(variance=3, bound=5)


@each("count", [0, 1, 2, 5, 12, 400])
def test_the_usual_range_is_that_of_the_ptable(count: int) -> None:
    found = published_counts(transition_matrix(PTABLE), count)
    wanted = published_range(PTABLE, count)
    assert (found.usual.low, found.usual.high) == (wanted.low, wanted.high)
    assert found.usual.probability == pytest.approx(wanted.probability)


@given(count=st.integers(0, 30), share=st.sampled_from([0.5, 0.9, 0.95]), cut=st.booleans())
def test_no_shorter_range_holds_as_often(count: int, share: float, cut: bool) -> None:
    law = transition_matrix(TwoSidedGeometric(epsilon=0.8), non_negative=cut)
    found = published_counts(law, count, share)
    values = np.arange(count - law.reach, count + law.reach + 1)
    chances = law.chance(np.full(len(values), count), values)
    within = chances[(values >= found.usual.low) & (values <= found.usual.high)].sum()
    assert within >= share - 1e-12
    assert found.usual.probability == pytest.approx(within)
    width = next(n for n in range(1, len(values) + 1) if _most(chances, n)[0] >= share)
    most, starts = _most(chances, width)
    assert most >= share
    assert (found.usual.low, found.usual.high) == (values[starts[0]], values[starts[-1]] + width - 1)


def _most(chances: np.ndarray, width: int) -> tuple[float, list[int]]:
    """Return the largest probability of a range of a width, and where the ranges begin that have it."""
    sums = [float(chances[start : start + width].sum()) for start in range(len(chances) - width + 1)]
    return max(sums), [start for start, each in enumerate(sums) if each >= max(sums) - 1e-9]


@each("variance", [0.5, 1.0, 1.8, 2.0, 3.0, 4.0])
def test_where_two_ends_are_equally_likely_both_are_in(variance: float) -> None:
    usual = published_counts(transition_matrix(PTable.max_entropy(variance=variance, bound=5)), 12).usual
    assert 12 - usual.low == usual.high - 12


def test_chances_that_stay_and_vanish_are_those_of_the_law() -> None:
    found = published_counts(transition_matrix(PTABLE), 2)
    row = PTABLE.rows[2]
    assert found.stays == pytest.approx(row.stay)
    assert found.lost == pytest.approx(row.pmf(-2))
    cut = published_counts(transition_matrix(Laplace(scale=2.0), non_negative=True), 1)
    assert cut.lost == pytest.approx(float(Laplace(scale=2.0).cdf(-1)), abs=1e-9)
    assert min(cut.published) == 0


def test_rare_counts_at_the_ends_are_left_out() -> None:
    found = published_counts(transition_matrix(TwoSidedGeometric(epsilon=0.3)), 12)
    assert min(found.chances[0], found.chances[-1]) >= RAREST
    assert 1 - sum(found.chances) < 0.01
    assert found.published == tuple(range(found.published[0], found.published[-1] + 1))


def test_without_noise_a_count_is_published_as_it_is() -> None:
    found = published_counts(transition_matrix(None), 3)
    assert (found.published, found.chances, found.stays, found.lost) == ((3,), (1.0,), 1.0, 0.0)
