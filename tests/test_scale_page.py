"""The page on whole censuses shows the figures that were measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/results/scale.md").read_text(encoding="utf-8")
MEASURED: dict[str, Any] = json.loads((ROOT / "benchmarks/results/scale.json").read_text(encoding="utf-8"))
RUNS = ("DE 1e+07 no limit", "DE 1e+08 no limit", "DE 1e+07 300MB")
STAGES = ("reading", "counting", "noise", "writing", "all")


def row(name: str, start: int = 0) -> list[str]:
    """Return the cells of the first line of a table that begins with a name."""
    line = next(line for line in PAGE[start:].splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("| ").split("|")[1:]]


@pytest.mark.parametrize(
    ("name", "step", "figure", "form"),
    [
        ("`synth`, wall", "synth", "wall", "{:.0f} s"),
        ("`synth`, peak memory", "synth", "memory", "{:.0f} MB"),
        ("`protect`, wall", "protect", "wall", "{:.0f} s"),
        ("`protect`, CPU", "protect", "cpu", "{:.0f} s"),
    ],
)
def test_time_and_memory(name: str, step: str, figure: str, form: str) -> None:
    assert row(name) == [form.format(MEASURED[run][step][figure]) for run in RUNS]


def test_sizes() -> None:
    runs = [MEASURED[run] for run in RUNS]
    assert row("data, Parquet") == [f"{run['data_megabytes']:,.0f} MB" for run in runs]
    assert row("release, Parquet") == [f"{run['release_megabytes']:,.0f} MB" for run in runs]
    assert row("rows published") == [f"{run['rows'] / 1e6:.1f} million" for run in runs]
    assert row("`protect`, peak memory") == [f"{run['protect']['memory'] / 1e3:.1f} GB" for run in runs]
    spilled = [run["protect"]["spilled"] for run in runs]
    assert row("temporary files, maximum") == [f"{size:.0f} MB" if size else "0" for size in spilled]


def test_seconds_by_stage() -> None:
    names = ("10^7 persons", "10^8 persons", "10^7, `--memory 300MB`")
    start = PAGE.index("Seconds of `protect` by stage")
    for name, run in zip(names, RUNS, strict=True):
        assert row(name, start) == [f"{MEASURED[run]['seconds'][stage]:.1f}" for stage in STAGES]
