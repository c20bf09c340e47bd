"""Progress on long work: bars on a terminal, lines of JSON in a log, never a value of the data."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from discreet.errors import FileWriteError
from discreet.whole_file import check_unpublished

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

READING = "reading"
"""The stage that counts records; all others count tables."""


class ProgressBars:
    """One bar per stage on standard error, if that is a terminal, and one line per finished stage in a log.

    The log tells stages, tables and seconds. How many records there are is a true count and stays out of it.

    Attributes:
        warnings: what went wrong beside the work itself: a log that could be begun, but not be written to its end.
    """

    def __init__(self, *, shown: bool, log: Path | None = None) -> None:
        self.warnings: list[str] = []
        self._log = log
        self._started = time.perf_counter()
        self._ended: set[str] = set()
        self._tasks: dict[str, TaskID] = {}
        self._bars: Progress | None = None
        if shown and sys.stderr.isatty():
            columns = (
                TextColumn("{task.description:<9}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[speed]}"),
                TimeRemainingColumn(),
            )
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)

    def __enter__(self) -> Self:
        if self._log:
            _check_log(self._log)
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
        if stage != READING:
            # A CSV file does not say beforehand how many records it has; they are read once the next stage begins.
            self._end(READING)
        self._show(stage, done, total)
        if done == total:
            self._end(stage, **({} if stage == READING else {"tables": done}))

    def _show(self, stage: str, done: int, total: int | None) -> None:
        if not self._bars:
            return
        seconds = max(time.perf_counter() - self._started, 1e-3)
        speed = f"{done / seconds:,.0f} records/s" if stage == READING else ""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, speed=speed)
        self._bars.update(self._tasks[stage], completed=done, total=total, speed=speed)

    def _end(self, stage: str, **more: Any) -> None:  # noqa: ANN401 - plain values of JSON
        if stage in self._ended:
            return
        self._ended.add(stage)
        self._note(stage, **more)
        if self._bars and stage in self._tasks:
            task = self._bars.tasks[self._tasks[stage]]
            self._bars.update(task.id, total=task.completed)

    def _note(self, event: str, **more: Any) -> None:  # noqa: ANN401 - plain values of JSON
        if not self._log or self.warnings:
            return
        line = {"event": event, "seconds": round(time.perf_counter() - self._started, 3), **more}
        try:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            why = error.strerror or "the write failed"
            if event == "start":
                raise FileWriteError.to(self._log, why, "Choose another log.") from error
            # The work goes on: it is worth more than its log.
            self.warnings.append(f"The log {self._log} could not be written to its end: {why}.")


def _check_log(path: Path) -> None:
    """Refuse a log in a published folder, and what is no log: data or a secret named by mistake would be spoilt."""
    check_unpublished(path)
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except OSError as error:
        raise FileWriteError.to(path, error.strerror or "it cannot be read", "Choose another log.") from error
    if first not in {b"", b"{"}:
        raise FileWriteError.to(path, "it holds something else than a log", "Choose another log.")
