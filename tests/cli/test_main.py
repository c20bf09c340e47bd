"""The command itself: version, unknown verbs, closed pipes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet import __version__

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def discreet(process: Run) -> Run:
    """Return the command in a process of its own: here that is what is looked at."""
    return process


def test_version(discreet: Run) -> None:
    assert discreet("--version").stdout == f"discreet {__version__}\n"


def test_an_unknown_verb_suggests_the_nearest(discreet: Run) -> None:
    done = discreet("ptabel")
    assert done.returncode == 2
    assert "ptable" in done.stderr.replace("ptabel", "")


def test_no_arguments_show_the_verbs(discreet: Run) -> None:
    text = discreet().stdout + discreet().stderr
    assert "ptable" in text
    assert "demo" in text


def test_a_closed_pipe_is_no_error() -> None:
    script = Path(sys.executable).with_name("discreet")
    command = f"'{script}' ptable --variance 400 --bound 100 --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)  # noqa: S607
    assert done.stdout == "{\n"
    assert done.stderr == ""
