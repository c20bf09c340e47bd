"""What a measure is asked about: a record, its programme, and how to count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.programme.lattice import lattice
from discreet.risk.averaging import ONE_SIGMA, averaging

if TYPE_CHECKING:
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.release.record import Record
    from discreet.risk.averaging import Averaging


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

    @cached_property
    def lattice(self) -> Lattice:
        """Return the statistics of the population."""
        return lattice(self.programme, self.rule, keep_single=self.keep_single, population=self.population)

    @cached_property
    def averaging(self) -> Averaging:
        """Return the averaging ratios of every statistic."""
        return averaging(self.lattice, spsn=self.record.spsn, known=self.known)
