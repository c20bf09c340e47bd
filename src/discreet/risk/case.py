"""What a measure is asked about: a record, its programme, and how to count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.programme.lattice import lattice
from discreet.risk.averaging import ONE_SIGMA, averaging
from discreet.risk.residual_bound import noise_terms, noise_terms_in

if TYPE_CHECKING:
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.release.record import Record
    from discreet.release.release import Release
    from discreet.risk.averaging import Averaging
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
    exact: str | None = None
    records: int | None = None
    release: Release | None = None

    @cached_property
    def lattice(self) -> Lattice:
        """Return the statistics of the population."""
        return lattice(self.programme, self.rule, keep_single=self.keep_single, population=self.population)

    @cached_property
    def averaging(self) -> Averaging:
        """Return the averaging ratios of every statistic."""
        return averaging(self.lattice, spsn=self.record.spsn, known=self.known)

    @cached_property
    def noise_terms(self) -> NoiseTerms:
        """Return what residuals reveal of the noise of all populations, or of the one that is asked for."""
        names = [self.population] if self.population else None
        if self.release is not None:
            return noise_terms_in(self.release, names)
        return noise_terms(
            self.programme, rule=self.rule, keep_single=self.keep_single, populations=names, spsn=self.record.spsn
        )
