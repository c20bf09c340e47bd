"""What is asked of a design: the tables, the attacker, and what is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.calibration.constraints import ATTACKERS
from discreet.errors import ParameterError, UnknownNameError
from discreet.risk.assessment import SUREST

if TYPE_CHECKING:
    from discreet.calibration.exposed_statistics import Exposure
    from discreet.programme.model import Programme

MOST_BOUND = 50
MOST_CUTS = 60
"""Cuts that are tried where nothing is left."""
LEVELS = "levels"
"""The rule whose ratios are a surrogate."""
LEAST = 0.01
"""The smallest success that an attacker can be held to: below it rounding decides."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DesignQuestion:
    """What the noise is for.

    Attributes:
        programme: what is published.
        populations: what the tables count that are designed for.
        attacker: who is held off.
        confidence: the success she may have.
        max_bound: the largest bound that users accept.
        rule: of counting levels.
        known: a statistic whose true counts are public, None if there is none.
        hide_bound: whether the bound is to stay hidden.
    """

    programme: Programme
    populations: tuple[str, ...]
    attacker: str
    confidence: float
    max_bound: int
    rule: str
    known: str | None
    hide_bound: bool

    def is_surrogate(self, exposed: Exposure) -> bool:
        """Say whether how well a statistic is known is a closed form and no exact solution."""
        return self.rule == LEVELS and not exposed.exact

    @property
    def left_out(self) -> str:
        """Return which tables the design is not about."""
        others = self.programme.populations.items()
        return ", ".join(f"{len(tables)} of {name}" for name, tables in others if name not in self.populations)


def check_question(confidence: float, max_bound: int, attacker: str, cuts: int) -> None:
    """Refuse numbers and names that no design can be made for."""
    if not LEAST <= confidence <= SUREST:
        words = f"a share from {LEAST} to {SUREST}, which an attacker may be right in"
        raise ParameterError.outside("design", "confidence", confidence, words, "0.5 to 0.7; more is less noise")
    if not 1 <= max_bound <= MOST_BOUND:
        raise ParameterError.outside("design", "max-bound", max_bound, f"from 1 to {MOST_BOUND}", "5 to 10")
    if not 0 <= cuts <= MOST_CUTS:
        raise ParameterError.outside("design", "cuts", cuts, f"from 0 to {MOST_CUTS}", "3 to 10")
    if attacker not in ATTACKERS:
        raise UnknownNameError.among("attacker", attacker, ATTACKERS)
