"""Origin of synthetic persons: place of birth, citizenship, year of arrival, residence a year ago.

A few countries of birth are common, and most are rare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.programme.eu2021.census import countries
from discreet.synthetic.random_choice import FINE, ChoiceByAge, Draws, ShareTable, same_for_both

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Flags
    from discreet.programme.category_tree import CategoryTree
    from discreet.programme.model import Topic
    from discreet.synthetic.households import Residents
    from discreet.synthetic.random_choice import Bytes, Noise

    Leaves = Mapping[str, Mapping[str, int]]

PARTS = {
    "2.1": 40, "2.2.1": 20, "2.2.2": 14, "2.2.3": 8, "2.2.4": 2, "2.2.5": 15, "2.2.6": 0.5, "3": 0.2, "4": 0.3,
}  # fmt: skip
"""Percentages of persons born abroad: other EU states, rest of Europe, Africa, Caribbean with South and Central
America, North America, Asia, Oceania, elsewhere, and not stated."""
STEEPNESS = 1.1
"""Within a part of the world the country of rank r is r^-1.1 times as common as the first; ranks are random."""
OTHER_NAMES = {"Czechia": "Czech Republic"}
"""Countries with another name in the regulation."""


class Nations:
    """Countries of birth, each with its citizenship.

    Attributes:
        here: the position of the country itself among the leaves of POB.
        citizenship: the position of a leaf of COC for each leaf of POB.
    """

    def __init__(self, country: str, birth: Topic, citizenship: Topic, seed: int) -> None:
        births, births_tree = _codes(birth)
        citizens, citizens_tree = _codes(citizenship)
        name = countries()[country]["name"]
        labels = _labels(births_tree)
        own = next(code for code in births if labels[code] == OTHER_NAMES.get(name, name))
        self.here = np.uint8(births.index("1"))
        self.citizenship = _citizenships(births, births_tree, citizens, citizens_tree)
        weights = _weights(births, births_tree, own, Draws(country, seed, "nations"))
        self._choice = ShareTable(range(len(births)), [weights], bits=FINE)

    def draw(self, noise: Noise) -> Bytes:
        """Return one country abroad per random number, as a position among the leaves of POB."""
        return self._choice.draw(0, noise)


def _codes(topic: Topic) -> tuple[tuple[str, ...], CategoryTree]:
    codes, tree = topic.levels[-1].codes, topic.tree
    assert codes is not None  # noqa: S101 - both topics are listed in the regulation
    assert tree is not None  # noqa: S101
    return codes, tree


def _labels(tree: CategoryTree) -> dict[str, str]:
    return {category.code: category.labels["en"] for category in tree.categories}


def _weights(codes: tuple[str, ...], tree: CategoryTree, own: str, draws: Draws) -> list[float]:
    """Return the weight of each country; the country itself has weight 0."""
    weights = dict.fromkeys(codes, 0.0)
    for part, percent in PARTS.items():
        inside = [code for code in codes if part in tree.path(code) and code != own]
        ranked = (1.0 + draws.order(len(inside))) ** -STEEPNESS
        weights |= dict(zip(inside, (percent * ranked / ranked.sum()).tolist(), strict=True))
    return list(weights.values())


def _citizenships(
    births: tuple[str, ...], births_tree: CategoryTree, citizens: tuple[str, ...], citizens_tree: CategoryTree
) -> Bytes:
    """Return the citizenship of each country of birth, by name; a territory without one gets another of its region."""
    labels = _labels(births_tree)
    by_name = {label: citizens.index(code) for code, label in _labels(citizens_tree).items() if code in citizens}
    last_of_part = {citizens_tree.path(code)[:-1]: place for place, code in enumerate(citizens)}
    places = []
    for code in births:
        path = births_tree.path(code)
        otherwise = citizens.index(code) if len(path) == 1 else last_of_part[path[:-1]]
        places.append(by_name.get(labels[code], otherwise))
    return np.array(places, dtype=np.uint8)


FOREIGN_BORN = {0: [2], 5: [6], 15: [10], 25: [20], 45: [15], 65: [9]}
"""Percentage born abroad, by age."""
ALIKE = 0.7
"""Probability that a person's origin is drawn with the random number of the household instead of their own."""

CITIZEN_OF = ("1", "birth", "3", "4")
CITIZENSHIP = {
    "born here": (96.5, 3, 0.1, 0.4),
    "arrived in the last ten years": (6, 93, 0.6, 0.4),
    "arrived before": (50, 49, 0.6, 0.4),
}
"""Percentages of citizens of the country itself, of the country of birth (of the household's origin if born here),
stateless, and not stated."""

SINCE = {0: 6, 1: 6, 2: 5.5, 7: 3.5, 12: 2.5, 17: 2, 27: 1.2, 42: 1}
"""Weight of each number of years since arrival, from this number on; no person arrives before birth."""
LONGEST = 70
RETURNED = 4
"""Percentage of persons born here who have lived abroad and returned."""
NEVER, UNKNOWN = 254, 255
"""Special values of years since arrival."""
ARRIVAL_UNKNOWN = 0.5
"""Percentage of arrivals whose year is not stated."""

YEARS = (
    *("1.1.1", "1.1.2"), *(f"1.{group}.{year}" for group in (2, 3, 4) for year in (1, 2, 3, 4, 5)),
    *(f"1.{group}" for group in (5, 6, 7, 8, 9) for _ in range(5)),
)  # fmt: skip
"""The code of YAE by years since arrival: 2021, 2020, .., 2005, then five-year groups; earlier arrivals have code 2."""
SINCE_2010 = 12

MOVES = ("1", "2.1.1", "2.1.2", "3")
MOVED = {0: (84, 10, 5.5), 30: (88, 7.5, 4), 45: (94, 3.8, 1.7), 65: (97, 1.7, 0.8)}
"""Percentages of households that stayed, moved within the NUTS 3 region, or came from another; rest not stated."""


class Origin:
    """Draws the topics POB, COC, YAE, YAT and ROY."""

    def __init__(self, leaves: Leaves, nations: Nations, parts: int) -> None:
        self._residence = leaves["ROY"]
        self._nations = nations
        self._foreign = ChoiceByAge([1, 0], same_for_both(FOREIGN_BORN))
        self._citizenship = ShareTable(range(len(CITIZEN_OF)), list(CITIZENSHIP.values()))
        self._citizen_of = np.array([leaves["COC"].get(code, 0) for code in CITIZEN_OF], dtype=np.uint8)
        self._since = ShareTable(range(LONGEST), [_stepped(SINCE, LONGEST)])
        self._arrival = {topic: _by_years(leaves[topic], topic) for topic in ("YAE", "YAT")}
        # In a country with one region no household comes from another region.
        moved = MOVED if parts > 1 else {age: (stay, near + far, 0) for age, (stay, near, far) in MOVED.items()}
        self._moved = ChoiceByAge([leaves["ROY"][code] for code in MOVES], same_for_both(moved))

    def draw(self, residents: Residents, draws: Draws) -> dict[str, Bytes]:
        """Return the topics as positions among their leaves."""
        alike = draws.happens(ALIKE, len(residents))
        # One random number per household preserves the shares and makes its members similar.
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
        """Return the years since the last arrival, at most the age; `NEVER` without an arrival."""
        since = np.full(len(age), NEVER, dtype=np.uint8)
        returned = draws.happens(RETURNED / 100, len(age)) & ~foreign & (age > 0)
        came = np.flatnonzero(foreign | returned)
        # A person born here has spent the first year of life here.
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
        """Return the residence a year ago: one per household, except for persons who were born or arrived since."""
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
