"""Chances of relative errors, against sums over the whole law."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.distortion import (
    RELATIVE,
    ExpectedNumber,
    Tails,
    continuous_tail,
    more_than,
    no_less_than,
    reached,
)
from discreet.errors import ParameterError
from discreet.noise.by_count import TransitionMatrix, transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable
from discreet.noise.uniform import Uniform
from tests.quick import one_in

LAWS = {
    "geometric": transition_matrix(TwoSidedGeometric(epsilon=0.3)),
    "cut at 0": transition_matrix(TwoSidedGeometric(epsilon=0.3), non_negative=True),
    "zeros too": transition_matrix(TwoSidedGeometric(epsilon=0.3), zeros=True),
    "p-table": transition_matrix(PTable.max_entropy(variance=2, bound=5)),
    "uniform": transition_matrix(Uniform(bound=3)),
}


def by_hand(law: TransitionMatrix, count: int, share: Fraction, *, equal: bool) -> tuple[float, float]:
    """Sum the probabilities of all published counts that are too far off, with exact fractions."""
    published = np.arange(count - law.reach, count + law.reach + 1)
    chance = law.chance(np.full(published.shape, count), published)
    error = [int(p) - count for p in published]
    up = [e > share * count or (equal and e == share * count) for e in error]
    down = [-e > share * count or (equal and -e == share * count) for e in error]
    return float(chance[up].sum()), float(chance[down].sum())


@pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
@pytest.mark.parametrize("share", one_in(4, ["0.2", "0.5", "1", "0.7", "2"]))
def test_chances_are_sums_over_the_law(law: TransitionMatrix, share: str) -> None:
    tails, counts = Tails.of(law), np.arange(1, 60)
    more, least = tails.beyond(counts, float(share)), tails.at_least(counts, float(share))
    for n in counts.tolist():
        expected = by_hand(law, n, Fraction(share), equal=False)
        assert (more.up[n - 1], more.down[n - 1]) == pytest.approx(expected, abs=1e-14)
        expected = by_hand(law, n, Fraction(share), equal=True)
        assert (least.up[n - 1], least.down[n - 1]) == pytest.approx(expected, abs=1e-14)


def test_the_geometric_law_in_closed_form() -> None:
    epsilon, counts = 0.1, np.array([1, 10, 80, 200])
    q = math.exp(-epsilon)
    tails = Tails.of(transition_matrix(TwoSidedGeometric(epsilon=epsilon)))
    for share in RELATIVE:
        expected = [2 * q ** (math.floor(share * n) + 1) / (1 + q) for n in counts.tolist()]
        assert tails.beyond(counts, share).either == pytest.approx(expected, abs=1e-10)
    assert tails.lost(counts) == pytest.approx(q**counts / (1 + q), abs=1e-10)


def test_lost_is_a_published_count_of_0_or_less() -> None:
    for law in LAWS.values():
        for n in range(1, 30):
            published = np.arange(n - law.reach, 1)
            expected = law.chance(np.full(published.shape, n), published).sum()
            assert Tails.of(law).lost(np.array([n]))[0] == pytest.approx(expected, abs=1e-14)


def test_bounded_noise_never_distorts_counts_above_the_bound_by_all_of_them() -> None:
    tails, counts = Tails.of(LAWS["p-table"]), np.arange(6, 1000)
    assert not tails.at_least(counts, 1).either.any()
    assert tails.at_least(np.array([5]), 1).either[0] > 0
    assert not tails.beyond(np.array([25]), 0.2).either.any()
    assert tails.beyond(np.array([24]), 0.2).either[0] > 0


def test_no_count_falls_by_more_than_itself_where_nothing_negative_is_published() -> None:
    counts = np.arange(1, 50)
    assert not Tails.of(LAWS["cut at 0"]).beyond(counts, 1).down.any()
    assert (Tails.of(LAWS["geometric"]).beyond(counts, 1).down > 0).all()
    assert (Tails.of(LAWS["cut at 0"]).lost(counts) == Tails.of(LAWS["geometric"]).lost(counts)).all()


@given(st.integers(1, 10**6), st.integers(1, 300))
def test_errors_in_persons_are_exact(count: int, percent: int) -> None:
    product = Fraction(percent, 100) * count
    counts = np.array([count])
    assert more_than(counts, percent / 100)[0] == math.floor(product) + 1
    assert no_less_than(counts, percent / 100)[0] == math.ceil(product)


@given(st.sampled_from(list(LAWS)), st.integers(1, 300), st.floats(0.01, 3), st.floats(0.01, 3))
def test_larger_errors_are_rarer(name: str, count: int, one: float, other: float) -> None:
    tails, counts = Tails.of(LAWS[name]), np.array([count])
    low, high = sorted((one, other))
    assert tails.beyond(counts, low).either[0] >= tails.beyond(counts, high).either[0]
    assert tails.at_least(counts, low).either[0] >= tails.beyond(counts, low).either[0]
    assert 0 <= tails.beyond(counts, low).either[0] <= 1


def test_reached_on_a_hand_made_release() -> None:
    true, published = np.array([10, 10, 10, 10]), np.array([15, 16, 5, 4])
    up, down = reached(true, published, more_than(true, 0.5))
    assert (up.tolist(), down.tolist()) == ([False, True, False, False], [False, False, False, True])
    up, down = reached(true, published, no_less_than(true, 0.5))
    assert (up.tolist(), down.tolist()) == ([True, True, False, False], [False, False, True, True])


def test_all_three_the_same_way_is_a_product() -> None:
    tails = Tails.of(LAWS["uniform"])
    counts = np.array([[2], [3], [5]])
    # Of seven values, one is above 2 and one below -2; of a count of 5, half is 2.5.
    both = tails.beyond(counts, 0.5).together()
    assert both.up[0] == pytest.approx(2 / 7 * 2 / 7 * 1 / 7)
    assert both.either[0] == pytest.approx(2 * 2 / 7 * 2 / 7 * 1 / 7)


def test_sampling_agrees_with_the_chances_and_not_with_larger_noise() -> None:
    counts = np.repeat(np.arange(1, 101), 500)
    random = np.random.default_rng(5)
    number = ExpectedNumber.of(Tails.of(transition_matrix(TwoSidedGeometric(epsilon=0.1))).beyond(counts, 0.5).either)

    def drawn(epsilon: float) -> int:
        published = transition_matrix(TwoSidedGeometric(epsilon=epsilon)).publish(counts, random)
        up, down = reached(counts, published, more_than(counts, 0.5))
        return int((up | down).sum())

    assert abs(drawn(0.1) - number.expected) < 4 * number.standard_error
    assert abs(drawn(0.1 / 1.3) - number.expected) > 10 * number.standard_error


def test_the_standard_error_is_that_of_many_releases() -> None:
    counts, law = np.arange(1, 200), transition_matrix(TwoSidedGeometric(epsilon=0.1))
    number = ExpectedNumber.of(Tails.of(law).beyond(counts, 0.2).either)
    random = np.random.default_rng(1)
    errors = more_than(counts, 0.2)
    seen = [np.logical_or(*reached(counts, law.publish(counts, random), errors)).sum() for _ in range(2000)]
    assert np.std(seen) == pytest.approx(number.standard_error, rel=0.08)
    assert np.mean(seen) == pytest.approx(number.expected, abs=4 * number.standard_error / math.sqrt(2000))


def test_the_papers_continuous_tail() -> None:
    errors = np.array([20.0, 40.0])
    expected = np.exp(-0.1 * errors)
    for law in (TwoSidedGeometric(epsilon=0.1), TwoSidedGeometric(epsilon=0.2, sensitivity=2), Laplace(scale=10)):
        assert continuous_tail(law, errors) == pytest.approx(expected)
    assert continuous_tail(Uniform(bound=3), errors) is None
    # The footnote of the paper: 1.83 percent, for the count bin (60, 80], 50 percent and epsilon 0.1.
    assert f"{expected[1]:.2%}" == "1.83%"


def test_a_share_must_be_positive() -> None:
    with pytest.raises(ParameterError, match=r"relative must be a positive number, not 0\. Typical values: 0\.2"):
        Tails.of(LAWS["uniform"]).beyond(np.array([1]), 0)
