"""Inputs of the reproduction of Bach (2020).

The inputs are the small tables with which the paper explains its counting (a histogram, and SEX x AGE with two groups
of age), the counted programme of every Member State, and the areas of the EU. The counts are cached: both rules of
counting, with and without SPSN, for 27 countries, take half a minute.

For comparisons with the paper, levels of one category are kept as levels: the paper's t is the same for every country,
so that it seems to have kept them. For designs of Member States these levels are merged with the total, whose
participants and noise they share, as in `discreet design`.
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
"""Rules of counting levels, the one with fewer representations first."""
COUNTRIES = ("DE", "MT")
"""The countries with the largest and the smallest output in the paper."""
KEPT = "levels of one category kept"
"""The treatment of single-category levels in comparisons with the paper."""
AREAS = "lau:2016"
"""All local administrative units of the EU-28, with totals; the sexes are simulated."""


@dataclass(frozen=True)
class Smallest:
    """The smallest ratio among statistics, with its country and statistic.

    Attributes:
        ratio: the variance of an estimate in units of V.
        country: the country of the programme.
        statistic: the name of the statistic.
    """

    ratio: float
    country: str
    statistic: str


@dataclass(eq=False)
class Sources:
    """Counts of programmes, computed on first use and cached.

    Attributes:
        countries: the countries whose programme is counted; all Member States by default.
        progress: a callback with the stage, the completed steps and the total steps.
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
            country: the code of the country.
            rule: the rule of counting levels.
            spsn: whether the noise is consistent between tables.
            keep_single: whether levels of one category are kept.
        """
        key = (country, rule, spsn, keep_single and self._has_single(country, rule))
        if key not in self._counted:
            found = lattice(self.programme(country), rule, keep_single=keep_single)
            self._counted[key] = averaging(found, spsn=spsn)
        return self._counted[key]

    def _has_single(self, country: str, rule: str) -> bool:
        """Return whether keeping levels of one category makes a difference."""
        if (country, rule) not in self._single:
            kept, merged = (lattice(self.programme(country), rule, keep_single=keep) for keep in (True, False))
            self._single[country, rule] = len(kept) != len(merged)
        return self._single[country, rule]

    def tuples(self, country: str, rule: str, *, keep_single: bool) -> int:
        """Return the number of sets of women, men and total that a country publishes."""
        key = (country, rule, keep_single)
        if key not in self._tuples:
            found = lattice(self.programme(country), rule, keep_single=keep_single)
            self._tuples[key] = tuples_by_size(found, spsn=True)[2][1]
        return self._tuples[key]

    def count_all(self, *, keep_single: bool) -> None:
        """Count the programme of every country and report the progress."""
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
            rule: the rule of counting levels.
            spsn: whether the noise is consistent between tables.
            keep_single: whether levels of one category are kept.
            attacker: `greedy` or `optimal`.
            country: the code of one country; None for all.
        """
        every = []
        for each in self.countries if country is None else (country,):
            found = self.averaging(each, rule, spsn=spsn, keep_single=keep_single)
            ratios = getattr(found, attacker)
            place = int(ratios.argmin())
            every.append(Smallest(float(ratios[place]), each, found.names[place]))
        return min(every, key=lambda one: one.ratio)

    def next_smallest(self, rule: str, *, spsn: bool) -> Smallest:
        """Return the smallest greedy ratio, without the statistic that has the smallest ratio of all."""
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
