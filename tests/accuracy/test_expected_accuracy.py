"""What is expected over all draws: by hand, by brute force, and as draws come out; not as larger noise does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.count_pairs import pair_times
from discreet.accuracy.expected_accuracy import expected
from discreet.errors import NothingToCountError
from discreet.noise.by_count import TransitionMatrix, transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.uniform import Uniform

LAWS = {
    "p-table": transition_matrix(PTable.max_entropy(variance=2, bound=5)),
    "threshold": transition_matrix(PTable.max_entropy(variance=3, bound=5, threshold=2)),
    "geometric": transition_matrix(TwoSidedGeometric(epsilon=0.6)),
    "cut at 0": transition_matrix(TwoSidedGeometric(epsilon=0.6), zeros=True, non_negative=True),
    "none": transition_matrix(None),
}


def by_hand(counts: list[int], law: TransitionMatrix) -> tuple[float, float, float]:
    """Return the three means, value by value."""
    sums = np.zeros(3)
    for n in counts:
        for y in range(n - law.reach, n + law.reach + 1):
            chance = float(law.chance(np.array(n), np.array(y)))
            sums += chance * np.array([abs(y - n), abs(y - n) / n, y <= 0])
    return tuple((sums / len(counts)).tolist())


@given(st.sampled_from(list(LAWS)), st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_they_are_those_of_brute_force(name: str, counts: list[int]) -> None:
    found = expected(pair_times([*counts, 0], [*counts, 0]), LAWS[name])
    assert (found.absolute, found.relative, found.lost) == pytest.approx(by_hand(counts, LAWS[name]), abs=1e-9)


def test_a_law_by_hand() -> None:
    # Noise of -1, 0 and 1: two of three are 1 off; a count of 1 vanishes in one of three cases.
    found = expected(pair_times([1, 4], [2, 4]), transition_matrix(Uniform(bound=1)))
    assert (found.absolute, found.relative, found.lost) == pytest.approx((2 / 3, (2 / 3 + 2 / 12) / 2, 1 / 6))


@pytest.mark.parametrize("name", [name for name in LAWS if name != "none"])
def test_draws_agree_and_those_of_larger_noise_do_not(name: str) -> None:
    random = np.random.default_rng(3)
    counts = random.integers(1, 30, 40_000)
    law = LAWS[name]
    stretched = transition_matrix(
        TwoSidedGeometric(epsilon=0.6 / 1.3), zeros=law.zeros_are_noisy, non_negative=law.non_negative
    )
    told = expected(pair_times(counts, counts), law)
    for used, alike in ((law, True), (stretched, False)):
        off = np.abs(used.publish(counts, random) - counts)
        for mean, values in ((told.absolute, off), (told.relative, off / counts)):
            error = values.std() / np.sqrt(len(values))
            assert (abs(values.mean() - mean) < 4 * error) == alike


def test_without_a_count_nothing_is_expected() -> None:
    with pytest.raises(NothingToCountError, match="No cell has a true count above 0"):
        expected(pair_times([0], [0]), LAWS["p-table"])


def test_sentences() -> None:
    first, *_ = expected(pair_times([1, 4], [2, 4]), transition_matrix(Uniform(bound=1))).results()
    assert first.sentence == (
        "Over all draws of the noise, the mean absolute error of counts above 0 is 0.67, the mean relative error "
        "41.7%, and 16.7% of counts are lost."
    )
