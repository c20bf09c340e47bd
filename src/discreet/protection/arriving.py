"""Coded records on their way into the engine: many at a time, and while the next ones are coded."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

    from discreet.engines.engine import Engine

ENOUGH = 1 << 20
"""Records that go into the engine together: it takes large lots in with all its threads."""


class Arriving:
    """Takes coded columns batch by batch and appends them to a table of the engine."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name
        self._waiting: list[dict[str, NDArray[np.integer[Any]]]] = []
        self._size = self.records = 0
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._taken: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self._take()
                self._settle()
        finally:
            self._pool.shutdown()

    def add(self, coded: dict[str, NDArray[np.integer[Any]]]) -> None:
        """Keep records until there are enough to be worth a call of the engine."""
        self._waiting.append(coded)
        self._size += len(coded["k"])
        if self._size >= ENOUGH:
            self._take()

    def _take(self) -> None:
        import pyarrow as pa

        self._settle()
        if self._size:
            columns = {name: np.concatenate([batch[name] for batch in self._waiting]) for name in self._waiting[0]}
            self._taken = self._pool.submit(self._engine.append, self._name, pa.record_batch(columns))
            self.records += self._size
        self._waiting, self._size = [], 0

    def _settle(self) -> None:
        """Wait until the records that were taken before are in, or tell what went wrong."""
        if self._taken:
            self._taken.result()
            self._taken = None
