"""What one true count is published as, against the law itself and by trying every range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise.by_count import by_count
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable
from discreet.noise.published_counts import RAREST, published_counts
from discreet.noise.ranges import published_range

PTABLE = PTable.max_entropy(variance=3, bound=5)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 12, 400])
def test_the_usual_range_is_that_of_the_ptable(count: int) -> None:
    found = published_counts(by_count(PTABLE), count)
    wanted = published_range(PTABLE, count)
    assert (found.usual.low, found.usual.high) == (wanted.low, wanted.high)
    assert found.usual.probability == pytest.approx(wanted.probability)


@given(count=st.integers(0, 30), share=st.sampled_from([0.5, 0.9, 0.95]), cut=st.booleans())
def test_no_shorter_range_holds_as_often(count: int, share: float, cut: bool) -> None:
    law = by_count(TwoSidedGeometric(epsilon=0.8), non_negative=cut)
    found = published_counts(law, count, share)
    values = np.arange(count - law.reach, count + law.reach + 1)
    chances = law.chance(np.full(len(values), count), values)
    width = found.usual.high - found.usual.low + 1
    within = chances[(values >= found.usual.low) & (values <= found.usual.high)].sum()
    assert within >= share - 1e-12
    assert found.usual.probability == pytest.approx(within)
    shorter = [chances[start : start + width - 1].sum() for start in range(len(values))]
    assert max(shorter) < share


def test_chances_that_stay_and_vanish_are_those_of_the_law() -> None:
    found = published_counts(by_count(PTABLE), 2)
    row = PTABLE.rows[2]
    assert found.stays == pytest.approx(row.stay)
    assert found.vanishes == pytest.approx(row.pmf(-2))
    cut = published_counts(by_count(Laplace(scale=2.0), non_negative=True), 1)
    assert cut.vanishes == pytest.approx(float(Laplace(scale=2.0).cdf(-1)), abs=1e-9)
    assert min(cut.published) == 0


def test_rare_counts_at_the_ends_are_left_out() -> None:
    found = published_counts(by_count(TwoSidedGeometric(epsilon=0.3)), 12)
    assert min(found.chances[0], found.chances[-1]) >= RAREST
    assert 1 - sum(found.chances) < 0.01
    assert found.published == tuple(range(found.published[0], found.published[-1] + 1))


def test_without_noise_a_count_is_published_as_it_is() -> None:
    found = published_counts(by_count(None), 3)
    assert (found.published, found.chances, found.stays, found.vanishes) == ((3,), (1.0,), 1.0, 0.0)
