"""Households: families, persons alone or sharing, and institutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.couples import pair_partners
from discreet.synthetic.forming import Forming
from discreet.synthetic.parents import place_children
from discreet.synthetic.roles import ADULT, ROLES, Role
from discreet.synthetic.shares import ChoiceByAge, same_for_both

if TYPE_CHECKING:
    from discreet.synthetic.people import People
    from discreet.synthetic.randomness import Bytes, Draws, Places

SHARING = ChoiceByAge([Role.SHARING, Role.ALONE], same_for_both({0: [40], 25: [25], 35: [12], 65: [10], 80: [15]}))
"""The percentage of persons on their own who share a household, by age; the others live alone."""
WITH_FAMILIES = 0.5
"""The share of those who share that live with a family; the others live with each other, by two, three or four."""
SECOND_FAMILIES = 0.015
"""The share of families that live in the household of another family."""
HOUSEHOLD_SIZES = {1: 35.2, 2: 32.9, 3: 17.5, 4: 8.7, 5: 3.6, 6: 2.1}
"""Percentages of private households by size, 6 for all above: what these shares and those of `ROLES` come to."""
INSTITUTION_SIZE = 40
HOMELESS = 0.03
"""The share of adults outside private households who are not in an institution."""


@dataclass(frozen=True)
class Residents:
    """Persons in households, members of one household next to each other.

    Attributes:
        age: in years, 100 for all above.
        sex: 0 for men, 1 for women.
        role: a `Role`.
        first: where each person's household starts; an adult stands there, but in homes for children.
    """

    age: Bytes
    sex: Bytes
    role: Bytes
    first: Places

    def __len__(self) -> int:
        return len(self.age)

    @property
    def households(self) -> int:
        """Return the number of private households."""
        starts = self.first == np.arange(len(self))
        return int((starts & (self.role != Role.INSTITUTION) & (self.role != Role.HOMELESS)).sum())


def form_households(people: People, draws: Draws) -> Residents:
    """Return the persons in households that fit their ages and sexes."""
    role = ROLES.draw(people.age, people.sex, draws.noise(len(people.age)))
    forming = Forming(people, role, draws)
    pair_partners(forming)
    place_children(forming)
    families = np.concatenate([forming.couples, forming.having(Role.LONE_PARENT)])
    _gather_others(forming, families)
    _join_families(forming, families)
    _fill_institutions(forming)
    return _ordered(forming)


def _gather_others(forming: Forming, families: Places) -> None:
    """Let persons on their own live alone, with a family, or with each other."""
    people, draws = forming.people, forming.draws
    others = forming.having(Role.OTHER)
    forming.role[others] = SHARING.draw(people.age[others], people.sex[others], draws.noise(len(others)))
    sharing = forming.having(Role.SHARING)
    joins = draws.happens(WITH_FAMILIES if len(families) else 0, len(sharing))
    guests, flatmates = sharing[joins], sharing[~joins]
    forming.head[guests] = families[draws.below(len(families), len(guests))]

    flatmates = flatmates[np.argsort(people.age[flatmates], kind="stable")]
    ends = np.cumsum(2 + draws.below(3, len(flatmates)))
    group = np.searchsorted(ends, np.arange(len(flatmates)), side="right")
    starts = np.concatenate([[0], ends])[group]
    forming.head[flatmates] = flatmates[starts]
    if len(flatmates) and starts[-1] == len(flatmates) - 1:
        # Nobody was left to share with.
        forming.role[flatmates[-1]] = Role.ALONE


def _join_families(forming: Forming, families: Places) -> None:
    """Let a few families live with another family."""
    joins = forming.draws.happens(SECOND_FAMILIES, len(families))
    hosts, guests = families[~joins], families[joins]
    if len(hosts):
        moved = np.arange(len(forming.head))
        moved[guests] = hosts[forming.draws.below(len(hosts), len(guests))]
        forming.head = moved[forming.head]


def _fill_institutions(forming: Forming) -> None:
    """Put those in institutions together by age, so that there are homes for children and for the old."""
    age = forming.people.age
    inside = forming.having(Role.INSTITUTION)
    homeless = forming.draws.happens(HOMELESS, len(inside)) & (age[inside] >= ADULT)
    forming.role[inside[homeless]] = Role.HOMELESS
    inside = inside[~homeless]
    inside = inside[np.argsort(age[inside], kind="stable")]
    places = np.arange(len(inside))
    forming.head[inside] = inside[places - places % INSTITUTION_SIZE]


def _ordered(forming: Forming) -> Residents:
    """Return the persons household by household, the head first; households stand in random order as persons do."""
    leads = forming.head == np.arange(len(forming.head))
    order = np.concatenate([np.flatnonzero(leads), np.flatnonzero(~leads)])
    # Numbers of 16 bits are sorted by radix, several times as quickly as larger ones.
    small = np.uint16 if len(order) <= 1 << 16 else np.int64
    order = order[np.argsort(forming.head[order].astype(small), kind="stable")]
    head = forming.head[order]
    starts = np.flatnonzero(np.concatenate([[True], head[1:] != head[:-1]]))
    first = np.repeat(starts, np.diff(np.append(starts, len(head))))
    people = forming.people
    return Residents(people.age[order], people.sex[order], forming.role[order], first)
