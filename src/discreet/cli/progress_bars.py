"""Progress of long work: bars on a terminal and lines of JSON in a log, without any value of the data."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import FileWriteError
from discreet.whole_file import check_unpublished

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from rich.progress import Progress, TaskID

READING = "reading"
"""The stage that counts records; all others count tables."""


class ProgressBars:
    """One bar per stage on standard error, if that is a terminal, and one line per finished stage in a log.

    The log contains stages, tables and seconds. The number of records is a true count; the log does not contain it.

    Attributes:
        warnings: problems outside the work itself: a log that was begun but could not be completed.
    """

    def __init__(self, *, shown: bool, log: Path | None = None) -> None:
        self.warnings: list[str] = []
        self._log = log
        self._started = time.perf_counter()
        self._ended: set[str] = set()
        self._tasks: dict[str, TaskID] = {}
        self._bars: Progress | None = None
        if shown and sys.stderr.isatty():
            self._bars = _bars()

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
            # The number of records of a CSV file is unknown; they are all read once the next stage begins.
            self._end(READING)
        self._show(stage, done, total)
        if done == total:
            self._end(stage, **({} if stage == READING else {"tables": done}))

    def _show(self, stage: str, done: int, total: int | None) -> None:
        if not self._bars:
            return
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, amount="")
        task = self._tasks[stage]
        if done < self._bars.tasks[task].completed:
            # Another round of the same stage.
            self._bars.reset(task)
        seconds = max(time.perf_counter() - self._started, 1e-3)
        speed = f", {done / seconds:,.0f} records/s" if stage == READING else ""
        amount = f"{done:,} of {total:,}" if total else f"{done:,}" if done else ""
        self._bars.update(task, completed=done, total=total, amount=f"{amount}{speed}")

    def _end(self, stage: str, **more: Any) -> None:  # noqa: ANN401 - plain values of JSON
        if stage in self._ended:
            return
        self._ended.add(stage)
        self._note(stage, **more)
        if self._bars and stage in self._tasks:
            task = self._bars.tasks[self._tasks[stage]]
            self._bars.update(task.id, total=task.completed, amount=f"{task.completed:,.0f} of {task.completed:,.0f}")

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
            # The work continues without its log.
            self.warnings.append(f"The log {self._log} could not be written to its end: {why}.")


def _bars() -> Progress:
    """Return bars with amount, total and time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=16),
        TextColumn("{task.fields[amount]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _check_log(path: Path) -> None:
    """Refuse a log in a published folder, and any file that is not a log: a log would damage data or a secret."""
    check_unpublished(path)
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except OSError as error:
        raise FileWriteError.to(path, error.strerror or "it cannot be read", "Choose another log.") from error
    if first not in {b"", b"{"}:
        raise FileWriteError.to(path, "it contains something other than a log", "Choose another log.")
