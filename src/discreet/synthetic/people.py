"""Ages and sexes: the target table of the synthetic census, and persons drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.shares import FINE, OLDEST, Choice

if TYPE_CHECKING:
    from discreet.synthetic.randomness import Bytes, Draws

MAN, WOMAN = 0, 1

AGES_AND_SEXES = {
    0: (245, 233), 5: (260, 247), 10: (265, 252), 15: (262, 248), 20: (275, 263), 25: (301, 288), 30: (325, 316),
    35: (335, 330), 40: (340, 337), 45: (347, 347), 50: (361, 364), 55: (350, 362), 60: (315, 337), 65: (275, 310),
    70: (235, 280), 75: (165, 215), 80: (125, 195), 85: (65, 125), 90: (23, 60), 95: (4, 15), 100: (1, 2),
}  # fmt: skip
"""Men and women of every 10,000 persons, from this age up to the next: illustrative, after Europe about 2021."""

THINNING = {0: 1.0, 75: 0.98, 80: 0.97, 85: 0.87}
"""How many there are of each age for one of the age before, within groups that start at this age or later."""


@dataclass(frozen=True)
class People:
    """Persons without a household yet: age in years, 100 for all above, and sex."""

    age: Bytes
    sex: Bytes

    @classmethod
    def draw(cls, persons: int, draws: Draws) -> People:
        """Return persons of the target table, each drawn for itself."""
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
_CHOICE = Choice([2 * age + sex for age, sex in _TARGET], [list(_TARGET.values())], bits=FINE)
