"""The time an attack may take; what is cut off by it says so."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Clock:
    """A budget of seconds that runs from the moment it is made; None is no limit.

    Attributes:
        seconds: the budget.
        whole: the budget that this is a part of, as it was given.
    """

    seconds: float | None = None
    _start: float = field(default_factory=time.monotonic, repr=False)
    whole: float | None = None

    @property
    def left(self) -> float:
        """Return the seconds left."""
        return float("inf") if self.seconds is None else self.seconds - (time.monotonic() - self._start)

    @property
    def over(self) -> bool:
        """Say whether the time is used up."""
        return self.left <= 0

    def part(self, share: float) -> Clock:
        """Return a clock over a share of the time that is left."""
        return Clock() if self.seconds is None else Clock(max(self.left, 0.0) * share, whole=self.whole or self.seconds)

    @property
    def words(self) -> str:
        """Return what to say of work that was cut off."""
        return f"cut off by the time budget of {self.whole or self.seconds:g} s" if self.seconds is not None else ""
