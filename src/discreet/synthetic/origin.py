"""Where persons come from: place of birth, citizenship, year of arrival, residence a year ago."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.shares import Choice, ChoiceByAge, same_for_both

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Flags
    from discreet.synthetic.households import Residents
    from discreet.synthetic.nations import Nations
    from discreet.synthetic.randomness import Bytes, Draws

    Leaves = Mapping[str, Mapping[str, int]]

FOREIGN_BORN = {0: [2], 5: [6], 15: [10], 25: [20], 45: [15], 65: [9]}
"""The percentage born abroad, by age."""
ALIKE = 0.7
"""The chance that a person's origin goes by the luck of the household instead of one's own."""

CITIZEN_OF = ("1", "birth", "3", "4")
CITIZENSHIP = {
    "born here": (96.5, 3, 0.1, 0.4),
    "arrived in the last ten years": (6, 93, 0.6, 0.4),
    "arrived before": (50, 49, 0.6, 0.4),
}
"""Percentages of citizens of the country itself, of the country of birth (of the household's origin if born here),
of nobody, and not stated."""

SINCE = {0: 6, 1: 6, 2: 5.5, 7: 3.5, 12: 2.5, 17: 2, 27: 1.2, 42: 1}
"""How often a person born abroad arrived so many years ago, for each year from this one on; nobody before birth."""
LONGEST = 70
RETURNED = 4
"""The percentage of those born here who have lived abroad and come back."""
NEVER, UNKNOWN = 254, 255
"""In place of years since arrival."""
ARRIVAL_UNKNOWN = 0.5
"""The percentage of all arrivals whose year is not stated."""

YEARS = (
    *("1.1.1", "1.1.2"), *(f"1.{group}.{year}" for group in (2, 3, 4) for year in (1, 2, 3, 4, 5)),
    *(f"1.{group}" for group in (5, 6, 7, 8, 9) for _ in range(5)),
)  # fmt: skip
"""The code of YAE by years since arrival: 2021, 2020, .., 2005, then five years at a time; older ones are code 2."""
SINCE_2010 = 12

MOVES = ("1", "2.1.1", "2.1.2", "3")
MOVED = {0: (84, 10, 5.5), 30: (88, 7.5, 4), 45: (94, 3.8, 1.7), 65: (97, 1.7, 0.8)}
"""Percentages of households that stayed, moved within the NUTS 3 region, came from another one; the rest not stated."""


class Origin:
    """Draws the topics POB, COC, YAE, YAT and ROY."""

    def __init__(self, leaves: Leaves, nations: Nations, parts: int) -> None:
        self._residence = leaves["ROY"]
        self._nations = nations
        self._foreign = ChoiceByAge([1, 0], same_for_both(FOREIGN_BORN))
        self._citizenship = Choice(range(len(CITIZEN_OF)), list(CITIZENSHIP.values()))
        self._citizen_of = np.array([leaves["COC"].get(code, 0) for code in CITIZEN_OF], dtype=np.uint8)
        self._since = Choice(range(LONGEST), [_stepped(SINCE, LONGEST)])
        self._arrival = {topic: _by_years(leaves[topic], topic) for topic in ("YAE", "YAT")}
        # Nobody comes from another region of a country that is one region.
        moved = MOVED if parts > 1 else {age: (stay, near + far, 0) for age, (stay, near, far) in MOVED.items()}
        self._moved = ChoiceByAge([leaves["ROY"][code] for code in MOVES], same_for_both(moved))

    def draw(self, residents: Residents, draws: Draws) -> dict[str, Bytes]:
        """Return the topics as places among their leaves."""
        alike = draws.happens(ALIKE, len(residents))
        # One noise for a whole household leaves every share as it is and makes its members alike.
        whose = np.where(alike, residents.first, np.arange(len(residents)))
        foreign = self._foreign.draw(residents.age, residents.sex, draws.noise(len(residents))[whose]) == 1
        nation = self._nations.draw(draws.noise(len(residents))[whose])
        since = self._years_since(residents.age, foreign, draws)
        return {
            "POB": np.where(foreign, nation, self._nations.here),
            "COC": self._citizenships(foreign, since, nation, draws),
            **{topic: codes.take(since) for topic, codes in self._arrival.items()},
            "ROY": self._a_year_ago(residents, since, draws),
        }

    def _years_since(self, age: Bytes, foreign: Flags, draws: Draws) -> Bytes:
        """Return the years since the last arrival, never more than the age, or that there was none."""
        since = np.full(len(age), NEVER, dtype=np.uint8)
        returned = draws.happens(RETURNED / 100, len(age)) & ~foreign & (age > 0)
        came = np.flatnonzero(foreign | returned)
        # Who was born here has spent the first year of life here.
        lived = age[came].astype(np.intp) + foreign[came]
        years = self._since.draw(0, draws.noise(len(came)))
        spread = draws.below(lived, len(came))
        since[came] = np.where(years < lived, years, spread)
        since[came[draws.happens(ARRIVAL_UNKNOWN / 100, len(came))]] = UNKNOWN
        return since

    def _citizenships(self, foreign: Flags, since: Bytes, nation: Bytes, draws: Draws) -> Bytes:
        row = np.where(foreign, np.where(since < 10, np.uint8(1), np.uint8(2)), np.uint8(0))
        kind = self._citizenship.draw(row, draws.noise(len(since)))
        by_birth = kind == CITIZEN_OF.index("birth")
        return np.where(by_birth, self._nations.citizenship.take(nation), self._citizen_of.take(kind))

    def _a_year_ago(self, residents: Residents, since: Bytes, draws: Draws) -> Bytes:
        """Return the place of residence a year before: one for a household, but for who was born or arrived since."""
        codes, first = self._residence, residents.first
        moved = self._moved.draw(residents.age[first], residents.sex, draws.noise(len(residents))[first])
        moved[since == 0] = codes["2.2"]
        moved[residents.age == 0] = codes["4"]
        return moved


def _stepped(steps: dict[int, float], until: int) -> list[float]:
    return [next(value for start, value in reversed(steps.items()) if start <= place) for place in range(until)]


def _by_years(places: Mapping[str, int], topic: str) -> Bytes:
    """Return the code of a topic of arrival by years since arrival."""
    recent = YEARS if topic == "YAE" else ("1",) * SINCE_2010
    codes = np.full(256, places["2"], dtype=np.uint8)
    codes[: len(recent)] = [places[code] for code in recent]
    codes[UNKNOWN] = places["3"]
    return codes
