"""Measurements: CPU seconds of the process, the median of several runs, and the machine."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One line of a benchmark: time of discreet, time of the reference, and their ratio, from one run."""

    name: str
    seconds: float
    against: str
    other_seconds: float
    note: str = ""

    @property
    def ratio(self) -> float:
        """Return the CPU time of discreet divided by that of the reference."""
        return self.seconds / self.other_seconds


def cpu_seconds(work: Callable[[], object], runs: int = 7, *, warm: bool = True) -> float:
    """Return the median CPU time of some work, after a warm-up run unless the work is long."""
    if warm:
        work()
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def report(benchmark: str, figures: list[Figure]) -> None:
    """Print the figures and store them as JSON."""
    print(f"\n{benchmark}")
    for figure in figures:
        line = f"  {figure.name:<44} {figure.seconds * 1e3:>10.3f} ms   {figure.ratio:>8.4f} x {figure.against}"
        print(f"{line}   {figure.note}".rstrip())
    content = {
        "schema": "discreet/1",
        "benchmark": benchmark,
        "measured": "CPU seconds of the process, median",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "figures": [{**asdict(figure), "ratio": figure.ratio} for figure in figures],
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{benchmark}.json").write_text(json.dumps(content, indent=2) + "\n")
