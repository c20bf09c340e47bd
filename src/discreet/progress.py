"""What long work reports while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the stage, how much of it is done, and of how much, None where that is not known."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Report nothing."""
