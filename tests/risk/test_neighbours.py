"""Neighbour relations: how many counts change, and the words for it."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError, UnknownNameError
from discreet.risk.neighbouring_counts import ONE_PERSON, Neighbours


def test_counts_that_change() -> None:
    assert ONE_PERSON.counts(7) == 7
    assert Neighbours("replace-one").counts(7) == 14
    # All of a household in one cell: as many counts change as for one person, by more.
    assert Neighbours(household=4).counts(7) == 7


def test_words() -> None:
    assert ONE_PERSON.assumption == "neighbours: one person added or removed"
    assert "one household of 4 replaced by another" in Neighbours("replace-one", 4).assumption
    assert "all its members in one cell of every statistic" in Neighbours(household=4).assumption


def test_an_unknown_relation_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean replace-one"):
        Neighbours("replace")


@pytest.mark.parametrize("household", [0, 1.5, True])
def test_a_household_outside_its_domain_is_refused(household: int) -> None:
    with pytest.raises(ParameterError, match="household must be a positive whole number"):
        Neighbours(household=household)
