"""Ages, sexes and household roles of synthetic persons: the target tables, and persons drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.random_choice import FINE, OLDEST, ChoiceByAge, ShareTable

if TYPE_CHECKING:
    from discreet.synthetic.random_choice import Bytes, Draws

MAN, WOMAN = 0, 1

AGES_AND_SEXES = {
    0: (245, 233), 5: (260, 247), 10: (265, 252), 15: (262, 248), 20: (275, 263), 25: (301, 288), 30: (325, 316),
    35: (335, 330), 40: (340, 337), 45: (347, 347), 50: (361, 364), 55: (350, 362), 60: (315, 337), 65: (275, 310),
    70: (235, 280), 75: (165, 215), 80: (125, 195), 85: (65, 125), 90: (23, 60), 95: (4, 15), 100: (1, 2),
}  # fmt: skip
"""Men and women per 10,000 persons, from this age up to the next: illustrative, modelled on Europe around 2021."""

THINNING = {0: 1.0, 75: 0.98, 80: 0.97, 85: 0.87}
"""Ratio of the numbers of persons of successive ages, within groups that start at this age or later."""


@dataclass(frozen=True)
class AgesAndSexes:
    """Persons before they join households: age in years (100 for 100 and over) and sex."""

    age: Bytes
    sex: Bytes

    @classmethod
    def draw(cls, persons: int, draws: Draws) -> AgesAndSexes:
        """Return persons drawn independently from the target table."""
        both = _CHOICE.draw(0, draws.noise(persons))
        return cls(both >> np.uint8(1), both & np.uint8(1))


def target() -> dict[tuple[int, int], float]:
    """Return the share of every age and sex."""
    shares: dict[tuple[int, int], float] = {}
    starts = [*AGES_AND_SEXES, OLDEST + 1]
    for start, end in pairwise(starts):
        weights = _thinning(start) ** np.arange(end - start)
        weights /= weights.sum()
        for sex in (MAN, WOMAN):
            for age, weight in zip(range(start, end), weights.tolist(), strict=True):
                shares[age, sex] = AGES_AND_SEXES[start][sex] * weight / 10_000
    return shares


def _thinning(start: int) -> float:
    return next(factor for age, factor in reversed(THINNING.items()) if age <= start)


_TARGET = target()
_CHOICE = ShareTable([2 * age + sex for age, sex in _TARGET], [list(_TARGET.values())], bits=FINE)


class Role(IntEnum):
    """The role of a person in a household.

    The order matters: married persons come first, persons outside private households from INSTITUTION on. The last two
    roles are used only until households are formed.
    """

    MARRIED = 0
    MARRIED_SAME_SEX = 1
    UNMARRIED_PARTNER = 2
    LONE_PARENT = 3
    CHILD_OF_COUPLE = 4
    CHILD_OF_LONE_PARENT = 5
    ALONE = 6
    SHARING = 7
    INSTITUTION = 8
    HOMELESS = 9
    PARTNER = 10
    OTHER = 11


ADULT = 18
"""Minimum age of adults. Younger persons are children in a family or live in an institution."""

ROLES = ChoiceByAge(
    [Role.INSTITUTION, Role.CHILD_OF_COUPLE, Role.CHILD_OF_LONE_PARENT, Role.PARTNER, Role.OTHER],
    {
        0: ((0.1, 89.9, 10, 0), (0.1, 89.9, 10, 0)),
        5: ((0.2, 85.8, 14, 0), (0.2, 85.8, 14, 0)),
        10: ((0.3, 83.7, 16, 0), (0.3, 83.7, 16, 0)),
        15: ((0.7, 82.3, 17, 0), (0.7, 82.3, 17, 0)),
        18: ((1, 66, 18, 2), (1, 62, 17, 5)),
        20: ((1, 46, 13, 14), (1, 36, 10, 25)),
        25: ((1, 21, 7, 43), (1, 12, 4, 57)),
        30: ((1, 8, 4, 63), (0.5, 4, 2, 70)),
        35: ((1, 4, 3, 70), (0.5, 2, 1, 74)),
        40: ((1, 3, 3, 72), (0.5, 1, 1, 74)),
        45: ((1, 2, 3, 73), (0.5, 1, 1, 73)),
        50: ((1, 1, 3, 74), (0.5, 0.5, 1, 72)),
        55: ((1, 0.5, 2, 75), (0.5, 0.2, 1, 71)),
        60: ((1, 0.2, 1, 76), (0.7, 0.1, 0.5, 69)),
        65: ((1, 0, 0.5, 77), (1, 0, 0.2, 64)),
        70: ((1.5, 0, 0, 77), (1.5, 0, 0, 57)),
        75: ((2, 0, 0, 76), (3, 0, 0, 48)),
        80: ((4, 0, 0, 72), (6, 0, 0, 34)),
        85: ((8, 0, 0, 62), (14, 0, 0, 18)),
        90: ((17, 0, 0, 46), (27, 0, 0, 6)),
        95: ((30, 0, 0, 28), (40, 0, 0, 2)),
    },
)
"""In institutions, child of a couple, child of a lone parent, partner; the rest are lone parents, alone or sharing."""

NUCLEUS = (
    Role.MARRIED,
    Role.MARRIED_SAME_SEX,
    Role.UNMARRIED_PARTNER,
    Role.LONE_PARENT,
    Role.CHILD_OF_COUPLE,
    Role.CHILD_OF_LONE_PARENT,
)
"""Roles in a family nucleus."""
