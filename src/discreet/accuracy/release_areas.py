"""The areas of a release: the categories of its geographic topic, with women, men and total where it has them.

The topic of areas is the one that is asked for, else the one that the programme declares (`areas`), else the one that
has the name of areas (`AREA_NAME`). Without any there are no figures on areas.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import UnknownNameError
from discreet.programme.words import all_category_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from discreet.accuracy.table_pairs import Shown
    from discreet.arrays import Ints
    from discreet.programme.model import Programme, Topic

AREA_NAME = re.compile(
    r"(?<![a-z])(geo[a-z]*|areas?|regions?|nuts|lau|municip[a-z]*|parish(es)?|(sub)?districts?|places?|communes?"
    r"|grid([a-z]*)|states?|count(y|ies)|provinces?|wards?|lsoa|msoa|oa|lad|lga|cantons?|boroughs?|prefectures?"
    r"|localit(y|ies)|settlements?|tracts?|puma|zip(codes?)?|post(al)?codes?)(?![a-z])",
    re.IGNORECASE,
)
"""Names of topics of areas, as a word of the name: GEO, GEO.L, NUTS2, lsoa21cd, district_of_residence."""
OTHER_NAME = re.compile(r"birth|citizen|national|origin|work|study|marital|civil|health|employment", re.IGNORECASE)
"""Names of topics that are not the areas where people live, in spite of a word such as region or state."""
NO_AREAS = (
    'No area variable, so no figures on areas: declare it in the programme (areas = "TOPIC") or with --areas TOPIC.'
)
SEX = ("sex", "gender")
WOMEN = ("f", "w")
"""How the words for women begin, where codes have words, or are letters."""
SEXES = 2


@dataclass(frozen=True, eq=False)
class ReleaseAreas:
    """Areas at the finest level that is published, one population.

    Attributes:
        topic: the topic.
        population: what is counted.
        codes: of the areas.
        names: of the areas in words.
        total: the statistic of the areas alone, None if no table shows it.
        sexes: the statistic of areas by sex, None if no table shows it.
        women_first: whether the first of the two sexes are the women.
    """

    topic: str
    population: str
    codes: tuple[str, ...]
    names: tuple[str, ...]
    total: Shown | None
    sexes: Shown | None
    women_first: bool = True

    @property
    def _axis(self) -> int:
        assert self.sexes is not None  # noqa: S101 - asked for where it is there
        return self.sexes.topics.index(self.topic)

    def counts(self, which: str) -> Ints:
        """Return counts, `true` or `published`: rows of women and men, where they are there, and of the total."""
        assert self.total is not None  # noqa: S101 - asked for where it is there
        rows = [getattr(self.total, which)]
        if self.sexes is not None:
            both = np.moveaxis(getattr(self.sexes, which), self._axis, 1)
            rows = [*(both if self.women_first else both[::-1]), *rows]
        return np.stack(rows)


class AreaFinder:
    """Finds the areas among the statistics of a release as they go by.

    Args:
        programme: of the release.
        asked: the topic of the areas; by default the one that the programme declares or that has the name of areas.
    """

    def __init__(self, programme: Programme, asked: str | None = None) -> None:
        self.programme = programme
        self.topic = area_topic(programme, asked)
        self._sex = _sex_topic(programme.topics, self.topic) if self.topic else None
        self._population = next(iter(programme.populations))
        self._total: Shown | None = None
        self._sexes: Shown | None = None

    def look_at(self, statistics: Iterable[Shown]) -> None:
        """Keep the statistics of areas, the finest of each kind."""
        for shown in statistics:
            if self.topic is None or shown.population != self._population:
                continue
            if shown.topics == (self.topic,):
                self._total = _finer(self._total, shown, 0)
            if self._sex and set(shown.topics) == {self.topic, self._sex}:
                axis = shown.topics.index(self.topic)
                if shown.published.shape[1 - axis] == SEXES:
                    self._sexes = _finer(self._sexes, shown, axis)

    def found(self) -> ReleaseAreas | None:
        """Return the areas, None without a topic of areas; areas by sex only where they are the same ones."""
        if self.topic is None:
            return None
        total, sexes = self._total, self._sexes
        codes = tuple(total.codes(0)) if total is not None else ()
        if sexes is not None and tuple(sexes.codes(sexes.topics.index(self.topic))) != codes:
            sexes = None
        words = all_category_words(self.programme.topics[self.topic])
        names = tuple(words.get(code, code) for code in codes)
        women_first = self._women_first(sexes, self.topic)
        return ReleaseAreas(self.topic, self._population, codes, names, total, sexes, women_first)

    def _women_first(self, sexes: Shown | None, topic: str) -> bool:
        """Say which of the two sexes are the women: by label or code, else the second, as 1 and 2 usually mean."""
        if sexes is None or self._sex is None:
            return True
        words = all_category_words(self.programme.topics[self._sex])
        codes = sexes.codes(1 - sexes.topics.index(topic))
        called = [words.get(code, code).lower().startswith(WOMEN) for code in codes]
        return called[0] and not called[1]


def _finer(kept: Shown | None, shown: Shown, axis: int) -> Shown:
    """Return the statistic with more areas; of two alike the first."""
    if kept is None:
        return shown
    areas = kept.published.shape[kept.topics.index(shown.topics[axis])]
    return shown if shown.published.shape[axis] > areas else kept


def area_topic(programme: Programme, asked: str | None = None) -> str | None:
    """Return the topic of the areas: the one asked for, declared, or named so; None if there is no such topic.

    Of several topics with the name of areas the one with most categories is taken.
    """
    used = {b.topic: programme.topics[b.topic] for table in programme.tables for b in table.breakdowns}
    if asked is not None:
        if asked not in used:
            raise UnknownNameError.among("topic of the tables", asked, used)
        return asked
    if programme.areas is not None:
        return programme.areas if programme.areas in used else None
    called = [name for name in used if AREA_NAME.search(name) and not OTHER_NAME.search(name)]
    return max(called, key=lambda name: used[name].levels[-1].size, default=None)


def _sex_topic(topics: Mapping[str, Topic], areas: str) -> str | None:
    """Return the topic of sexes, where it is not that of the areas itself."""
    return next((name for name in topics if name != areas and name.lower().startswith(SEX)), None)
