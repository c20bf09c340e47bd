"""Progress reports of long computations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""A function of the stage, the completed amount, and the total amount (None if it is unknown)."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Report nothing."""


def reported(items: Sequence[T], stage: str, progress: Progress | None) -> Iterator[T]:
    """Yield items, and report the number of completed ones from 0 on.

    >>> calls = []
    >>> list(reported("ab", "reading", lambda *call: calls.append(call)))
    ['a', 'b']
    >>> calls
    [('reading', 0, 2), ('reading', 1, 2), ('reading', 2, 2)]
    """
    report = progress or silent
    report(stage, 0, len(items))
    for done, item in enumerate(items, start=1):
        yield item
        report(stage, done, len(items))
