"""Ages and sexes: the target table, and persons drawn from it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.synthetic.demography import AGES_AND_SEXES, MAN, WOMAN, AgesAndSexes, target
from discreet.synthetic.random_choice import Draws
from tests.synthetic.sample import ACCEPT, REJECT, off_by_30_percent, p_value

PERSONS = 200_000


def counts() -> list[int]:
    people = AgesAndSexes.draw(PERSONS, Draws("a test of people"))
    return [int(((people.age == age) & (people.sex == sex)).sum()) for age, sex in target()]


def test_the_table_is_of_10_000_persons() -> None:
    assert sum(men + women for men, women in AGES_AND_SEXES.values()) == 10_000
    assert sum(target().values()) == pytest.approx(1)


def test_there_are_more_boys_and_more_old_women() -> None:
    shares = target()
    assert shares[0, MAN] > shares[0, WOMAN]
    for age in range(60, 101):
        assert shares[age, WOMAN] > shares[age, MAN]
    old = [shares[age, WOMAN] for age in range(80, 101)]
    assert old == sorted(old, reverse=True)


def test_persons_follow_the_table() -> None:
    found, shares = counts(), list(target().values())
    # Ages beyond 94 are too rare for the chi-square by themselves.
    rare = [place for place, (age, _) in enumerate(target()) if age >= 95]
    common = [place for place in range(len(found)) if place not in rare]
    pooled = [*(found[place] for place in common), sum(found[place] for place in rare)]
    wanted = [*(shares[place] for place in common), sum(shares[place] for place in rare)]
    assert p_value(pooled, wanted) > ACCEPT
    assert p_value(pooled, off_by_30_percent(wanted)) < REJECT


def test_every_person_has_an_age_and_a_sex() -> None:
    people = AgesAndSexes.draw(1000, Draws("few"))
    assert people.age.dtype == people.sex.dtype == np.uint8
    assert people.age.max() <= 100
    assert set(people.sex.tolist()) == {MAN, WOMAN}
