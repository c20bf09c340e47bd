"""Samples of target cells: stratified by true count, one per unknown, and weighed back to all cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.margin_attack import margins
from discreet.attacks.scoring import CLASSES, class_numbers, score
from discreet.attacks.target_cells import _allocation, draw_targets
from tests.attacks.releases import ons_file, published

if TYPE_CHECKING:
    from discreet.attacks.attacker_view import AttackerView
    from discreet.attacks.scoring import TrueCounts

    Release = tuple[AttackerView, TrueCounts]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any), st.integers(6, 200))
def test_strata_get_equal_shares_and_small_ones_are_taken_whole(sizes: list[int], budget: int) -> None:
    taken = _allocation(np.array(sizes), budget)
    assert (taken <= sizes).all()
    assert taken.sum() == min(budget, sum(sizes))
    most = taken.max()
    assert all(count == size or count >= most - 1 for count, size in zip(taken.tolist(), sizes, strict=True))


@pytest.fixture(scope="module")
def ons() -> Release:
    return next(published(ons_file(), 2.0, 1))


def test_weights_give_back_the_number_of_cells_of_every_class(ons: Release) -> None:
    attacker, truth = ons
    drawn = draw_targets(attacker, 3000, truth)
    assert drawn is not None
    assert sum(len(places) for places in drawn.places.values()) == 3000
    weight, drawn_from = np.zeros(len(CLASSES)), np.zeros(len(CLASSES))
    for joint in attacker.units():
        first = np.unique(joint.equations.unknowns, return_index=True)[1]
        first = first[joint.equations.spread[first] > 0]
        counts = np.concatenate([truth.counts(view.layout.name) for view, _ in joint.parts()])
        drawn_from += np.bincount(class_numbers(counts[first]), minlength=len(CLASSES))
    for name, places in drawn.places.items():
        numbers = class_numbers(truth.counts(name)[places])
        weight += np.bincount(numbers, drawn.weights[name], len(CLASSES))
    assert weight == pytest.approx(drawn_from)
    assert draw_targets(attacker, None, truth) is None
    assert draw_targets(attacker, 10**6, truth) is None


@pytest.mark.slow
def test_rates_of_samples_are_those_of_all_cells_within_their_intervals(ons: Release) -> None:
    attacker, truth = ons
    whole = {share.name: share for share in score(margins(attacker)[1], truth).by_count()}
    inside = checked = 0
    for seed in range(2):
        drawn = draw_targets(replace(attacker, seed=seed), 3000, truth)
        assert drawn is not None
        finding = margins(replace(attacker, targets=drawn.places))[1]
        for share in score(finding, truth, drawn.weights_of(finding)).by_count():
            low, high = share.recall.interval
            inside += low <= whole[share.name].achieved <= high
            checked += 1
            assert share.recall.cases < whole[share.name].cells
            assert share.name == "6-20" or share.cells == pytest.approx(whole[share.name].cells, rel=0.05)
    # Intervals at 95 %; without replacement they cover more.
    assert inside >= 0.85 * checked
    assert checked >= 8


def test_without_true_counts_all_cells_are_one_stratum(ons: Release) -> None:
    attacker, _ = ons
    drawn = draw_targets(attacker, 1000, None)
    assert drawn is not None
    weights = np.concatenate(list(drawn.weights.values()))
    assert len(weights) == 1000
    assert np.ptp(weights) == 0
