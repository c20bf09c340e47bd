"""Statistics of an output, and which of them is most exposed.

How well the most exposed statistic is known, by each attacker.

What a programme publishes of one unit, population by population: tables with a universe count some of the persons.

An attacker has all of it, and one noise law serves all of it: the most exposed statistic of any population counts, and
the sets of parts and totals of all populations show one bound.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.calibration.constraints import ABOVE_BOUND, AVERAGES, GAUSSIAN, OPTIMAL, PAPER, UNITS, VARIANCE
from discreet.equations.closed_form import success
from discreet.errors import ParameterError, TooLargeError
from discreet.programme.lattice import lattice
from discreet.results import Result
from discreet.risk.averaging import averaging, variance_needed
from discreet.risk.measures import tuples_by_size
from discreet.risk.most_exposed import most_exposed, solvable

if TYPE_CHECKING:
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.progress import Progress
    from discreet.risk.averaging import Averaging
    from discreet.risk.residual_bound import NoiseTerms


@dataclass(frozen=True)
class Exposure:
    """The statistic that an attacker knows best.

    Attributes:
        statistic: its name.
        ratio: the variance of the attacker's estimate in units of V.
        exact: whether the ratio is an exact solution; if not, it is a formula.
    """

    statistic: str
    ratio: float
    exact: bool = False

    def success(self, variance: float) -> float:
        """Return how often she is right about a count of it."""
        return success(variance, self.ratio)

    def result(self, variance: float, attacker: str, stays: float = 0.0) -> Result:
        """Return how often she is right, in a sentence; at least as often as who takes a count as it is published.

        Args:
            variance: V.
            attacker: who she is.
            stays: P(x = 0), how often a count is published as it is.
        """
        share = max(self.success(variance), stays)
        return Result(
            name=f"success_of_{attacker}_attacker",
            value=share,
            unit="1",
            sentence=f"An attacker who {AVERAGES[attacker]} is right about a count of {self.statistic} in {share:.1%} "
            "of cases.",
            worst=self.statistic,
            assumptions=(ABOVE_BOUND, GAUSSIAN),
            equation="max(P(|N(0, V r)| < 1/2), P(x = 0))",
        )

    def if_total_known(self, confidence: float) -> Result:
        """Return the variance that is needed where this is the most exposed statistic once the true total is known."""
        needed = variance_needed(self.ratio, confidence)
        return Result(
            name="variance_needed_if_total_known",
            value=needed,
            unit=UNITS[VARIANCE],
            sentence=f"If the true total is known anyway, a variance of {needed:.3g} is needed for what is left to "
            f"hide; {self.statistic} is then the most exposed.",
            worst=self.statistic,
            assumptions=(ABOVE_BOUND, GAUSSIAN),
            equation="V = 1 / (4 z^2 r)",
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class OutputExposure:
    """What the structure of the output reveals, whatever the noise.

    Attributes:
        shared: by attacker, the most exposed statistic where a count has one noise in all tables.
        fresh: the same where every table has noise of its own.
        total_known: of `shared` for the optimal attacker, where the true total is known anyway; None if it is not
            published.
        sets: of the paper's attacker, by number of parts, how many sets of parts and their total are published.
        terms: what the residuals of published counts reveal of their noise.
        areas: the number of areas at the finest level; None if the programme has no topic of areas.
    """

    shared: dict[str, Exposure]
    fresh: dict[str, Exposure]
    total_known: Exposure | None
    sets: dict[str, dict[int, int]]
    terms: NoiseTerms
    areas: int | None

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints of it."""
        return {
            "exposed": {attacker: asdict(each) for attacker, each in self.shared.items()},
            "exposed_fresh": {attacker: asdict(each) for attacker, each in self.fresh.items()},
            "sets": {who: {str(parts): many for parts, many in each.items()} for who, each in self.sets.items()},
            "noise_terms": {
                name: getattr(self.terms, name) for name in ("large", "published", "from_data", "surrogate")
            },
            "areas": self.areas,
        }


