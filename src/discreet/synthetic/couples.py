"""Partners find each other: of similar age, most of them of opposite sex, most of them married."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.people import MAN, WOMAN
from discreet.synthetic.roles import Role
from discreet.synthetic.shares import ChoiceByAge, same_for_both

if TYPE_CHECKING:
    from discreet.synthetic.forming import Forming
    from discreet.synthetic.randomness import Bytes, Draws, Places

SAME_SEX = 0.01
"""The share of persons with a partner whose partner has the same sex."""

PER_YEAR, SPREAD = 256, 8
"""Partners are matched by rank of age plus up to 8 years by chance, in steps of 1/256 of a year."""

MARRIED = ChoiceByAge([1, 0], same_for_both({0: [15], 25: [40], 30: [60], 35: [71], 45: [79], 55: [87], 65: [94]}))
"""The percentage of couples that are married, by the age of the younger partner."""


def pair_partners(forming: Forming) -> None:
    """Pair the partners and tell who is married; who is left over is no partner."""
    sex, draws = forming.people.sex, forming.draws
    partners = forming.having(Role.PARTNER)
    same = draws.happens(SAME_SEX, len(partners))
    men, women = (partners[~same & (sex[partners] == each)] for each in (MAN, WOMAN))
    pairs = [_across(men, women, forming.people.age, draws)]
    pairs += [_within(partners[same & (sex[partners] == each)], forming.people.age) for each in (MAN, WOMAN)]
    one, other = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))

    forming.role[partners] = Role.OTHER
    forming.role[one] = forming.role[other] = _unions(one, other, forming)
    forming.head[other] = one
    forming.couples = one


def _across(men: Places, women: Places, age: Bytes, draws: Draws) -> tuple[Places, Places]:
    """Match men and women by rank of their age; persons stand in random order, so the first ones are a fair choice."""
    pairs = min(len(men), len(women))
    return _by_age(men[:pairs], age, draws), _by_age(women[:pairs], age, draws)


def _by_age(persons: Places, age: Bytes, draws: Draws) -> Places:
    ages = age[persons].astype(np.uint16) * np.uint16(PER_YEAR)
    return persons[np.argsort(ages + draws.noise(len(persons)) % np.uint16(SPREAD * PER_YEAR), kind="stable")]


def _within(persons: Places, age: Bytes) -> tuple[Places, Places]:
    """Match neighbours in age."""
    ordered = persons[np.argsort(age[persons], kind="stable")][: len(persons) // 2 * 2]
    return ordered[::2], ordered[1::2]


def _unions(one: Places, other: Places, forming: Forming) -> Bytes:
    people = forming.people
    forming.younger = np.minimum(people.age[one], people.age[other])
    married = MARRIED.draw(forming.younger, people.sex[one], forming.draws.noise(len(one)))
    kind = np.where(people.sex[one] == people.sex[other], Role.MARRIED_SAME_SEX, Role.MARRIED)
    return np.where(married, kind, Role.UNMARRIED_PARTNER).astype(np.uint8)
