"""Households of synthetic persons (families, persons alone or sharing, institutions) and the topics they determine.

Partners are matched by similar age; most couples have opposite sexes and are married. Children are assigned to
couples, or to persons without a partner, who become lone parents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.demography import ADULT, MAN, NUCLEUS, ROLES, WOMAN, Role
from discreet.synthetic.random_choice import OLDEST, ChoiceByAge, ShareTable, same_for_both

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.synthetic.demography import AgesAndSexes
    from discreet.synthetic.random_choice import Bytes, Draws, Places

    Leaves = Mapping[str, Mapping[str, int]]

SAME_SEX = 0.01
"""Share of persons with a partner whose partner has the same sex."""

PER_YEAR, SPREAD = 256, 8
"""Partners are matched by the rank of age plus a random number of up to 8 years, in steps of 1/256 of a year."""

MARRIED = ChoiceByAge([1, 0], same_for_both({0: [15], 25: [40], 30: [60], 35: [71], 45: [79], 55: [87], 65: [94]}))
"""Percentage of couples that are married, by the age of the younger partner."""


def pair_partners(forming: HouseholdDraft) -> None:
    """Match partners and draw which couples are married; unmatched persons lose the role of a partner."""
    sex, draws = forming.people.sex, forming.draws
    partners = forming.with_role(Role.PARTNER)
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
    """Match men and women by rank of age; persons are in random order, so that the first ones are a random sample."""
    pairs = min(len(men), len(women))
    return _by_age(men[:pairs], age, draws), _by_age(women[:pairs], age, draws)


def _by_age(persons: Places, age: Bytes, draws: Draws) -> Places:
    ages = age[persons].astype(np.uint16) * np.uint16(PER_YEAR)
    return persons[np.argsort(ages + draws.noise(len(persons)) % np.uint16(SPREAD * PER_YEAR), kind="stable")]


def _within(persons: Places, age: Bytes) -> tuple[Places, Places]:
    """Match neighbours in age."""
    ordered = persons[np.argsort(age[persons], kind="stable")][: len(persons) // 2 * 2]
    return ordered[::2], ordered[1::2]


def _unions(one: Places, other: Places, forming: HouseholdDraft) -> Bytes:
    people = forming.people
    forming.younger = np.minimum(people.age[one], people.age[other])
    married = MARRIED.draw(forming.younger, people.sex[one], forming.draws.noise(len(one)))
    kind = np.where(people.sex[one] == people.sex[other], Role.MARRIED_SAME_SEX, Role.MARRIED)
    return np.where(married, kind, Role.UNMARRIED_PARTNER).astype(np.uint8)


@dataclass
class HouseholdDraft:
    """Persons of one block while households are formed.

    Attributes:
        people: ages and sexes.
        role: the role of each person; changes until households are formed.
        draws: the random numbers.
        head: the head of each person's household; initially the person.
        couples: the heads of couples.
        younger: the age of the younger partner of each couple.
    """

    people: AgesAndSexes
    role: Bytes
    draws: Draws
    head: Places = field(init=False)
    couples: Places = field(init=False)
    younger: Bytes = field(init=False)

    def __post_init__(self) -> None:
        self.head = np.arange(len(self.role))

    def with_role(self, role: Role) -> Places:
        """Return the persons with a role."""
        return np.flatnonzero(self.role == role)


LONE_MOTHERS = 0.85
"""Share of children of lone parents who live with their mother."""

AGE_AT_BIRTH = {17: 1, 20: 4, 25: 8, 30: 7.5, 35: 3.5, 40: 0.8}
"""Weight of each age of a parent at birth, from this age on and up to 44; of a couple, the younger partner's age."""
OLDEST_AT_BIRTH = 44
WIDEST_GAP = 50
"""If no parent of the drawn age exists, an older one is chosen, at most this many years older than the child."""

_YEARS = range(min(AGE_AT_BIRTH), OLDEST_AT_BIRTH + 1)
_GAPS = ShareTable(_YEARS, [[next(AGE_AT_BIRTH[a] for a in reversed(AGE_AT_BIRTH) if a <= year) for year in _YEARS]])


def place_children(forming: HouseholdDraft) -> None:
    """Assign children to couples and lone parents; unassigned minors live in institutions, others on their own."""
    children = forming.with_role(Role.CHILD_OF_COUPLE)
    left = _give(forming, children, forming.couples, forming.younger)
    forming.role[left] = Role.CHILD_OF_LONE_PARENT
    _place_with_lone_parents(forming)


def _place_with_lone_parents(forming: HouseholdDraft) -> None:
    age = forming.people.age
    children = forming.with_role(Role.CHILD_OF_LONE_PARENT)
    single = forming.with_role(Role.OTHER)
    women = forming.people.sex[single] == WOMAN
    mothers, fathers = single[women], single[~women]
    with_mother = forming.draws.happens(LONE_MOTHERS, len(children))
    motherless = _give(forming, children[with_mother], mothers, age[mothers])
    fatherless = _give(forming, children[~with_mother], fathers, age[fathers])
    # If no father has a suitable age, try mothers.
    left = np.concatenate([motherless, _give(forming, fatherless, mothers, age[mothers])])
    forming.role[left] = np.where(age[left] < ADULT, Role.INSTITUTION, Role.OTHER)
    forming.role[forming.head[forming.with_role(Role.CHILD_OF_LONE_PARENT)]] = Role.LONE_PARENT


