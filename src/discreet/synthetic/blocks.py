"""The synthetic census of a country block by block: every block by itself, from the seed and its number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InternalError, ParameterError
from discreet.programme.eu2021.census import census
from discreet.synthetic.households import form_households
from discreet.synthetic.living import Living
from discreet.synthetic.nations import Nations
from discreet.synthetic.origin import Origin
from discreet.synthetic.people import People
from discreet.synthetic.places import LOCALITY_FROM, Geography
from discreet.synthetic.randomness import Draws
from discreet.synthetic.shares import OLDEST
from discreet.synthetic.work import Work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.arrays import Ints
    from discreet.programme.model import Programme, Topic
    from discreet.synthetic.households import Residents
    from discreet.synthetic.places import Homes
    from discreet.synthetic.randomness import Bytes

MOST_PERSONS = 10**9
LARGEST_SEED = 2**63 - 1
BLOCK = 1 << 16
"""Persons of a block: their numbers fit in 16 bits, which sorts quickly, and their columns in the processor's cache."""
IDENTIFIERS = 10**10
"""Identifiers are below this."""
PERSON_STEP, HOUSEHOLD_STEP = 6_180_339_887, 7_320_508_077
"""Neither is divisible by 2 or 5, so that multiples below 10^10 are all different."""


@dataclass(frozen=True)
class Block:
    """The persons of one block: identifiers, cells, and per topic the place of the code among the finest codes."""

    person: Ints
    household: Ints
    topics: dict[str, NDArray[Any]]
    cell: Ints
    households: int


class SyntheticCensus:
    """Persons of a country; block by block, in any order.

    Attributes:
        persons: how many there are in all.
        codes: the finest codes of every topic of the tables of persons, by topic.
        ages: for each age in years the place of its code.
        geography: the areas.
    """

    def __init__(self, country: str, persons: int, seed: int) -> None:
        _check_whole("persons", persons, 1, MOST_PERSONS, "10^9")
        _check_whole("seed", seed, 0, LARGEST_SEED, "2^63 - 1")
        programme = census(country)
        topics = _topics_of_persons(programme)
        self._name = (country, seed)
        self.persons = persons
        self.geography = Geography(country, topics["GEO"], persons, seed)
        self.codes = {name: topic.levels[-1].codes or () for name, topic in topics.items()}
        leaves = {name: {code: place for place, code in enumerate(codes)} for name, codes in self.codes.items()}
        self.ages = _places_of_ages(topics["AGE"])
        self._sexes = _places(leaves["SEX"], 2)
        self._localities = _places(leaves["LOC"], len(LOCALITY_FROM))
        self._living = Living(leaves)
        self._work = Work(leaves, self.geography)
        nations = Nations(country, topics["POB"], topics["COC"], seed)
        self._origin = Origin(leaves, nations, self.geography.parts)
        self._offset = Draws(country, seed, "identifiers").below(2**32, 2).tolist()

    @property
    def blocks(self) -> int:
        """Return the number of blocks."""
        return -(-self.persons // BLOCK)

    def block(self, number: int) -> Block:
        """Return one block: `BLOCK` persons, or what is left of them in the last one."""
        persons = min(BLOCK, self.persons - number * BLOCK)
        draws = Draws(*self._name, number)
        residents = form_households(People.draw(persons, draws), draws)
        rows = number * BLOCK + np.arange(persons)
        homes = self.geography.settle(residents, draws)
        topics = self._topics(residents, homes, draws)
        return Block(
            person=(rows * PERSON_STEP + self._offset[0]) % IDENTIFIERS,
            household=((number * BLOCK + residents.first) * HOUSEHOLD_STEP + self._offset[1]) % IDENTIFIERS,
            topics={name: topics[name] for name in self.codes},
            cell=homes.cell,
            households=residents.households,
        )

    def _topics(self, residents: Residents, homes: Homes, draws: Draws) -> dict[str, NDArray[Any]]:
        made: dict[str, NDArray[Any]] = {
            "GEO": homes.area,
            "LOC": self._localities.take(homes.size_class),
            "SEX": self._sexes.take(residents.sex),
            "AGE": self.ages.take(residents.age),
        }
        made |= self._living.draw(residents, draws)
        made |= self._origin.draw(residents, draws)
        made |= self._work.draw(residents, homes.area, draws)
        if set(made) != set(self.codes):
            raise InternalError(
                f"The synthetic census lacks a topic or has one too many: {set(made) ^ set(self.codes)}."
            )
        return made


def _check_whole(name: str, value: int, least: int, most: int, most_said: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ParameterError.outside("Synthetic census", name, value, f"a whole number from {least} to {most_said}")


def _topics_of_persons(programme: Programme) -> dict[str, Topic]:
    used = {breakdown.topic for table in programme.of("persons") for breakdown in table.breakdowns}
    return {name: topic for name, topic in programme.topics.items() if name in used}


def _places(leaves: Mapping[str, int], categories: int) -> Bytes:
    """Return the places of the codes 1, 2, 3, .. of a topic."""
    return np.array([leaves[str(number)] for number in range(1, categories + 1)], dtype=np.uint8)


def _places_of_ages(age: Topic) -> Bytes:
    """Return for each age in years the place of its code, found by its label."""
    codes = age.levels[-1].codes or ()
    labels = {c.code: c.labels["en"] for c in (age.tree.categories if age.tree else ())}
    by_label = {labels[code]: place for place, code in enumerate(codes)}
    return np.array([by_label[str(year)] for year in range(OLDEST)] + [by_label[f"{OLDEST}+"]], dtype=np.uint8)
