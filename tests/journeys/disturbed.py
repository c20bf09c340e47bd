"""Runs of `discreet protect` that something goes wrong with: how they start, and what must be there afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import pytest

from discreet.cli.main import main
from discreet.release.release import open_release
from discreet.synthetic.synthetic_census import synth

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "a secret for the tests only, long enough"  # noqa: S105 - of nobody
FEW, MANY = "1.*", "*"
"""Tables that are made at once, and such that a run can be cut short."""
RUN = "from discreet.cli.main import main; main()"
PERSONS = 3000


def furnish(office: Path, *, persons: int = PERSONS) -> Path:
    """Put made-up persons and a folder for temporary files into an office."""
    synth(office / "people.parquet", country="LU", persons=persons, seed=1)
    (office / "spill").mkdir()
    return office


def put_old(office: Path, earlier: Path) -> None:
    """Copy a release that was made elsewhere."""
    for name in ("rel", "rel.curator"):
        shutil.copytree(earlier / name, office / name)


def arguments(data: str = "people.parquet", *more: str, variance: int = 3, tables: str = FEW) -> list[str]:
    """Return the command for a release called rel."""
    noise = ["--variance", str(variance), "--bound", "5", "--id", "PERSON_ID"]
    return ["protect", data, "--programme", "eu2021:LU", *noise, "--out", "rel", "--tables", tables, *more]


def environment(office: Path) -> dict[str, str]:
    """Return what a command sees around it."""
    spill = {"TMPDIR": str(office / "spill"), "DISCREET_SECRET": SECRET, "PYTHONIOENCODING": "utf-8"}
    return {**os.environ, **spill}


def start(office: Path, given: list[str], before: str = "", **more: str) -> subprocess.Popen[str]:
    """Start the command as a user does, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", before + RUN, *given],
        cwd=office,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**environment(office), **more},
        preexec_fn=_hear,  # noqa: PLW1509 - no threads here
    )


def _hear() -> None:
    """Let signals end a child: a parent such as nohup, or a shell in the background, may ignore them."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for a command; return its exit code and what it said of errors."""
    code, _, errors = answered(process)
    return code, errors


def answered(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a command; return its exit code, what it said, and what it said of errors."""
    with process:
        said, errors = process.communicate(timeout=300)
    return process.returncode, said, errors


def run(office: Path, given: list[str], before: str = "", **more: str) -> tuple[int, str]:
    """Run the command."""
    return ended(start(office, given, before, **more))


def run_here(office: Path, given: list[str]) -> tuple[int, str]:
    """Run the command in this process, which is quicker: for what it says and leaves, and not for how it ends."""
    errors = io.StringIO()
    spill = str(office / "spill")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(office)
        patch.setattr(sys, "argv", ["discreet", *given])
        patch.setattr(signal, "signal", lambda *_given: None)
        patch.setattr(tempfile, "tempdir", spill)
        patch.setenv("TMPDIR", spill)
        patch.setenv("DISCREET_SECRET", SECRET)
        with contextlib.redirect_stderr(errors):
            try:
                main()
            except SystemExit as end:
                return int(end.code or 0), errors.getvalue()
    return 0, errors.getvalue()


def working(process: subprocess.Popen[str], office: Path) -> Path:
    """Wait until a run has its hidden folder; return it."""
    for _ in range(6000):
        hidden = list(office.glob(".rel.making-*"))
        if hidden:
            return hidden[0]
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("the run never began")


def left(office: Path) -> list[str]:
    """Return everything that was not there at the start."""
    new = [path.name for path in office.iterdir() if path.name not in {"people.parquet", "spill"}]
    return sorted([*new, *(f"spill/{path.name}" for path in (office / "spill").iterdir())])


def files(out: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a folder."""
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def check_whole(out: Path) -> dict[str, Any]:
    """Check a public folder by hand: nothing is missing, nothing is too much, every digest holds."""
    content: dict[str, Any] = json.loads((out / "release.json").read_text(encoding="utf-8"))
    entries = {entry["file"]: entry["sha256"] for entry in content["files"]}
    found = {name: hashlib.sha256(data).hexdigest() for name, data in files(out).items() if name != "release.json"}
    assert found == {**entries, "README.md": content["readme"]}
    assert [entry["id"] for entry in content["files"]] == [table["id"] for table in content["programme"]["tables"]]
    return content


def check_pair(out: Path) -> int:
    """Check that a release and its record belong together; return the variance of the noise."""
    release = open_release(out)
    content = check_whole(out)
    record = json.loads((out.with_name("rel.curator") / "record.json").read_text(encoding="utf-8"))
    assert record["definition"] == content["programme"]
    assert content["noise"]["typical_noise"] == round(record["parameters"]["variance"] ** 0.5, 1)
    assert release.record.parameters == record["parameters"]
    assert out.with_name("rel.curator").stat().st_mode & 0o777 == 0o700
    return int(record["parameters"]["variance"])
