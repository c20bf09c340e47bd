"""What a measure is asked about: a record, its programme, and how to count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import TooLargeError
from discreet.programme.lattice import lattice
from discreet.risk.averaging import ONE_SIGMA, averaging_of
from discreet.risk.most_exposed import ExposedCell, most_exposed
from discreet.risk.residual_bound import noise_terms, noise_terms_in

if TYPE_CHECKING:
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.release.record import Record
    from discreet.release.release import Release
    from discreet.risk.averaging import Averaging
    from discreet.risk.most_exposed import ExactSearch
    from discreet.risk.residual_bound import NoiseTerms


@dataclass(frozen=True, eq=False)
class Case:
    """A record with its programme and the rules of counting; what is shared between measures is computed once."""

    record: Record
    programme: Programme
    rule: str = "levels"
    keep_single: bool = False
    population: str | None = None
    known: str | None = None
    confidence: float = ONE_SIGMA
    exact: tuple[str, ...] = ()
    records: int | None = None
    release: Release | None = None
    closed_form: bool = False
    unit: str | None = None

    @cached_property
    def scope(self) -> Programme:
        """Return the tables that figures are about: one population if asked for, else all that count its unit."""
        tables = self.programme.of(self.population)
        if self.population is None:
            unit = self.unit or tables[0].unit
            tables = tuple(table for table in self.programme.tables if table.unit == unit)
        return replace(self.programme, tables=tables)

    @property
    def counted(self) -> str:
        """Return what the tables in the scope count."""
        return self.population or self.scope.tables[0].unit

    @cached_property
    def lattices(self) -> dict[str, Lattice]:
        """Return the statistics by population, that with most tables first."""
        return {
            name: lattice(self.scope, self.rule, keep_single=self.keep_single, population=name)
            for name in self.scope.populations
        }

    @property
    def lattice(self) -> Lattice:
        """Return the statistics of the population with most tables."""
        return next(iter(self.lattices.values()))

    @property
    def statistics(self) -> int:
        """Return how many statistics of all populations have noise of their own."""
        return sum(
            int(each.published.sum() if self.record.spsn else each.tables.sum()) for each in self.lattices.values()
        )

    @cached_property
    def averaging(self) -> Averaging:
        """Return the averaging ratios of every statistic by formulas, each population by itself."""
        if self.known is not None and not any(each.publishes(self.known) for each in self.lattices.values()):
            # Names the statistics there are.
            self.lattice.position(self.known)
        return averaging_of(self.lattices, spsn=self.record.spsn, known=self.known)

    @cached_property
    def exposed(self) -> ExactSearch | None:
        """Return the counts that the best linear attack knows best, solved exactly.

        None where the closed form was asked for, where levels are counted in another way, and where there are too
        many cells.
        """
        if self.closed_form or self.rule != "levels" or self.keep_single:
            return None
        try:
            return most_exposed(self.scope, spsn=self.record.spsn, known=self.known, statistics=self.exact)
        except TooLargeError:
            if self.exact:
                raise
            return None

    @property
    def worst(self) -> ExposedCell | None:
        """Return the most exposed count: solved exactly, or of the statistic with the smallest closed form.

        None where everything is known beforehand.
        """
        if self.exposed is not None:
            return self.exposed.solved[0] if self.exposed.solved else None
        found = self.averaging
        unknown = np.where(found.optimal > 0, found.optimal, np.inf)
        place = int(unknown.argmin())
        ratio = float(unknown[place])
        return ExposedCell(found.names[place], "", ratio, ratio) if np.isfinite(ratio) else None

    @cached_property
    def noise_terms(self) -> NoiseTerms:
        """Return what residuals reveal of the noise of all populations, or of the one that is asked for."""
        names = [self.population] if self.population else None
        if self.release is not None:
            return noise_terms_in(self.release, names)
        return noise_terms(
            self.programme, rule=self.rule, keep_single=self.keep_single, populations=names, spsn=self.record.spsn
        )
