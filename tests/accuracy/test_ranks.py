"""Ranks of areas before and after, by hand and in general."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from discreet.accuracy.release_areas import rank_changes
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric

NAMES = ["north", "south", "east", "west"]


def test_a_list_of_four_by_hand() -> None:
    found = rank_changes(NAMES, np.array([40, 30, 20, 10]), np.array([29, 31, 20, 12]))
    assert found is not None
    # North and south change places.
    assert (found.areas, found.moved, found.mean, found.largest, found.worst) == (4, 2, 1.0, 1.0, "north")
    assert found.correlation == pytest.approx(1 - 6 * 2 / (4 * 15))
    sentences = [result.sentence for result in found.results()]
    assert sentences[0] == "2 of 4 areas have a different rank by size; their mean absolute change is 1.0 ranks."
    assert sentences[1] == "north has the largest rank change: 1 of 4 ranks."


def test_areas_of_one_size_share_their_rank() -> None:
    found = rank_changes(NAMES[:3], np.array([7, 7, 1]), np.array([8, 7, 1]))
    assert found is not None
    assert (found.moved, found.largest) == (2, 0.5)


def test_areas_without_persons_are_left_out() -> None:
    found = rank_changes(NAMES, np.array([5, 0, 3, 0]), np.array([4, 0, 3, 1]))
    assert found is not None
    assert found.areas == 3
    assert rank_changes(NAMES[:2], np.array([5, 0]), np.array([5, 0])) is None


def test_equal_sizes_stay_in_order_unless_noise_orders_them() -> None:
    same = np.array([3, 3, 3])
    still, apart = rank_changes(NAMES[:3], same, same), rank_changes(NAMES[:3], same, np.array([3, 4, 5]))
    assert still is not None
    assert apart is not None
    assert (still.correlation, apart.correlation) == (1, 0)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=3, max_size=30))
def test_it_is_spearmans_and_nobody_moves_without_noise(pairs: list[tuple[int, int]]) -> None:
    true, published = np.array(pairs).T
    names = [str(n) for n in range(len(pairs))]
    found, still = rank_changes(names, true, published), rank_changes(names, true, true)
    assert found is not None
    assert still is not None
    assert (still.moved, still.largest) == (0, 0)
    assert still.correlation == pytest.approx(1)
    assert found.moved <= found.areas
    assert found.mean <= found.largest < found.areas
    if len(set(true.tolist())) > 1 and len(set(published.tolist())) > 1:
        assert found.correlation == pytest.approx(spearmanr(true, published).statistic)


def test_areas_change_places_as_often_as_the_noise_foretells_and_not_as_larger_noise_does() -> None:
    """Areas of 20 and 22 keep their order where the smaller is published below the larger: P(x1 - x2 < 2)."""
    law, stretched = (transition_matrix(TwoSidedGeometric(epsilon=0.7 / width)) for width in (1.0, 1.3))
    true = np.array([20, 22])
    noise = np.arange(-law.reach, law.reach + 1)
    apart = noise[:, None] - noise[None, :]
    chance = float((np.outer(law.laws[1], law.laws[1]) * (apart >= 2)).sum())
    random, draws = np.random.default_rng(4), 6_000
    for used, alike in ((law, True), (stretched, False)):
        published, times = np.unique(used.publish(np.tile(true, (draws, 1)), random), axis=0, return_counts=True)
        found = [rank_changes(["a", "b"], true, each) for each in published]
        share = times @ [each is not None and each.moved > 0 for each in found] / draws
        error = (chance * (1 - chance) / draws) ** 0.5
        assert (abs(share - chance) < 4 * error) == alike
