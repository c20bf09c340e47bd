"""Households hold together: couples, children with parents, persons alone, institutions; whatever the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.synthetic.demography import ADULT, NUCLEUS, AgesAndSexes, Role
from discreet.synthetic.households import INSTITUTION_SIZE, WIDEST_GAP, Residents, form_households
from discreet.synthetic.random_choice import Draws
from tests.synthetic.sample import residents

PARTNERS = (Role.MARRIED, Role.MARRIED_SAME_SEX, Role.UNMARRIED_PARTNER)
CHILDREN = (Role.CHILD_OF_COUPLE, Role.CHILD_OF_LONE_PARENT)


def sizes(made: Residents) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the size of every person's household."""
    return np.bincount(made.first, minlength=len(made))[made.first]


def count(made: Residents, *roles: Role) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return for every person how many of some roles live in the household."""
    return np.bincount(made.first[np.isin(made.role, roles)], minlength=len(made))[made.first]


@given(st.integers(1, 80), st.integers(0, 10_000))
def test_any_number_of_persons_finds_households(number: int, seed: int) -> None:
    draws = Draws("small", seed)
    people = AgesAndSexes.draw(number, draws)
    made = form_households(people, draws)
    both = [2 * each.age.astype(int) + each.sex for each in (people, made)]
    assert np.array_equal(np.sort(both[0]), np.sort(both[1]))
    holds_together(made)


@pytest.mark.parametrize("seed", range(3))
def test_a_whole_block_finds_households(seed: int) -> None:
    holds_together(residents(seed=seed))


def holds_together(made: Residents) -> None:
    assert not np.isin(made.role, [Role.PARTNER, Role.OTHER]).any()
    starts = made.first == np.arange(len(made))
    assert np.array_equal(np.maximum.accumulate(np.where(starts, made.first, 0)), made.first)
    # Persons living alone are alone, persons sharing are not, and outside private households the roles are not mixed.
    alone, sharing = made.role == Role.ALONE, made.role == Role.SHARING
    assert (sizes(made)[alone] == 1).all()
    assert (sizes(made)[sharing] > 1).all()
    assert (sizes(made)[made.role == Role.HOMELESS] == 1).all()
    inside = made.role == Role.INSTITUTION
    assert (sizes(made)[inside] == count(made, Role.INSTITUTION)[inside]).all()
    assert sizes(made)[inside].max(initial=0) <= INSTITUTION_SIZE
    # Partners come in pairs, children have someone, lone parents have a child, minors are children.
    for role in PARTNERS:
        assert (count(made, role) % 2 == 0).all()
    assert (count(made, *PARTNERS)[made.role == Role.CHILD_OF_COUPLE] >= 2).all()
    assert (count(made, Role.LONE_PARENT)[made.role == Role.CHILD_OF_LONE_PARENT] >= 1).all()
    assert (count(made, Role.CHILD_OF_LONE_PARENT) >= count(made, Role.LONE_PARENT)).all()
    assert (made.age[~np.isin(made.role, [*CHILDREN, Role.INSTITUTION])] >= ADULT).all()
    gaps_are_right(made)


def gaps_are_right(made: Residents) -> None:
    """In a household of one family every child is 17 to 50 years younger than the younger parent."""
    parents = np.isin(made.role, [*PARTNERS, Role.LONE_PARENT])
    one_family = (count(made, *PARTNERS) + 2 * count(made, Role.LONE_PARENT)) == 2
    younger = np.full(len(made), 999)
    np.minimum.at(younger, made.first[parents], made.age[parents])
    children = np.isin(made.role, CHILDREN) & one_family
    gaps = younger[made.first][children] - made.age[children]
    assert gaps.min(initial=17) >= 17
    assert gaps.max(initial=17) <= WIDEST_GAP


def test_most_couples_are_of_similar_age_and_the_man_is_older() -> None:
    made = residents()
    couple = (made.role == Role.MARRIED) & (count(made, Role.MARRIED) == 2)
    men, women = (made.age[couple & (made.sex == sex)].astype(int) for sex in (0, 1))
    assert len(men) == len(women) > 10_000
    assert 1 < (men - women).mean() < 4
    assert (abs(men - women) <= 10).mean() > 0.95


def test_a_married_couple_is_of_opposite_sex_unless_it_says_otherwise() -> None:
    made = residents()
    for role, sexes in ((Role.MARRIED, {1}), (Role.MARRIED_SAME_SEX, {0, 2})):
        chosen = (made.role == role) & (count(made, role) == 2)
        women = np.bincount(made.first[chosen], made.sex[chosen])
        assert set(women[made.first[chosen]].tolist()) == sexes


def test_there_are_households_of_all_sizes() -> None:
    made = residents()
    private = (made.first == np.arange(len(made))) & (made.role < Role.INSTITUTION)
    shares = np.bincount(sizes(made)[private]) / private.sum()
    assert made.households == private.sum()
    assert 0.3 < shares[1] < 0.4
    assert (shares[1:9] > 0).all()
    assert (shares[1:7] == sorted(shares[1:7], reverse=True)).all()
    assert 2.1 < len(made) / made.households < 2.4


def test_few_live_outside_private_households_and_some_families_together() -> None:
    made = residents()
    assert 0.005 < (made.role >= Role.INSTITUTION).mean() < 0.03
    nucleus = np.isin(made.role, NUCLEUS)
    assert 0.75 < nucleus.mean() < 0.85
    assert (count(made, *PARTNERS) == 4).any()
