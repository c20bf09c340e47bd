"""`discreet demo` shows everything that exists."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

from discreet import read_ptable

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_the_demo_makes_a_table_draws_noise_and_pictures(discreet: Run, tmp_path: Path) -> None:
    done = discreet("demo", "--out", "d")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "d").iterdir()} == {
        "ptable.csv",
        "ptable.png",
        "draws.png",
        "averaging.png",
    }
    assert read_ptable(tmp_path / "d/ptable.csv").bound == 5
    assert "100,000 draws: mean" in done.stdout
    assert "Upper Wick" in done.stdout
    assert "An attacker who combines everything published" in done.stdout


def test_the_demo_shows_the_same_noise_for_the_same_participants(discreet: Run) -> None:
    line = next(line for line in discreet("demo").stdout.splitlines() if line.startswith("Upper Wick"))
    cells = line.removeprefix("Upper Wick").split("  ")
    _, men, total = [cell.strip() for cell in cells if cell.strip()]
    assert men == total


def test_the_demo_keeps_what_is_there(discreet: Run) -> None:
    assert discreet("demo").returncode == 0
    done = discreet("demo")
    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert discreet("demo", "--replace").returncode == 0
