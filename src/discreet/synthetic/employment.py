"""Education, activity, occupation, industry and place of work of synthetic persons.

Shares of education and activity depend on age and sex. The occupation of employed persons depends on their education,
industry and status on their occupation, and the place of work on their place of residence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.demography import Role
from discreet.synthetic.random_choice import FINE, ChoiceByAge, ShareTable, same_for_both

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags
    from discreet.synthetic.households import Residents
    from discreet.synthetic.random_choice import Bytes, Draws, Places
    from discreet.synthetic.residence import Geography

    Leaves = Mapping[str, Mapping[str, int]]

UNKNOWN = {"OCC": "11", "IND": "11", "SIE": "5", "LPW": "4"}
NOT_APPLICABLE = {"OCC": "12", "IND": "12", "SIE": "6", "LPW": "5"}
"""The codes of persons whose activity is not stated, and of persons who are not employed."""

OCCUPATIONS = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11")
OCCUPATION = {
    "low": ((2, 2, 5, 5, 14, 6, 28, 17, 20, 0.3, 0.7), (1, 2, 4, 9, 34, 4, 5, 6, 34, 0.1, 0.9)),
    "middle": ((5, 5, 15, 8, 13, 4, 27, 14, 7, 1, 1), (3, 5, 15, 19, 34, 2, 5, 5, 11, 0.2, 0.8)),
    "high": ((12, 50, 19, 6, 4, 1, 3, 2, 1.5, 0.5, 1), (7, 53, 18, 11, 7, 0.4, 0.8, 0.6, 1.3, 0.1, 0.8)),
}
"""Percentages of occupations 1 to 11 for men and women, by education."""
EDUCATION_CLASS = {"1": "low", "2": "low", "3": "low", "4": "middle", "5": "middle", "10": "middle"}
"""All other levels of education are high."""

INDUSTRY: dict[str, dict[str, float]] = {
    "1 2 3 4 11": {
        "1": 1, "2.1": 0.3, "2.2": 13, "2.3": 1.5, "2.4": 0.8, "3": 4, "4.1": 11, "4.2": 5, "4.3": 2, "5": 8, "6": 7,
        "7": 2, "8.1": 13, "8.2": 5, "9.1": 11, "9.2": 12, "9.3": 9, "10.1": 2, "10.2": 2, "10.4": 0.2, "11": 0.5,
    },
    "5": {
        "2.2": 3, "4.1": 32, "4.2": 4, "4.3": 18, "8.2": 4, "9.1": 7, "9.2": 6, "9.3": 18, "10.1": 2, "10.2": 7,
        "10.3": 2, "11": 0.5,
    },
    "6": {"1": 92, "8.2": 5, "9.1": 2, "11": 0.5},
    "7 8": {
        "1": 1, "2.1": 1, "2.2": 38, "2.3": 1.5, "2.4": 2, "3": 28, "4.1": 10, "4.2": 14, "8.2": 2, "10.2": 1,
        "11": 0.5,
    },
    "9": {
        "1": 8, "2.2": 12, "2.4": 2, "3": 10, "4.1": 9, "4.2": 8, "4.3": 12, "8.2": 18, "9.1": 4, "9.2": 4, "9.3": 6,
        "10.2": 2, "10.3": 8, "11": 0.5,
    },
    "10": {"9.1": 100},
}  # fmt: skip
"""Weights of industries by occupation."""
WOMEN = {"2.2": 0.6, "3": 0.2, "4.2": 0.5, "4.3": 1.3, "9.2": 2.2, "9.3": 3, "10.2": 1.6, "10.3": 4}
"""Factor on the weight of an industry for women; 1 for all other industries."""

STATUSES = ("1", "2", "3", "4", "5")
STATUS = {
    "1": (70, 20, 9, 0.5, 0.5),
    "2": (84, 3, 12, 0.5, 0.5),
    "6": (40, 8, 42, 9.5, 0.5),
    "7": (80, 5, 14, 0.5, 0.5),
}
OTHER_STATUS = (92, 1.5, 5.5, 0.5, 0.5)
"""Percentages of employees, employers, own-account, other and not stated, by occupation."""

WORKPLACES = ("here", "elsewhere", "1.y", "2", "3", "4")
WORKPLACE = (87, 6, 1, 2, 3, 1)
"""Percentages working in the own region (NUTS 2), in any region, in an unknown region, abroad, mobile, not stated."""


class Jobs:
    """Draws the topics OCC, IND, SIE and LPW."""

    def __init__(self, leaves: Leaves, geography: Geography) -> None:
        self._leaves = leaves
        occupation = leaves["OCC"]
        self._occupation = ShareTable(
            [occupation[code] for code in OCCUPATIONS], [r for o in OCCUPATION.values() for r in o]
        )
        grades = list(OCCUPATION)
        self._grade = _row_by_code(
            leaves["EDU"], {code: 2 * grades.index(grade) for code, grade in EDUCATION_CLASS.items()}, 4
        )
        self._industry = ShareTable(list(leaves["IND"].values()), _industries(leaves))
        self._status = ShareTable([leaves["SIE"][code] for code in STATUSES], _statuses(leaves))
        self._workplace = ShareTable(range(len(WORKPLACES)), [WORKPLACE])
        self._kinds = np.array([leaves["LPW"].get(kind, 0) for kind in WORKPLACES], dtype=np.uint8)
        regions = np.array([leaves["LPW"][f"1.{region}"] for region in geography.regions], dtype=np.uint8)
        self._region = regions[geography.region]
        weights = np.bincount(geography.region, geography.sizes, minlength=len(regions))
        self._any_region = ShareTable(regions.tolist(), [weights.tolist()], bits=FINE)

    def draw(
        self, residents: Residents, employed: Places, education: Bytes, area: NDArray[np.uint16], draws: Draws
    ) -> dict[str, Bytes]:
        """Return the topics of all persons, given the employed ones."""
        persons, count = len(residents), len(employed)
        sex = residents.sex[employed]
        occupation = self._occupation.draw(self._grade.take(education[employed]) + sex, draws.noise(count))
        found = {
            "OCC": occupation,
            "IND": self._industry.draw(2 * occupation + sex, draws.noise(count)),
            "SIE": self._status.draw(occupation, draws.noise(count)),
            "LPW": self._work_place(area[employed], draws),
        }
        return {topic: self._spread(topic, persons, employed, values) for topic, values in found.items()}

    def set_unknown(self, jobs: dict[str, Bytes], who: Flags) -> None:
        """Set the topics of persons whose activity is not stated to unknown."""
        for topic, code in UNKNOWN.items():
            jobs[topic][who] = self._leaves[topic][code]

    def _work_place(self, area: NDArray[np.uint16], draws: Draws) -> Bytes:
        kind = self._workplace.draw(0, draws.noise(len(area)))
        place = self._kinds.take(kind)
        here, elsewhere = kind == 0, np.flatnonzero(kind == 1)
        place = np.where(here, self._region.take(area), place)
        place[elsewhere] = self._any_region.draw(0, draws.noise(len(elsewhere)))
        return place

    def _spread(self, topic: str, persons: int, employed: Places, values: Bytes) -> Bytes:
        all_persons = np.full(persons, self._leaves[topic][NOT_APPLICABLE[topic]], dtype=np.uint8)
        all_persons[employed] = values
        return all_persons


def _row_by_code(places: Mapping[str, int], rows: Mapping[str, int], otherwise: int) -> Bytes:
    return np.array([rows.get(code, otherwise) for code in places], dtype=np.uint8)


def _industries(leaves: Leaves) -> list[list[float]]:
    """Return the weights of all industries, a row for every occupation and sex."""
    by_occupation = {code: weights for codes, weights in INDUSTRY.items() for code in codes.split()}
    rows = []
    for code in leaves["OCC"]:
        weights = by_occupation.get(code, {"12": 1})
        rows.append([weights.get(industry, 0) for industry in leaves["IND"]])
        rows.append([weights.get(industry, 0) * WOMEN.get(industry, 1) for industry in leaves["IND"]])
    return rows


def _statuses(leaves: Leaves) -> list[Sequence[float]]:
    return [STATUS.get(code, OTHER_STATUS) for code in leaves["OCC"]]


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

Outside private households no person is employed or unemployed.
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
        """Return the topics as positions among their leaves."""
        age, sex = residents.age, residents.sex
        education = self._education.draw(age, sex, draws.noise(len(residents)))
        activity = self._activity.draw(age, sex, draws.noise(len(residents)))
        outside = residents.role >= Role.INSTITUTION
        activity[outside & ((activity == self._employed) | (activity == self._unemployed))] = self._other
        employed = np.flatnonzero(activity == self._employed)
        jobs = self._jobs.draw(residents, employed, education, area, draws)
        self._jobs.set_unknown(jobs, activity == self._unknown)
        return {"EDU": education, "CAS": activity, **jobs}
