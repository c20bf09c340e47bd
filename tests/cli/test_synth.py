"""`discreet synth` from the outside."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
ASKED = ("synth", "--country", "LU", "--persons", "2000", "--seed", "7")


def test_it_says_what_it_wrote_and_that_it_is_made_up(discreet: Run, tmp_path: Path) -> None:
    done = discreet(*ASKED, "--out", "people.parquet")
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third, fourth = done.stdout.splitlines()
    assert first.startswith("Wrote people.parquet: 2,000 persons in ")
    assert "It contains no real persons." in second
    assert third == "Its codes are those of eu2021:LU. Next, with a secret (discreet keys new office.secret):"
    assert fourth.startswith("discreet protect people.parquet --programme eu2021:LU --id PERSON_ID ")
    assert pq.read_metadata(tmp_path / "people.parquet").num_rows == 2000


@pytest.mark.slow
def test_what_it_says_to_do_next_works(discreet: Run, tmp_path: Path) -> None:
    third, fourth = discreet(*ASKED, "--out", "my people.csv").stdout.splitlines()[2:]
    secret = third.partition("(")[2].rstrip("):")
    for command in (secret, fourth):
        program, *arguments = shlex.split(command)
        assert program == "discreet"
        assert discreet(*arguments).returncode == 0
    assert (tmp_path / "release" / "release.json").exists()


def test_as_json(discreet: Run) -> None:
    found = json.loads(discreet(*ASKED, "--out", "people.csv", "--json").stdout)
    assert found["settings"] == {"country": "LU", "persons": 2000, "seed": 7, "out": "people.csv"}
    assert found["persons"] == 2000
    assert 700 < found["households"] < 1100
    assert found["written"] == "people.csv"
    assert "It contains no real persons." in found["warnings"][0]
    assert set(found) - {"schema", "command", "settings", "results", "warnings"} == {"persons", "households", "written"}


def test_a_file_that_exists_is_kept_unless_asked(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mine")
    refused = discreet(*ASKED, "--out", "a.csv")
    assert refused.returncode == 2
    assert "a.csv exists already" in refused.stderr
    assert (tmp_path / "a.csv").read_text() == "mine"
    assert discreet(*ASKED, "--out", "a.csv", "--replace").returncode == 0
    assert (tmp_path / "a.csv").read_text().startswith("PERSON_ID,HOUSEHOLD_ID,")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("--country", "EL"), "error: Persons cannot be placed in Greece (EL)"),
        (("--country", "lu"), "error: There is no country in the EU census programme 'lu'."),
        (("--persons", "0"), "error: Synthetic census: persons must be a whole number from 1 to 10^9, not 0."),
        (("--seed", "-1"), "error: Synthetic census: seed must be a whole number from 0 to 2^63 - 1, not -1."),
        (
            ("--out", "a.xlsx"),
            "error: a.xlsx must end in .parquet or .csv, which determines the format. Choose another name.",
        ),
        (("--out", "no/a.csv"), "error: no/a.csv cannot be written: its folder does not exist."),
    ],
)
def test_a_mistake_is_one_message(discreet: Run, tmp_path: Path, changed: tuple[str, str], message: str) -> None:
    done = discreet(*ASKED, "--out", "a.csv", *changed)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("flags", "shown"), [((), True), pytest.param(("--quiet",), False, marks=pytest.mark.slow)])
def test_a_bar_is_shown_on_a_terminal_unless_quiet(tmp_path: Path, flags: tuple[str, ...], shown: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    script = Path(sys.executable).with_name("discreet")
    done = subprocess.run(
        [script, *ASKED, "--out", "a.csv", *flags], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, check=True
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 4096):
            written += piece
    except OSError:
        # The other end is closed: everything has been read.
        pass
    os.close(ours)
    assert (b"2,000 of 2,000" in written) is shown
    assert done.stdout.startswith(b"Wrote a.csv") is shown
    assert (tmp_path / "a.csv").exists()
