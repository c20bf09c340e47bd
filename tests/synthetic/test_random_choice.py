"""Choices by shares: every share has its slots, and the draws follow them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InternalError
from discreet.synthetic.random_choice import ChoiceByAge, ShareTable, apportion, same_for_both

EVERY_NOISE = np.arange(1 << 16, dtype=np.uint16)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=30).filter(lambda shares: sum(shares) > 1e-3))
def test_slots_add_up_and_stay_within_one_of_their_share(shares: list[float]) -> None:
    found = apportion(shares, 4096)
    assert found.sum() == 4096
    assert np.abs(found - np.array(shares) / sum(shares) * 4096).max() < 1


def test_a_share_of_nothing_has_no_slot() -> None:
    assert apportion([1, 0, 2, 0], 4096)[[1, 3]].tolist() == [0, 0]


def test_over_all_noises_a_choice_has_its_shares_exactly() -> None:
    choice = ShareTable([7, 9, 11], [[1, 1, 2], [0, 1, 0]])
    assert np.bincount(choice.draw(0, EVERY_NOISE))[[7, 9, 11]].tolist() == [1 << 14, 1 << 14, 1 << 15]
    assert set(choice.draw(1, EVERY_NOISE).tolist()) == {9}


def test_rows_are_chosen_person_by_person() -> None:
    choice = ShareTable([0, 1], [[1, 0], [0, 1]])
    rows = EVERY_NOISE % 2
    assert np.array_equal(choice.draw(rows, EVERY_NOISE), rows)


def test_steps_hold_from_their_age_on_and_the_last_value_gets_the_rest() -> None:
    choice = ChoiceByAge([1, 2], {0: ([100], [0]), 18: ([25], [75])})
    men, women = np.zeros(1 << 16, dtype=np.uint8), np.ones(1 << 16, dtype=np.uint8)
    for age, share_of_men, share_of_women in ((0, 1, 0), (17, 1, 0), (18, 0.25, 0.75), (100, 0.25, 0.75)):
        ages = np.full(1 << 16, age, dtype=np.uint8)
        assert (choice.draw(ages, men, EVERY_NOISE) == 1).mean() == share_of_men
        assert (choice.draw(ages, women, EVERY_NOISE) == 1).mean() == share_of_women


def test_the_same_steps_for_both() -> None:
    assert same_for_both({0: [3]}) == {0: ([3], [3])}


def test_shares_of_more_than_100_percent_are_ours_to_mend() -> None:
    with pytest.raises(InternalError, match="more than 100"):
        ChoiceByAge([1, 2, 3], {0: ([60, 41], [1, 1])})
