"""How well the most exposed statistic is known, by each attacker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.calibration.constraints import AVERAGES, OPTIMAL, PAPER
from discreet.equations.closed_form import success
from discreet.results import Result

if TYPE_CHECKING:
    from discreet.risk.averaging import Averaging


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
            assumptions=("counts well above the bound", "errors of the estimate close to Gaussian"),
            equation="max(P(|N(0, V r)| < 1/2), P(x = 0))",
        )


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