def exposures(found: Averaging) -> dict[str, Exposure]:
    """Return, by attacker, the statistic she knows best; what is known anyway is left out.

    Where all is known the ratio is infinite: there is nothing to know better.
    """
    exposed = {}
    for attacker, ratios in ((OPTIMAL, found.optimal), (PAPER, found.greedy)):
        secret = np.where(ratios > 0, ratios, np.inf)
        place = int(secret.argmin())
        exposed[attacker] = Exposure(found.names[place], float(secret[place]))
    return exposed


NOTHING_LEFT = "Nothing is left to hide: all that is published follows from what is known. Name a coarser one, or none."


@dataclass(frozen=True, eq=False)
class OutputLattices:
    """The statistics of a programme.

    Attributes:
        lattices: by population, that with most tables first.
        scope: the programme of these tables where the optimal attacker is solved exactly, None for the closed form.
    """

    lattices: dict[str, Lattice]
    scope: Programme | None = None

    @property
    def statistics(self) -> int:
        """Return how many statistics count a person who is in every population."""
        return sum(int(each.published.sum()) for each in self.lattices.values())

    def exposed(
        self,
        *,
        spsn: bool,
        known: str | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Exposure]:
        """Return, by attacker, the statistic that is known best; with a scope by exact solutions to the optimal one."""
        found = self.by_population(spsn=spsn, known=known)
        worst = {}
        for attacker in next(iter(found.values())):
            population = min(found, key=lambda name: found[name][attacker].ratio)
            each = found[population][attacker]
            if math.isinf(each.ratio):
                raise ParameterError(NOTHING_LEFT, parameter="known")
            of = f" of {population}" if len(found) > 1 else ""
            worst[attacker] = Exposure(f"{each.statistic}{of}", each.ratio)
        if self.scope is not None:
            try:
                searched = most_exposed(self.scope, spsn=spsn, known=known, progress=progress)
            except TooLargeError:
                return worst
            if not searched.solved:
                raise ParameterError(NOTHING_LEFT, parameter="known")
            worst[OPTIMAL] = Exposure(searched.worst.statistic, searched.worst.ratio, exact=True)
        return worst

    def by_population(self, *, spsn: bool = True, known: str | None = None) -> dict[str, dict[str, Exposure]]:
        """Return, by population and attacker, the statistic she knows best; what is known there is left out."""
        self._check_known(known)
        return {
            name: exposures(averaging(each, spsn=spsn, known=known if known and each.publishes(known) else None))
            for name, each in self.lattices.items()
        }

    @property
    def sets(self) -> dict[int, int]:
        """Return, by number of parts, how many sets of parts and their total the paper's attacker looks at.

        The paper takes the level that has most sets of a size, as sexes.
        """
        found: Counter[int] = Counter()
        for each in self.lattices.values():
            found.update({parts: many for parts, (_, many) in tuples_by_size(each, spsn=True).items()})
        return dict(sorted(found.items()))

    def _check_known(self, known: str | None) -> None:
        if known is not None and not any(each.publishes(known) for each in self.lattices.values()):
            # Names the statistics there are.
            next(iter(self.lattices.values())).position(known)


def counted(programme: Programme, rule: str, population: str | None, *, closed_form: bool = False) -> OutputLattices:
    """Return what is published of one population, or of all that count the unit of most tables.

    Args:
        programme: all tables.
        rule: `levels` or `flat`.
        population: which one; all of the unit if None.
        closed_form: whether the optimal attacker is measured by the closed form for equal blocks alone.
    """
    units = Counter(table.unit for table in programme.tables)
    unit = max(units, key=units.__getitem__)
    tables = programme.of(population) if population else tuple(t for t in programme.tables if t.unit == unit)
    scope = replace(programme, tables=tables)
    lattices = {name: lattice(scope, rule, population=name) for name in scope.populations}
    return OutputLattices(lattices, scope if rule == "levels" and not closed_form and solvable(scope) else None)
