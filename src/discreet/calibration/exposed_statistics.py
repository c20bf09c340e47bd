"""The statistics of an output, and the most exposed statistic under each attacker model.

The statistics of one unit are grouped by population: tables with a universe count a part of the persons.

An attacker has the tables of all populations, and all of them use one noise distribution. The most exposed statistic of
any population therefore decides, and the sets of parts and totals of all populations disclose the same bound.
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
    """The most exposed statistic: the one that an attacker estimates best.

    Attributes:
        statistic: the name of the statistic.
        ratio: the variance of the attacker's estimate in units of V.
        exact: whether the ratio is an exact solution; otherwise it comes from a closed form.
    """

    statistic: str
    ratio: float
    exact: bool = False

    def success(self, variance: float) -> float:
        """Return the exact recovery rate of its counts."""
        return success(variance, self.ratio)

    def result(self, variance: float, attacker: str, stays: float = 0.0) -> Result:
        """Return the exact recovery rate as a result; it is at least the probability that a count is unchanged.

        Args:
            variance: V.
            attacker: the attacker model.
            stays: P(x = 0), the probability that a count is published unchanged.
        """
        share = max(self.success(variance), stays)
        return Result(
            name=f"success_of_{attacker}_attacker",
            value=share,
            unit="1",
            sentence=f"{AVERAGES[attacker][0].upper()}{AVERAGES[attacker][1:]} recovers counts of {self.statistic} "
            f"exactly in {share:.1%} of cases.",
            worst=self.statistic,
            assumptions=(ABOVE_BOUND, GAUSSIAN),
            equation="max(P(|N(0, V r)| < 1/2), P(x = 0))",
        )

    def if_total_known(self, confidence: float) -> Result:
        """Return the variance that is needed if this is the most exposed statistic given the true total."""
        needed = variance_needed(self.ratio, confidence)
        return Result(
            name="variance_needed_if_total_known",
            value=needed,
            unit=UNITS[VARIANCE],
            sentence=f"If the true total is public, the other statistics need a variance of {needed:.3g}. The most "
            f"exposed one is then {self.statistic}.",
            worst=self.statistic,
            assumptions=(ABOVE_BOUND, GAUSSIAN),
            equation="V = 1 / (4 z^2 r)",
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class OutputExposure:
    """The exposure that follows from the structure of the output, for any noise.

    Attributes:
        shared: by attacker, the most exposed statistic with consistent noise in all tables.
        fresh: by attacker, the most exposed statistic with independent noise in every table.
        total_known: the same as `shared` for the optimal attacker who knows the true total; None if the total is not
            published.
        sets: for the paper's attacker, by number of parts, the number of published sets of parts with their total.
        terms: the noise terms that the residuals of published counts disclose.
        areas: the number of areas at the finest level; None if the programme has no topic of areas.
    """

    shared: dict[str, Exposure]
    fresh: dict[str, Exposure]
    total_known: Exposure | None
    sets: dict[str, dict[int, int]]
    terms: NoiseTerms
    areas: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the part of the `--json` output about exposure."""
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
    """Return, by attacker, the most exposed statistic among those that are not known.

    The ratio is infinite if all statistics are known.
    """
    exposed = {}
    for attacker, ratios in ((OPTIMAL, found.optimal), (PAPER, found.greedy)):
        secret = np.where(ratios > 0, ratios, np.inf)
        place = int(secret.argmin())
        exposed[attacker] = Exposure(found.names[place], float(secret[place]))
    return exposed


ALL_KNOWN = (
    "All published statistics follow from the known statistic: no statistic remains to protect. Give a coarser "
    "statistic with --known, or omit it."
)


@dataclass(frozen=True, eq=False)
class OutputLattices:
    """The statistics of a programme.

    Attributes:
        lattices: the lattice of each population, the one with the most tables first.
        scope: the programme of these tables if the optimal attacker is solved exactly; None for the closed form.
    """

    lattices: dict[str, Lattice]
    scope: Programme | None = None

    @property
    def statistics(self) -> int:
        """Return the number of statistics that count a person who belongs to every population."""
        return sum(int(each.published.sum()) for each in self.lattices.values())

    def exposed(
        self,
        *,
        spsn: bool,
        known: str | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Exposure]:
        """Return, by attacker, the most exposed statistic; with a scope by exact solution for the optimal attacker."""
        found = self.by_population(spsn=spsn, known=known)
        worst = {}
        for attacker in next(iter(found.values())):
            population = min(found, key=lambda name: found[name][attacker].ratio)
            each = found[population][attacker]
            if math.isinf(each.ratio):
                raise ParameterError(ALL_KNOWN, parameter="known")
            of = f" of {population}" if len(found) > 1 else ""
            worst[attacker] = Exposure(f"{each.statistic}{of}", each.ratio)
        if self.scope is not None:
            try:
                searched = most_exposed(self.scope, spsn=spsn, known=known, progress=progress)
            except TooLargeError:
                return worst
            if not searched.solved:
                raise ParameterError(ALL_KNOWN, parameter="known")
            worst[OPTIMAL] = Exposure(searched.worst.statistic, searched.worst.ratio, exact=True)
        return worst

    def by_population(self, *, spsn: bool = True, known: str | None = None) -> dict[str, dict[str, Exposure]]:
        """Return, by population and attacker, the most exposed statistic among those that are not known."""
        self._check_known(known)
        return {
            name: exposures(averaging(each, spsn=spsn, known=known if known and each.publishes(known) else None))
            for name, each in self.lattices.items()
        }

    @property
    def sets(self) -> dict[int, int]:
        """Return, by number of parts, the number of sets of parts with their total that the paper's attacker uses.

        The paper uses the level with the most sets of a size, for example sex.
        """
        found: Counter[int] = Counter()
        for each in self.lattices.values():
            found.update({parts: many for parts, (_, many) in tuples_by_size(each, spsn=True).items()})
        return dict(sorted(found.items()))

    def _check_known(self, known: str | None) -> None:
        if known is not None and not any(each.publishes(known) for each in self.lattices.values()):
            # Raises an error that lists the available statistics.
            next(iter(self.lattices.values())).position(known)


def counted(programme: Programme, rule: str, population: str | None, *, closed_form: bool = False) -> OutputLattices:
    """Return the lattices of one population, or of all populations with the most frequent unit.

    Args:
        programme: the programme with all tables.
        rule: `levels` or `flat`.
        population: the population; None for all of the unit.
        closed_form: whether the optimal attacker is evaluated only with the closed form for equal blocks.
    """
    units = Counter(table.unit for table in programme.tables)
    unit = max(units, key=units.__getitem__)
    tables = programme.of(population) if population else tuple(t for t in programme.tables if t.unit == unit)
    scope = replace(programme, tables=tables)
    lattices = {name: lattice(scope, rule, population=name) for name in scope.populations}
    return OutputLattices(lattices, scope if rule == "levels" and not closed_form and solvable(scope) else None)
