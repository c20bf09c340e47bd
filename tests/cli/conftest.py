"""The command as a user runs it: a process, its output and its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def discreet(tmp_path: Path) -> Run:
    script = Path(sys.executable).with_name("discreet")

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [script, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
            check=False,
            timeout=120,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        )

    return run
