"""Education and work: shares by age and sex, then occupation, industry and place of work of those employed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.jobs import Jobs
from discreet.synthetic.roles import Role
from discreet.synthetic.shares import ChoiceByAge, same_for_both

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.synthetic.households import Residents
    from discreet.synthetic.places import Geography
    from discreet.synthetic.randomness import Bytes, Draws

    Leaves = Mapping[str, Mapping[str, int]]

ACTIVITIES = ("2.1", "1.1", "1.2", "2.2", "2.3", "3", "2.4")
ACTIVITY = {
    0: ((100, 0, 0, 0, 0, 0), (100, 0, 0, 0, 0, 0)),
    15: ((0, 3, 1, 0, 95, 0.5), (0, 3, 1, 0, 95, 0.5)),
    18: ((0, 25, 6, 0, 64, 0.5), (0, 23, 5, 0, 67, 0.5)),
    20: ((0, 49, 7, 0, 39, 0.5), (0, 43, 6, 0, 44, 0.5)),
    25: ((0, 79, 7, 0.5, 8, 0.5), (0, 70, 6, 0.5, 9, 0.5)),
    30: ((0, 87, 5, 1, 2, 0.5), (0, 75, 5, 1, 2, 0.5)),
    50: ((0, 84, 5, 3, 0, 0.5), (0, 73, 4, 3, 0, 0.5)),
    55: ((0, 75, 5, 10, 0, 0.5), (0, 62, 4, 11, 0, 0.5)),
    60: ((0, 48, 3, 40, 0, 0.5), (0, 34, 2, 44, 0, 0.5)),
    65: ((0, 12, 0.3, 86, 0, 0.5), (0, 7, 0.2, 85, 0, 0.5)),
    70: ((0, 5, 0, 93, 0, 0.5), (0, 2.5, 0, 92, 0, 0.5)),
    75: ((0, 1.5, 0, 97, 0, 0.5), (0, 0.5, 0, 94, 0, 0.5)),
}
"""Percentages below the minimum age, employed, unemployed, pensioners, students, not stated; the rest are others.

Outside private households nobody is employed or unemployed.
"""

LEVELS = ("11", "1", "2", "3", "5", "6", "7", "8", "9", "10", "4")
EDUCATION = {
    0: (100, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    15: (0, 0.5, 30, 64, 0, 0, 0, 0, 0, 0.5),
    18: (0, 0.5, 3, 51, 1, 0.5, 0, 0, 0, 0.5),
    20: (0, 0.5, 2, 14, 5, 5, 4, 0, 0, 0.5),
    22: (0, 0.5, 2, 13, 5, 6, 20, 3, 0, 0.5),
    25: (0, 0.5, 2, 11, 4, 6, 20, 16, 0.5, 0.5),
    35: (0, 0.5, 3, 14, 4, 6, 15, 15, 1.2, 0.5),
    55: (0, 1, 7, 20, 3, 5, 9, 10, 0.9, 0.5),
    65: (0, 2, 17, 25, 2, 4, 6, 6, 0.6, 0.5),
    75: (0, 5, 32, 25, 1, 2, 4, 3, 0.3, 0.5),
}
"""Percentages not applicable, ISCED 0, 1, 2, 4, 5, 6, 7, 8 and not stated; the rest have ISCED 3."""


class Work:
    """Draws the topics EDU, CAS, OCC, IND, SIE and LPW."""

    def __init__(self, leaves: Leaves, geography: Geography) -> None:
        activity = leaves["CAS"]
        self._activity = ChoiceByAge([activity[code] for code in ACTIVITIES], ACTIVITY)
        self._employed, self._unknown, self._other = (activity[code] for code in ("1.1", "3", "2.4"))
        self._unemployed = activity["1.2"]
        self._education = ChoiceByAge([leaves["EDU"][code] for code in LEVELS], same_for_both(EDUCATION))
        self._jobs = Jobs(leaves, geography)

    def draw(self, residents: Residents, area: NDArray[np.uint16], draws: Draws) -> dict[str, Bytes]:
        """Return the topics as places among their leaves."""
        age, sex = residents.age, residents.sex
        education = self._education.draw(age, sex, draws.noise(len(residents)))
        activity = self._activity.draw(age, sex, draws.noise(len(residents)))
        outside = residents.role >= Role.INSTITUTION
        activity[outside & ((activity == self._employed) | (activity == self._unemployed))] = self._other
        employed = np.flatnonzero(activity == self._employed)
        jobs = self._jobs.draw(residents, employed, education, area, draws)
        self._jobs.leave_unknown(jobs, activity == self._unknown)
        return {"EDU": education, "CAS": activity, **jobs}
