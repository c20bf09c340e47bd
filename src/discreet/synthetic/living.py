"""How persons live: household status, family status, marital status, housing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.roles import NUCLEUS, Role
from discreet.synthetic.shares import Choice, ChoiceByAge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.synthetic.households import Residents
    from discreet.synthetic.randomness import Bytes, Draws

    Leaves = Mapping[str, Mapping[str, int]]

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
"""Percentages widowed, divorced and not stated among those not married, by age, men and women; the rest never were."""

OTHER_HOUSING, UNKNOWN_HOUSING = 0.3, 0.2
"""Percentages of private households that live in no conventional dwelling, or whose housing is not stated."""


class Living:
    """Draws the topics FST, HST, LMS and HAR."""

    def __init__(self, leaves: Leaves) -> None:
        self._family = _by_role(leaves["FST"], FAMILY_STATUS, NO_NUCLEUS)
        self._household = _by_role(leaves["HST"], HOUSEHOLD_STATUS, "1.3")
        marital = leaves["LMS"]
        self._married = _by_role(marital, MARITAL_STATUS, "1")
        self._not_married = ChoiceByAge([marital[code] for code in ("3", "4", "5", "1")], NOT_MARRIED)
        housing = leaves["HAR"]
        self._private = Choice(
            [housing[code] for code in ("1.1", "2", "3")],
            [[100 - OTHER_HOUSING - UNKNOWN_HOUSING, OTHER_HOUSING, UNKNOWN_HOUSING]],
        )
        self._outside = _by_role(housing, {Role.INSTITUTION: "1.2", Role.HOMELESS: "2"}, "1.1")

    def draw(self, residents: Residents, draws: Draws) -> dict[str, Bytes]:
        """Return the topics as places among their leaves."""
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
        """A household has one kind of housing."""
        private = self._private.draw(0, draws.noise(len(residents))[residents.first])
        return np.where(residents.role >= Role.INSTITUTION, self._outside.take(residents.role), private)


def _by_role(places: Mapping[str, int], codes: Mapping[Role, str], otherwise: str) -> Bytes:
    return np.array([places[codes.get(role, otherwise)] for role in Role], dtype=np.uint8)
