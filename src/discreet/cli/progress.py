"""Progress on long work: bars on a terminal, lines of JSON in a log, never a value of the data."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from discreet.errors import FileWriteError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class Stages:
    """One bar per stage on standard error, if that is a terminal, and one line per finished stage in a log.

    The log tells stages, tables and seconds. How many records there are is a true count and stays out of it.
    """

    def __init__(self, *, shown: bool, log: Path | None = None) -> None:
        self._log = log
        self._started = time.perf_counter()
        self._ended: set[str] = set()
        self._tasks: dict[str, TaskID] = {}
        self._bars: Progress | None = None
        if shown and sys.stderr.isatty():
            speed = TextColumn("{task.fields[speed]}")
            columns = (
                TextColumn("{task.description:<9}"),
                BarColumn(),
                MofNCompleteColumn(),
                speed,
                TimeRemainingColumn(),
            )
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)

    def __enter__(self) -> Self:
        self._note("start")
        if self._bars:
            self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bars:
            self._bars.stop()
        self._note("failed" if kind else "done", **({"error": kind.__name__} if kind else {}))

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Show how far a stage is."""
        if self._bars:
            seconds = max(time.perf_counter() - self._started, 1e-3)
            speed = f"{done / seconds:,.0f}/s" if stage == "reading" else ""
            if stage not in self._tasks:
                self._tasks[stage] = self._bars.add_task(stage, total=total, speed=speed)
            self._bars.update(self._tasks[stage], completed=done, total=total, speed=speed)
        if done == total and stage not in self._ended:
            self._ended.add(stage)
            self._note(stage, **({} if stage == "reading" else {"tables": done}))

    def _note(self, event: str, **more: Any) -> None:  # noqa: ANN401 - plain values of JSON
        if not self._log:
            return
        line = {"event": event, "seconds": round(time.perf_counter() - self._started, 3), **more}
        try:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise FileWriteError.to(self._log, error.strerror or "the write failed", "Choose another log.") from error
