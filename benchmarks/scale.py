"""Time, memory and disk of `synth` and `protect` for a complete census by the command line, and time by stage.

    python -m benchmarks.scale DE 1e7 1e8 [--memory 4GB]

Every command is a separate process; its peak memory is reported by the system, its temporary files are the observed
maximum in its private folder. Figures are added to benchmarks/results/scale.json by country, persons and limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.clock import RESULTS

COMMAND = [str(Path(sys.executable).with_name("discreet"))]


@dataclass(frozen=True)
class Cost:
    """Resources of one command: wall and CPU seconds; maximum megabytes of memory and of temporary files."""

    wall: float
    cpu: float
    memory: float
    spilled: float


class _Watched(threading.Thread):
    """Samples the size of a folder every half second and stores the maximum."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self._folder, self._over = folder, threading.Event()
        self.most = 0

    def run(self) -> None:
        while not self._over.wait(0.5):
            self.most = max(self.most, _size(self._folder))

    def stop(self) -> None:
        self._over.set()
        self.join()


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def timed(arguments: list[str], folder: Path) -> tuple[Cost, dict[str, Any]]:
    """Run a command to its end and return its resources and its output."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    watched = _Watched(temporary)
    watched.start()
    began = time.perf_counter()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, env=environment) as process:  # noqa: S603 - ours
        said = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    watched.stop()
    assert process.returncode == 0, said
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, watched.most / 1e6), json.loads(said)


def measure(country: str, persons: int, memory: str | None, folder: Path) -> dict[str, Any]:
    """Create a census and a release of it."""
    data, secret, out = folder / "people.parquet", folder / "secret", folder / "release"
    if not secret.exists():
        subprocess.run([*COMMAND, "keys", "new", str(secret)], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
    made, _ = timed(
        [
            "synth",
            "--country",
            country,
            "--persons",
            str(persons),
            "--seed",
            "1",
            "--out",
            str(data),
            "--replace",
            "--json",
        ],
        folder,
    )
    flags = ["--programme", f"eu2021:{country}", "--id", "PERSON_ID", "--secret-file", str(secret)]
    flags += ["--variance", "3", "--bound", "5", "--out", str(out), "--replace", "--json", "--quiet"]
    flags += ["--memory", memory] if memory else []
    protected, said = timed(["protect", str(data), *flags], folder)
    written = said["written"]
    return {
        "country": country,
        "persons": persons,
        "memory_limit": memory,
        "synth": asdict(made),
        "protect": asdict(protected),
        "seconds": said["seconds"],
        "data_megabytes": data.stat().st_size / 1e6,
        "release_megabytes": written["bytes"] / 1e6,
        "rows": written["rows"],
        "cells": written["cells"],
    }


def main() -> None:
    """Measure the requested sizes, print the figures, and store them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("country")
    parser.add_argument("persons", nargs="+", type=float)
    parser.add_argument("--memory")
    asked = parser.parse_args()
    path = RESULTS / "scale.json"
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for persons in map(int, asked.persons):
        with tempfile.TemporaryDirectory() as name:
            found = measure(asked.country, persons, asked.memory, Path(name))
        print(json.dumps(found, indent=1))
        kept[f"{asked.country} {persons:.0e} {asked.memory or 'no limit'}"] = found
        path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3:,.0f} MB at most in any process")


if __name__ == "__main__":
    main()
