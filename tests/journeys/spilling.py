"""Data larger than the memory allowed: the engine writes to its private folder, and the release is the same."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.engines.spill_folder import LOCK
from tests.journeys.disturbed import arguments, ended, files, left, start

if TYPE_CHECKING:
    from pathlib import Path

PERSONS = 1_000_000
LIMIT = "24MB"
TABLES = "1*,2*,3*,9.*"


@dataclass(frozen=True)
class Spilled:
    """A run and what it used.

    Attributes:
        limit: of the engine's memory, None for the default.
        spilled: the most bytes seen in the folder for temporary files.
        peak: the most memory of the process, in bytes.
        seconds: how long it took.
    """

    limit: str | None
    spilled: int
    peak: int
    seconds: float


def spill(office: Path) -> tuple[Spilled, Spilled]:
    """Run without a limit and with one; the two releases are the same to the byte."""
    free = _watched(office, None)
    whole = {name: files(office / name) for name in ("rel", "rel.curator")}
    limited = _watched(office, LIMIT, "--replace")
    assert {name: files(office / name) for name in ("rel", "rel.curator")} == whole
    assert left(office) == ["rel", "rel.curator"]
    return free, limited


def _watched(office: Path, limit: str | None, *more: str) -> Spilled:
    memory = ["--memory", limit] if limit else []
    begin = time.perf_counter()
    process = start(office, arguments("people.parquet", *more, *memory, tables=TABLES))
    spilled = peak = 0
    while process.poll() is None:
        spilled, peak = max(spilled, _size(office / "spill")), max(peak, _peak(process.pid))
        time.sleep(0.01)
    assert ended(process) == (0, "")
    return Spilled(limit, spilled, peak, round(time.perf_counter() - begin, 1))


def _size(folder: Path) -> int:
    """Return the bytes of all files but locks; those that go while they are looked at count for nothing."""
    found = 0
    for path in folder.rglob("*"):
        try:
            assert path.stat().st_uid == folder.stat().st_uid
            found += path.stat().st_size if path.is_file() and path.name != LOCK else 0
        except FileNotFoundError:
            continue
    return found


def _peak(process: int) -> int:
    """Return the most memory that a process has had so far, as the system tells it."""
    from pathlib import Path

    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
