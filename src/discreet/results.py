"""The frozen result of a measure: one number with its unit, meaning and assumptions."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Result:
    """A number, said so that it can be read alone.

    Attributes:
        name: short name, unique within a command's output.
        value: the number.
        unit: its unit, "1" for a share or a probability.
        sentence: the number in words, with the condition under which it holds.
        worst: what the number is worst for (a row, a statistic), or None.
        assumptions: what must be true for the number to hold.
        equation: the formula it implements.
    """

    name: str
    value: float
    unit: str
    sentence: str
    worst: str | None = None
    assumptions: tuple[str, ...] = ()
    equation: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as the object that `--json` prints; JSON has no infinity, so such a value is null."""
        return {**asdict(self), "value": self.value if math.isfinite(self.value) else None}