def _give(forming: HouseholdDraft, children: Places, parents: Places, ages: Bytes) -> Places:
    """Assign children to parents of suitable ages; return the children without a parent."""
    found = _find(forming.people.age[children], ages, forming.draws)
    forming.head[children[found >= 0]] = parents[found[found >= 0]]
    return children[found < 0]


def _find(children: Bytes, parents: Bytes, draws: Draws) -> Places:
    """Return the position of a parent of suitable age for each child, or -1."""
    order = np.argsort(parents, kind="stable")
    # The first position of the parents of each age; ages above all parents have the end of the list.
    starts = np.searchsorted(parents[order], np.arange(OLDEST + OLDEST_AT_BIRTH + 2))
    wanted = children.astype(np.intp) + _GAPS.draw(0, draws.noise(len(children)))
    begin = starts[wanted]
    chosen = begin + draws.below(np.maximum(starts[wanted + 1] - begin, 1), len(children))
    if not len(parents):
        return np.full(len(children), -1)
    found = order.take(chosen, mode="clip")
    fits = (chosen < len(parents)) & (parents[found] - children.astype(np.intp) <= WIDEST_GAP)
    return np.where(fits, found, -1)


SHARING = ChoiceByAge([Role.SHARING, Role.ALONE], same_for_both({0: [40], 25: [25], 35: [12], 65: [10], 80: [15]}))
"""Percentage of persons on their own who share a household, by age; the others live alone."""
WITH_FAMILIES = 0.5
"""Share of persons sharing a household who live with a family; the others form groups of two, three or four."""
SECOND_FAMILIES = 0.015
"""Share of families that live in the household of another family."""
HOUSEHOLD_SIZES = {1: 35.2, 2: 32.9, 3: 17.5, 4: 8.7, 5: 3.6, 6: 2.1}
"""Percentages of private households by size (6 and over in one class) that follow from these shares and `ROLES`."""
INSTITUTION_SIZE = 40
HOMELESS = 0.03
"""Share of adults outside private households who are not in an institution."""


