"""Scores of findings made by hand: what is right, by true count and by statistic."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.attack_estimates import AttackEstimates
from discreet.attacks.scoring import CLASSES, Rate, Score, score, wilson
from tests.attacks.scenes import BELIEF, KnownTruth

ACTUAL = [0, 0, 1, 2, 3, 5, 6, 20, 21, 1000]
ESTIMATE = [0, 1, 1, 3, 3, 4, 6, 20, 21, 999]
NAIVE = [0, 0, 2, 2, 3, 5, 7, 19, 25, 1000]
CONFIDENCE = [1.0, 0.5, 0.5, 0.5, 0.9, 0.1, 0.4, 0.6, 1.0, 0.5]
GROUPS = [0, 0, 0, 0, 0, 0, 2, 2, 2, 2]


def made(*, naive: bool = True, groups: bool = True) -> AttackEstimates:
    return AttackEstimates(
        attack="guess",
        subject="counts",
        estimate=np.array(ESTIMATE),
        confidence=np.array(CONFIDENCE),
        actual=lambda truth: truth.counts("persons"),
        naive=np.array(NAIVE) if naive else None,
        groups=("small", "none", "large") if groups else (),
        group_of=np.array(GROUPS) if groups else None,
    )


def scored(actual: list[int] = ACTUAL, finding: AttackEstimates | None = None) -> Score:
    return score(finding or made(), KnownTruth(BELIEF, {"persons": np.array(actual)}))


def test_all_estimates_together() -> None:
    found = scored().whole
    assert (found.name, found.cells, found.right, found.naive, found.certain) == ("all", 10, 6, 6, 2)
    assert found.achieved == 0.6
    assert found.confidence == pytest.approx(sum(CONFIDENCE) / 10)


def test_those_that_are_not_empty() -> None:
    found = scored().occupied
    assert (found.name, found.cells, found.right, found.naive, found.certain) == ("not 0", 8, 5, 4, 1)


def test_by_true_count() -> None:
    found = {share.name: (share.cells, share.right, share.naive) for share in scored().by_count()}
    assert found == {
        "0": (2, 1, 2),
        "1": (1, 1, 0),
        "2": (1, 0, 1),
        "3-5": (2, 1, 2),
        "6-20": (2, 2, 0),
        "21+": (2, 1, 1),
    }


def test_classes_that_do_not_occur_are_left_out() -> None:
    found = scored([7] * 10)
    assert [share.name for share in found.by_count()] == ["6-20"]
    assert found.by_count()[0].cells == 10


@given(st.lists(st.integers(-(10**6), 10**6), min_size=10, max_size=10))
def test_every_count_is_in_one_class(actual: list[int]) -> None:
    classes = scored(actual).classes()
    assert list(classes) == [name for name in CLASSES if name in classes]
    assert np.sum(list(classes.values()), axis=0).tolist() == [1] * 10
    # Changes count by their size.
    assert scored([-count for count in actual]).classes().keys() == classes.keys()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 6, 20, 21, 10**12])
def test_the_name_of_a_class_says_which_counts_it_holds(count: int) -> None:
    (name,) = scored([count] * 10).classes()
    low, _, high = name.partition("-")
    assert int(low.rstrip("+")) <= count
    assert name.endswith("+") or count <= int(high or low)


def test_by_statistic_the_best_known_first() -> None:
    found = scored().by_group()
    assert [(s.name, s.cells, s.right, s.naive, s.certain) for s in found] == [
        ("large", 4, 3, 1, 1),
        ("small", 6, 3, 5, 1),
    ]
    assert found[0].confidence == pytest.approx((0.4 + 0.6 + 1.0 + 0.5) / 4)
    assert scored(finding=made(groups=False)).by_group() == []


def test_where_nothing_could_be_said_without_the_attack_nothing_is() -> None:
    found = scored(finding=made(naive=False))
    assert found.whole.naive is None
    assert [share.naive for share in (*found.by_count(), *found.by_group())] == [None] * 8
    assert found.whole.to_json()["without_attack"] is None


def test_a_row_of_json() -> None:
    row = scored().whole.to_json()
    assert row == {
        "class": "all",
        "cells": 10,
        "cases": 10,
        "right": 6,
        "achieved": 0.6,
        # Wilson by the formula: (p + z^2/2n -+ z sqrt(p q / n + z^2 / 4n^2)) / (1 + z^2 / n).
        "interval": pytest.approx([0.31267, 0.83182], abs=1e-5),
        "predicted": None,
        "predicted_error": None,
        "noise_terms": None,
        "confidence": pytest.approx(0.6),
        "without_attack": 0.6,
        "certain": 2,
        "estimated": None,
        "precision": None,
        "precision_interval": None,
    }


def test_precision_is_the_share_right_among_the_estimates_of_a_class() -> None:
    found = {share.name: share.precision for share in scored().by_count()}
    rates = {name: (each.right, each.cells) for name, each in found.items() if each}
    # Estimates 0, 1, 1, 3, 3, 4, 6, 20, 21, 999 of 0, 0, 1, 2, 3, 5, 6, 20, 21, 1000.
    assert rates == {"0": (1, 1), "1": (1, 2), "2": (0, 0), "3-5": (1, 3), "6-20": (2, 2), "21+": (1, 2)}
    assert scored().by_count()[2].to_json()["precision"] is None
    assert scored().by_count()[1].to_json()["precision"] == 0.5


def test_cells_that_are_one_unknown_count_once_and_in_each_statistic() -> None:
    once = replace(made(), unknown_of=np.array([0, 1, 2, 3, 4, 5, 6, 7, 0, 7]))
    found = scored(finding=once)
    assert found.whole.cells == 8
    assert found.occupied.right == 4
    assert sum(share.cells for share in found.by_group()) == 10


def test_estimates_of_a_sample_stand_for_as_many_cells_as_they_weigh() -> None:
    weights = np.array([5.0, 5.0, 1, 1, 1, 1, 1, 1, 2, 2])
    found = score(made(), KnownTruth(BELIEF, {"persons": np.array(ACTUAL)}), weights).whole
    right = np.array(ESTIMATE) == np.array(ACTUAL)
    assert (found.cells, found.right) == (20, weights[right].sum())
    assert found.recall.cases == 10
    assert found.recall.effective == pytest.approx(20**2 / (weights**2).sum())
    assert found.confidence == pytest.approx(np.average(CONFIDENCE, weights=weights))


@pytest.mark.parametrize(("share", "cases"), [(0.0, 7), (0.3, 30), (1.0, 99)])
def test_the_wilson_interval_is_where_the_normal_test_does_not_reject(share: float, cases: int) -> None:
    low, high = wilson(share, cases)
    for end in (low, high):
        if 1e-12 < end < 1 - 1e-12:
            assert abs(share - end) / math.sqrt(end * (1 - end) / cases) == pytest.approx(1.959964, rel=1e-5)
    assert low <= share <= high


def test_few_cases_are_never_shown_without_their_interval() -> None:
    assert Rate(30, 60, 60, 60).words == "50.0% [38% to 62%]"
    assert Rate(50, 100, 100, 100).words == "50.0%"


def test_of_nothing_nothing_is_right() -> None:
    empty = scored().share("none", np.zeros(10, dtype=bool))
    assert (empty.cells, empty.right, empty.achieved, empty.confidence) == (0, 0, 0, 0)
    assert empty.to_json()["without_attack"] == 0
