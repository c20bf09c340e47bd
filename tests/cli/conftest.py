"""The command as a user runs it: its output and its exit code, within this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.charts.pictures import drawn_once
from tests.cli import town
from tests.journeys.running import discreet as within

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module", autouse=True)
def _few_rounds() -> Iterator[None]:
    with town.few_rounds():
        yield


@pytest.fixture(scope="module", autouse=True)
def _pictures() -> Iterator[None]:
    with drawn_once():
        yield


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a release of the town, made once by the command; tests have a copy."""
    folder = tmp_path_factory.mktemp("published")
    town.make(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        within(*town.PROTECT)
    return folder


@pytest.fixture
def process(tmp_path: Path) -> Run:
    """Return the command in a process of its own."""
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


@pytest.fixture
def discreet(tmp_path: Path, process: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return the command within this process, which starts at once; with another environment, in one of its own."""
    monkeypatch.setenv("COLUMNS", "80")
    here = town.command(tmp_path, monkeypatch, capsys)

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        if environment:
            return process(*arguments, **environment)
        done = here(*arguments)
        return subprocess.CompletedProcess(list(arguments), done.code, done.out, done.err)

    return run