@dataclass(frozen=True)
class Residents:
    """Persons in households; the members of a household are adjacent.

    Attributes:
        age: the age in years; 100 for 100 and over.
        sex: 0 for men, 1 for women.
        role: a `Role`.
        first: the position of the first person of each person's household; an adult, except in homes for children.
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


def form_households(people: AgesAndSexes, draws: Draws) -> Residents:
    """Return the persons in households that are plausible for their ages and sexes."""
    role = ROLES.draw(people.age, people.sex, draws.noise(len(people.age)))
    forming = HouseholdDraft(people, role, draws)
    pair_partners(forming)
    place_children(forming)
    families = np.concatenate([forming.couples, forming.with_role(Role.LONE_PARENT)])
    _gather_others(forming, families)
    _join_families(forming, families)
    _fill_institutions(forming)
    return _ordered(forming)


def _gather_others(forming: HouseholdDraft, families: Places) -> None:
    """Place persons on their own: alone, with a family, or in shared households."""
    people, draws = forming.people, forming.draws
    others = forming.with_role(Role.OTHER)
    forming.role[others] = SHARING.draw(people.age[others], people.sex[others], draws.noise(len(others)))
    sharing = forming.with_role(Role.SHARING)
    joins = draws.happens(WITH_FAMILIES if len(families) else 0, len(sharing))
    guests, flatmates = sharing[joins], sharing[~joins]
    forming.head[guests] = families[draws.below(len(families), len(guests))]

    flatmates = flatmates[np.argsort(people.age[flatmates], kind="stable")]
    ends = np.cumsum(2 + draws.below(3, len(flatmates)))
    group = np.searchsorted(ends, np.arange(len(flatmates)), side="right")
    starts = np.concatenate([[0], ends])[group]
    forming.head[flatmates] = flatmates[starts]
    if len(flatmates) and starts[-1] == len(flatmates) - 1:
        # The last person has no one to share with.
        forming.role[flatmates[-1]] = Role.ALONE


def _join_families(forming: HouseholdDraft, families: Places) -> None:
    """Move a few families into the households of other families."""
    joins = forming.draws.happens(SECOND_FAMILIES, len(families))
    hosts, guests = families[~joins], families[joins]
    if len(hosts):
        moved = np.arange(len(forming.head))
        moved[guests] = hosts[forming.draws.below(len(hosts), len(guests))]
        forming.head = moved[forming.head]


def _fill_institutions(forming: HouseholdDraft) -> None:
    """Group persons in institutions by age, so that there are homes for children and for the elderly."""
    age = forming.people.age
    inside = forming.with_role(Role.INSTITUTION)
    homeless = forming.draws.happens(HOMELESS, len(inside)) & (age[inside] >= ADULT)
    forming.role[inside[homeless]] = Role.HOMELESS
    inside = inside[~homeless]
    inside = inside[np.argsort(age[inside], kind="stable")]
    places = np.arange(len(inside))
    forming.head[inside] = inside[places - places % INSTITUTION_SIZE]


def _ordered(forming: HouseholdDraft) -> Residents:
    """Return the persons by household, the head first; households are in random order, like persons."""
    leads = forming.head == np.arange(len(forming.head))
    order = np.concatenate([np.flatnonzero(leads), np.flatnonzero(~leads)])
    # Radix sort of 16-bit numbers is several times as fast as sorting larger ones.
    small = np.uint16 if len(order) <= 1 << 16 else np.int64
    order = order[np.argsort(forming.head[order].astype(small), kind="stable")]
    head = forming.head[order]
    starts = np.flatnonzero(np.concatenate([[True], head[1:] != head[:-1]]))
    first = np.repeat(starts, np.diff(np.append(starts, len(head))))
    people = forming.people
    return Residents(people.age[order], people.sex[order], forming.role[order], first)


FAMILY_STATUS = {
    Role.MARRIED: "1.1.1",
    Role.MARRIED_SAME_SEX: "1.1.2",
    Role.UNMARRIED_PARTNER: "1.2",
    Role.LONE_PARENT: "2",
    Role.CHILD_OF_COUPLE: "3.1",
    Role.CHILD_OF_LONE_PARENT: "3.2",
}
NO_NUCLEUS = "5"
HOUSEHOLD_STATUS = dict.fromkeys(NUCLEUS, "1.1") | {
    Role.ALONE: "1.2.1",
    Role.SHARING: "1.2.2",
    Role.INSTITUTION: "2.1",
    Role.HOMELESS: "2.2",
}
OUTSIDE = tuple(code for role, code in HOUSEHOLD_STATUS.items() if role >= Role.INSTITUTION)
"""The codes of HST outside private households."""
MARITAL_STATUS = {Role.MARRIED: "2.1", Role.MARRIED_SAME_SEX: "2.2"}

NOT_MARRIED = {
    0: ((0, 0, 0), (0, 0, 0)),
    18: ((0, 0.2, 0.3), (0, 0.5, 0.3)),
    25: ((0, 2, 0.3), (0.2, 4, 0.3)),
    35: ((0.3, 12, 0.3), (1, 20, 0.3)),
    45: ((1, 30, 0.3), (4, 40, 0.3)),
    55: ((4, 42, 0.3), (15, 47, 0.3)),
    65: ((18, 45, 0.3), (43, 37, 0.3)),
    75: ((43, 30, 0.3), (70, 18, 0.3)),
    85: ((72, 14, 0.3), (85, 7, 0.3)),
}
"""Percentages widowed, divorced and not stated of unmarried persons, by age, men and women; the rest never married."""

OTHER_HOUSING, UNKNOWN_HOUSING = 0.3, 0.2
"""Percentages of private households that live in no conventional dwelling, or whose housing is not stated."""


class HouseholdTopics:
    """Draws the topics FST, HST, LMS and HAR."""

    def __init__(self, leaves: Leaves) -> None:
        self._family = _by_role(leaves["FST"], FAMILY_STATUS, NO_NUCLEUS)
        self._household = _by_role(leaves["HST"], HOUSEHOLD_STATUS, "1.3")
        marital = leaves["LMS"]
        self._married = _by_role(marital, MARITAL_STATUS, "1")
        self._not_married = ChoiceByAge([marital[code] for code in ("3", "4", "5", "1")], NOT_MARRIED)
        housing = leaves["HAR"]
        self._private = ShareTable(
            [housing[code] for code in ("1.1", "2", "3")],
            [[100 - OTHER_HOUSING - UNKNOWN_HOUSING, OTHER_HOUSING, UNKNOWN_HOUSING]],
        )
        self._outside = _by_role(housing, {Role.INSTITUTION: "1.2", Role.HOMELESS: "2"}, "1.1")

    def draw(self, residents: Residents, draws: Draws) -> dict[str, Bytes]:
        """Return the topics as positions among their leaves."""
        role = residents.role
        return {
            "FST": self._family.take(role),
            "HST": self._household.take(role),
            "LMS": self._marital_status(residents, draws),
            "HAR": self._housing(residents, draws),
        }

    def _marital_status(self, residents: Residents, draws: Draws) -> Bytes:
        drawn = self._not_married.draw(residents.age, residents.sex, draws.noise(len(residents)))
        return np.where(residents.role <= Role.MARRIED_SAME_SEX, self._married.take(residents.role), drawn)

    def _housing(self, residents: Residents, draws: Draws) -> Bytes:
        """Return the kind of housing, one per household."""
        private = self._private.draw(0, draws.noise(len(residents))[residents.first])
        return np.where(residents.role >= Role.INSTITUTION, self._outside.take(residents.role), private)


def _by_role(places: Mapping[str, int], codes: Mapping[Role, str], otherwise: str) -> Bytes:
    return np.array([places[codes.get(role, otherwise)] for role in Role], dtype=np.uint8)
