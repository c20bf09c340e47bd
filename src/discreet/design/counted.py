"""What a programme publishes of one unit, population by population: tables with a universe count some of the persons.

An attacker has all of it, and one noise law serves all of it: the most exposed statistic of any population counts, and
the sets of parts and totals of all populations show one bound.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.design.constraints import OPTIMAL
from discreet.design.exposure import Exposure, exposures
from discreet.errors import ParameterError, UnknownNameError
from discreet.programme.lattice import lattice
from discreet.risk.averaging import averaging
from discreet.risk.tuples import all_tuples, tuples_by_size

if TYPE_CHECKING:
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme


@dataclass(frozen=True, eq=False)
class Counted:
    """The statistics of a programme.

    Attributes:
        lattices: by population, that with most tables first.
    """

    lattices: dict[str, Lattice]

    @property
    def statistics(self) -> int:
        """Return how many statistics count a person who is in every population."""
        return sum(int(each.published.sum()) for each in self.lattices.values())

    def exposed(self, *, spsn: bool, known: str | None = None) -> dict[str, Exposure]:
        """Return, by attacker, the statistic she knows best."""
        found = self.by_population(spsn=spsn, known=known)
        worst = {}
        for attacker in next(iter(found.values())):
            population = min(found, key=lambda name: found[name][attacker].ratio)
            each = found[population][attacker]
            if math.isinf(each.ratio):
                raise ParameterError(
                    "Nothing is left to hide: all that is published follows from the statistic that is known. Name a "
                    "coarser one, or none.",
                    parameter="known",
                )
            of = f" ({population})" if len(found) > 1 else ""
            worst[attacker] = Exposure(f"{each.statistic}{of}", each.ratio)
        return worst

    def by_population(self, *, spsn: bool = True, known: str | None = None) -> dict[str, dict[str, Exposure]]:
        """Return, by population and attacker, the statistic she knows best; what is known there is left out."""
        self._check_known(known)
        return {
            name: exposures(averaging(each, spsn=spsn, known=known if known and publishes(each, known) else None))
            for name, each in self.lattices.items()
        }

    def sets(self, attacker: str) -> dict[int, int]:
        """Return, by number of parts, how many sets of parts and their total an attacker looks at.

        The paper takes the level that has most sets of a size, as sexes; the optimal attacker takes every level.
        """
        found: Counter[int] = Counter()
        for each in self.lattices.values():
            found.update(sets_of(each, attacker))
        return dict(sorted(found.items()))

    def _check_known(self, known: str | None) -> None:
        if known is not None and not any(publishes(each, known) for each in self.lattices.values()):
            names = dict.fromkeys(name for each in self.lattices.values() for name in _published(each))
            raise UnknownNameError.among("statistic", known, names)


def counted(programme: Programme, rule: str, population: str | None) -> Counted:
    """Return what is published of one population, or of all that count the unit of most tables."""
    if population is not None:
        return Counted({population: lattice(programme, rule, population=population)})
    units = Counter(table.unit for table in programme.tables)
    unit = max(units, key=units.__getitem__)
    names = [name for name, tables in programme.populations.items() if tables[0].unit == unit]
    return Counted({name: lattice(programme, rule, population=name) for name in names})


def sets_of(published: Lattice, attacker: str) -> dict[int, int]:
    """Return, by number of parts, the sets of parts and their total in one population that an attacker looks at."""
    if attacker == OPTIMAL:
        return all_tuples(published, spsn=True)
    return {parts: many for parts, (_, many) in tuples_by_size(published, spsn=True).items()}


def _published(found: Lattice) -> list[str]:
    return [name for name, shown in zip(found.names(), found.published, strict=True) if shown]


def publishes(found: Lattice, name: str) -> bool:
    """Say whether a population has a statistic, by its name in any order."""
    return (" ".join(sorted(name.split())) if name != "total" else name) in _published(found)
