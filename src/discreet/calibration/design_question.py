"""The requirements of a design: the tables, the attacker model and the accepted limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.calibration.constraints import ATTACKERS
from discreet.errors import ParameterError, UnknownNameError
from discreet.verdicts import AREA_ERROR, AVERAGING, BOUND

if TYPE_CHECKING:
    from discreet.calibration.exposed_statistics import Exposure
    from discreet.programme.model import Programme
    from discreet.verdicts import Policy

MOST_BOUND = 50
MOST_CUTS = 60
"""Maximum number of cuts if the whole output is infeasible."""
LEVELS = "levels"
"""The rule for which the closed form is a surrogate."""
JUDGED = (AVERAGING, BOUND, AREA_ERROR)
"""The targets that a design meets."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DesignQuestion:
    """The requirements of a design.

    Attributes:
        programme: the programme to publish.
        populations: the populations of the tables that are designed for.
        attacker: the attacker model.
        policy: the targets of the office.
        max_bound: the largest bound that users accept.
        rule: the rule for counting levels.
        known: a statistic whose true counts are public; None for none.
        hide_bound: whether bound disclosure is constrained.
    """

    programme: Programme
    populations: tuple[str, ...]
    attacker: str
    policy: Policy
    max_bound: int
    rule: str
    known: str | None
    hide_bound: bool

    @property
    def averaging_target(self) -> float:
        """Return the largest exact recovery rate that is accepted."""
        return self.policy.accepted(AVERAGING)

    @property
    def bound_target(self) -> float:
        """Return the largest probability of identifying the bound that is accepted."""
        return self.policy.accepted(BOUND)

    def is_surrogate(self, exposed: Exposure) -> bool:
        """Return whether the exposure of a statistic comes from the closed form instead of an exact solution."""
        return self.rule == LEVELS and not exposed.exact

    @property
    def left_out(self) -> str:
        """Return the tables that the design excludes."""
        others = self.programme.populations.items()
        return ", ".join(f"{len(tables)} of {name}" for name, tables in others if name not in self.populations)


def check_question(max_bound: int, attacker: str, cuts: int) -> None:
    """Raise an error for numbers and names outside the domain of a design."""
    if not 1 <= max_bound <= MOST_BOUND:
        raise ParameterError.outside("design", "max-bound", max_bound, f"from 1 to {MOST_BOUND}", "5 to 10")
    if not 0 <= cuts <= MOST_CUTS:
        raise ParameterError.outside("design", "cuts", cuts, f"from 0 to {MOST_CUTS}", "3 to 10")
    if attacker not in ATTACKERS:
        raise UnknownNameError.among("attacker", attacker, ATTACKERS)
