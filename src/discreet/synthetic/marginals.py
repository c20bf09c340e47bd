"""Shares of a sample beside the shares it was meant to have."""

from __future__ import annotations

import math
from dataclasses import dataclass

LEEWAY = 0.05
"""How far a share may be from its target for any size of the sample, as a part of the target."""
CHANCE = 5
"""How many standard errors of the sample it may be farther."""


@dataclass(frozen=True)
class Share:
    """One share of a sample: how many units were seen among how many, and the target.

    >>> Share("women", 480, 1000, 0.5).agrees
    True
    """

    what: str
    seen: int
    among: int
    target: float

    @property
    def value(self) -> float:
        """Return the share in the sample; where there is nobody it is the target."""
        return self.seen / self.among if self.among else self.target

    @property
    def farness(self) -> float:
        """Return |p - t| / (0.05 t + 5 sqrt(t (1 - t) / n)) for a share p of n units and its target t."""
        apart = abs(self.value - self.target)
        if not apart:
            return 0.0
        error = math.sqrt(max(self.target * (1 - self.target), 0.0) / self.among)
        allowed = LEEWAY * self.target + CHANCE * error
        return apart / allowed if allowed else math.inf

    @property
    def agrees(self) -> bool:
        """Say whether the share is as near its target as leeway and chance allow."""
        return self.farness <= 1

    def __str__(self) -> str:
        return f"{self.what} {self.value:.2%}, target {self.target:.2%}"


@dataclass(frozen=True)
class Marginal:
    """The shares of one marginal of the census."""

    name: str
    shares: tuple[Share, ...]

    @property
    def agrees(self) -> bool:
        """Say whether all shares agree with their targets."""
        return all(share.agrees for share in self.shares)

    @property
    def farthest(self) -> Share:
        """Return the share that is farthest from its target."""
        return max(self.shares, key=lambda share: share.farness)

    def __str__(self) -> str:
        verdict = "agree" if self.agrees else "do NOT agree"
        return f"{self.name}: {len(self.shares)} shares {verdict}; farthest: {self.farthest}"
