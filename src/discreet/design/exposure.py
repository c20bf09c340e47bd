"""How well the most exposed statistic is known, by each attacker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.design.constraints import AVERAGES, OPTIMAL, PAPER
from discreet.equations.closed_form import success
from discreet.errors import ParameterError
from discreet.results import Result

if TYPE_CHECKING:
    from discreet.risk.averaging import Averaging


@dataclass(frozen=True)
class Exposure:
    """The statistic that an attacker knows best.

    Attributes:
        statistic: its name.
        ratio: the variance of her estimate in units of V.
    """

    statistic: str
    ratio: float

    def success(self, variance: float) -> float:
        """Return how often she is right about a count of it."""
        return success(variance, self.ratio)

    def result(self, variance: float, attacker: str) -> Result:
        """Return how often she is right, in a sentence."""
        share = self.success(variance)
        return Result(
            name=f"success_of_{attacker}_attacker",
            value=share,
            unit="1",
            sentence=f"An attacker who {AVERAGES[attacker]} is right about a count of {self.statistic} in {share:.1%} "
            "of cases.",
            worst=self.statistic,
            assumptions=("counts well above the bound", "errors of the estimate close to Gaussian"),
            equation="P(|N(0, V r)| < 1/2)",
        )


def exposures(found: Averaging) -> dict[str, Exposure]:
    """Return, by attacker, the statistic she knows best; what is known anyway is left out."""
    exposed = {}
    for attacker, ratios in ((OPTIMAL, found.optimal), (PAPER, found.greedy)):
        secret = np.where(ratios > 0, ratios, np.inf)
        place = int(secret.argmin())
        if not np.isfinite(secret[place]):
            raise ParameterError(
                "Nothing is left to hide: all that is published follows from the statistic that is known. Name a "
                "coarser one, or none.",
                parameter="known",
            )
        exposed[attacker] = Exposure(found.names[place], float(secret[place]))
    return exposed
