"""How files are read."""

from __future__ import annotations

from dataclasses import dataclass

BLOCK = 1 << 22


@dataclass(frozen=True)
class Reading:
    """How files are read.

    Attributes:
        block: how many values at a time, about.
        forgiving: whether a CSV file may end inside a quote, which may have swallowed records.
    """

    block: int = BLOCK
    forgiving: bool = False


AS_USUAL = Reading()
