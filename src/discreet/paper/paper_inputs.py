"""What the paper's figures are computed from.

The small tables on which the paper explains its counting: a histogram, and SEX x AGE with two groups of age.

What several parts of the paper share: the programme of every Member State counted, and the areas of the EU.

Counted once and kept: both rules of counting, with and without SPSN, for 27 countries, take half a minute.

Where numbers are compared with the paper, levels of one category are kept as levels: its t is the same for every
country, so it seems to have done so. Where Member States are designed for, they are merged with the total, whose
participants and noise they share, as `discreet design` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.accuracy.area_counts import load_areas
from discreet.programme.eu2021.census import census, member_states
from discreet.programme.lattice import lattice
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.risk.averaging import averaging
from discreet.risk.measures import tuples_by_size

if TYPE_CHECKING:
    from discreet.accuracy.area_counts import AreaCounts
    from discreet.progress import Progress
    from discreet.risk.averaging import Averaging

SIZES = {"SEX": 2, "AGE": 2}


def histogram(*topics: str) -> Programme:
    """Return a programme of one table by topics of two categories each."""
    levels = {name: Level(name, name, SIZES[name]) for name in topics}
    breakdowns = tuple(Breakdown(name, name, (level,)) for name, level in levels.items())
    known = {name: Topic(name, (level,), None, {}) for name, level in levels.items()}
    return Programme(" x ".join(topics), known, (Table("1", breakdowns),))


RULES = ("flat", "levels")
"""How levels are counted, the one that understates first."""
COUNTRIES = ("DE", "MT")
"""The largest and the smallest output, as the paper takes them."""
KEPT = "levels of one category kept"
"""How the programme is counted where it is compared with the paper."""
AREAS = "lau:2016"
"""All local administrative units of the EU-28, with totals; sexes are drawn."""


@dataclass(frozen=True)
class Smallest:
    """The smallest ratio of some statistics, and where it is.

    Attributes:
        ratio: the variance of an estimate in units of V.
        country: of the programme.
        statistic: its name.
    """

    ratio: float
    country: str
    statistic: str


@dataclass(eq=False)
class Sources:
    """Counts that are made when they are asked for, and kept.

    Attributes:
        countries: of which the programme is counted; all Member States unless told otherwise.
        progress: told how far the counting is.
    """

    countries: tuple[str, ...] = field(default_factory=lambda: tuple(member_states()))
    progress: Progress | None = None
    _programmes: dict[str, Programme] = field(default_factory=dict, repr=False)
    _counted: dict[tuple[str, str, bool, bool], Averaging] = field(default_factory=dict, repr=False)
    _tuples: dict[tuple[str, str, bool], int] = field(default_factory=dict, repr=False)
    _single: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False)

    def programme(self, country: str) -> Programme:
        """Return the programme of a country."""
        if country not in self._programmes:
            self._programmes[country] = census(country)
        return self._programmes[country]

    def averaging(self, country: str, rule: str, *, spsn: bool, keep_single: bool) -> Averaging:
        """Return the ratios of all statistics of a country.

        Args:
            country: its code.
            rule: of counting levels.
            spsn: whether a statistic has one noise in all tables.
            keep_single: whether levels of one category are kept.
        """
        key = (country, rule, spsn, keep_single and self._has_single(country, rule))
        if key not in self._counted:
            found = lattice(self.programme(country), rule, keep_single=keep_single)
            self._counted[key] = averaging(found, spsn=spsn)
        return self._counted[key]

    def _has_single(self, country: str, rule: str) -> bool:
        """Say whether keeping levels of one category makes a difference."""
        if (country, rule) not in self._single:
            kept, merged = (lattice(self.programme(country), rule, keep_single=keep) for keep in (True, False))
            self._single[country, rule] = len(kept) != len(merged)
        return self._single[country, rule]

    def tuples(self, country: str, rule: str, *, keep_single: bool) -> int:
        """Return how many sets of women, men and total a country publishes."""
        key = (country, rule, keep_single)
        if key not in self._tuples:
            found = lattice(self.programme(country), rule, keep_single=keep_single)
            self._tuples[key] = tuples_by_size(found, spsn=True)[2][1]
        return self._tuples[key]

    def count_all(self, *, keep_single: bool) -> None:
        """Count the programme of every country, and tell how far that is."""
        kinds = [(country, rule) for country in self.countries for rule in RULES]
        for done, (country, rule) in enumerate(kinds, start=1):
            for spsn in (True, False):
                self.averaging(country, rule, spsn=spsn, keep_single=keep_single)
            self.tuples(country, rule, keep_single=keep_single)
            if self.progress:
                self.progress("counting", done, len(kinds))

    def smallest(
        self, rule: str, *, spsn: bool, keep_single: bool, attacker: str = "greedy", country: str | None = None
    ) -> Smallest:
        """Return the smallest ratio of any statistic, of one country or of all.

        Args:
            rule: of counting levels.
            spsn: whether a statistic has one noise in all tables.
            keep_single: whether levels of one category are kept.
            attacker: `greedy` or `optimal`.
            country: one country; all if left out.
        """
        every = []
        for each in self.countries if country is None else (country,):
            found = self.averaging(each, rule, spsn=spsn, keep_single=keep_single)
            ratios = getattr(found, attacker)
            place = int(ratios.argmin())
            every.append(Smallest(float(ratios[place]), each, found.names[place]))
        return min(every, key=lambda one: one.ratio)

    def next_smallest(self, rule: str, *, spsn: bool) -> Smallest:
        """Return the smallest ratio of averages of another statistic than the one with the smallest."""
        first = self.smallest(rule, spsn=spsn, keep_single=True).statistic
        every = []
        for each in self.countries:
            found = self.averaging(each, rule, spsn=spsn, keep_single=True)
            others = [
                (ratio, name) for name, ratio in zip(found.names, found.greedy.tolist(), strict=True) if name != first
            ]
            ratio, name = min(others)
            every.append(Smallest(ratio, each, name))
        return min(every, key=lambda one: one.ratio)

    @cached_property
    def areas(self) -> AreaCounts:
        """Return the populated areas of the EU-28."""
        return load_areas(AREAS).populated
