"""`discreet keys` from the outside: what is written, said and refused, and that nothing secret is shown."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.records.record_keys import RecordKeys, keys_of

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]

CANARY_ID = "canary-0815"
CANARY_TEXT = "canary: the secret of the office, quite long"
IDS = ["17", "07", CANARY_ID]
posix = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


def keys(ids: list[str], secret: str = CANARY_TEXT, version: str = "1") -> list[int]:
    return [int(key) for key in keys_of(RecordKeys(secret.encode(), version).digests(pa.array(ids)))]


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """Return a folder with data and a secret."""
    (tmp_path / "persons.csv").write_text("PERSON_ID,SEX\n" + "".join(f"{each},F\n" for each in IDS))
    (tmp_path / "office.secret").write_text(CANARY_TEXT + "\n")
    (tmp_path / "office.secret").chmod(0o600)
    return tmp_path


ADD = ("keys", "add", "persons.csv", "--id", "PERSON_ID")
SECRET = ("--secret-file", "office.secret")


def test_new_makes_a_secret_and_says_what_to_do_with_it(discreet: Run, tmp_path: Path) -> None:
    done = discreet("keys", "new", "office.secret")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert text.startswith("Wrote office.secret: a new secret that only you can read (mode 600).")
    assert "Do not publish it: anyone who holds it can remove the noise." in text
    written = (tmp_path / "office.secret").read_text()
    assert len(bytes.fromhex(written)) == 32
    assert written.strip() not in done.stdout
    assert left(tmp_path) == ["office.secret"]
    if os.name == "posix":
        assert mode(tmp_path / "office.secret") == 0o600


def test_new_never_overwrites(discreet: Run, office: Path) -> None:
    done = discreet("keys", "new", "office.secret")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: office.secret exists already and was not changed: without the old secret, earlier releases cannot be "
        "repeated. Choose another name.\n"
    )
    assert (office / "office.secret").read_text() == CANARY_TEXT + "\n"
    assert "--replace" not in discreet("keys", "new", "--help").stdout


def test_add_writes_the_keys_of_the_library(discreet: Run, office: Path) -> None:
    done = discreet(*ADD, *SECRET, "--out", "keyed.parquet")
    assert (done.returncode, done.stderr) == (0, "")
    assert " ".join(done.stdout.split()) == (
        "Wrote keyed.parquet: 3 records with their keys (version 1) in RECORD_KEY. "
        "Only you can read the file (mode 600). Store it as securely as the data."
    )
    found = pq.read_table(office / "keyed.parquet")
    assert found.to_pydict() == {"PERSON_ID": IDS, "SEX": ["F"] * 3, "RECORD_KEY": keys(IDS)}
    assert left(office) == ["keyed.parquet", "office.secret", "persons.csv"]
    if os.name == "posix":
        assert mode(office / "keyed.parquet") == 0o600


def test_a_new_secret_gives_keys(discreet: Run, office: Path) -> None:
    discreet("keys", "new", "new.secret")
    done = discreet(*ADD, "--secret-file", "new.secret", "--out", "keyed.parquet")
    secret = (office / "new.secret").read_text().strip()
    assert done.returncode == 0
    assert pq.read_table(office / "keyed.parquet")["RECORD_KEY"].to_pylist() == keys(IDS, secret)


def test_json_tells_what_was_written(discreet: Run, office: Path) -> None:
    done = discreet(*ADD, *SECRET, "--out", "keyed.csv", "--version-label", "2", "--column", "RKEY", "--json")
    found = json.loads(done.stdout)
    settings = {"data": "persons.csv", "id": "PERSON_ID", "version_label": "2", "column": "RKEY"}
    assert found == {
        "schema": "discreet/1",
        "command": "keys add",
        "settings": settings,
        "results": [],
        "warnings": [],
        "records": 3,
        "written": "keyed.csv",
    }
    lines = (office / "keyed.csv").read_text().splitlines()
    assert lines[0] == '"PERSON_ID","SEX","RKEY"'
    assert [int(line.split(",")[-1]) for line in lines[1:]] == keys(IDS, version="2")


def test_the_secret_may_come_from_the_environment(discreet: Run, office: Path) -> None:
    done = discreet(*ADD, "--out", "keyed.parquet", DISCREET_SECRET=CANARY_TEXT)
    assert done.returncode == 0
    assert pq.read_table(office / "keyed.parquet")["RECORD_KEY"].to_pylist() == keys(IDS)


@posix
def test_a_secret_that_its_group_can_read_is_used_with_a_warning(discreet: Run, office: Path) -> None:
    (office / "office.secret").chmod(0o640)
    warning = "office.secret contains the secret, but its group has access to it. Run: chmod 600 office.secret"
    done = discreet(*ADD, *SECRET, "--out", "keyed.parquet")
    assert done.returncode == 0
    assert " ".join(done.stdout.split()).endswith(f"Warning: {warning}")
    done = discreet(*ADD, *SECRET, "--out", "keyed.parquet", "--replace", "--json")
    assert json.loads(done.stdout)["warnings"] == [warning]


MISTAKES = [
    (["--out", "keyed.parquet"], "error: Record keys need the office's secret, and none was given. Name its file with"),
    ([*SECRET, "--out", "keyed.txt"], "error: keyed.txt must end in .parquet or .csv"),
    ([*SECRET, "--out", "persons.csv"], "error: persons.csv exists already and was not changed."),
    ([*SECRET, "--out", "persons.csv", "--replace"], "error: persons.csv is one of the input files."),
    (
        [*SECRET, "--out", "keyed.csv", "--id", "SEX"],
        "error: 3 records share their SEX with another record, such as 1",
    ),
    ([*SECRET, "--out", "keyed.csv", "--id", "PERSONID"], "There is no column 'PERSONID'. Did you mean PERSON_ID?"),
    ([*SECRET, "--out", "keyed.csv", "--column", "SEX"], "error: persons.csv already has a column SEX."),
    (["--secret-file", "nowhere", "--out", "keyed.csv"], "error: nowhere cannot be read as the file of a secret"),
    (["--secret-file", ".", "--out", "keyed.csv"], "error: . is a folder, not the file of a secret."),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_mistakes_end_with_one_message_and_no_file(
    discreet: Run, office: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str, as_json: bool
) -> None:
    monkeypatch.delenv("DISCREET_SECRET", raising=False)
    done = discreet(*ADD, *arguments, *(["--json"] if as_json else []))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "canary" not in done.stdout + done.stderr
    assert not as_json or set(json.loads(done.stdout)) == {"schema", "error"}
    assert left(office) == ["office.secret", "persons.csv"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (f"{CANARY_ID},M\n", "error: 2 records share their PERSON_ID with another record, such as 3 and 4."),
        (",M\n,F\n", "error: PERSON_ID is missing in 2 records; the first is record 4."),
        (f"{CANARY_ID}\n", "error: persons.csv has 1 fields instead of 2"),
    ],
)
def test_no_id_is_shown_whatever_is_wrong(discreet: Run, office: Path, more: str, message: str) -> None:
    with (office / "persons.csv").open("a") as file:
        file.write(more)
    done = discreet(*ADD, *SECRET, "--out", "keyed.parquet", "--json")
    assert done.returncode == 2
    assert message in done.stderr
    assert "canary" not in done.stdout + done.stderr
    assert left(office) == ["office.secret", "persons.csv"]


def test_a_short_secret_is_refused_and_not_shown(discreet: Run, office: Path) -> None:
    short = "canary"
    (office / "office.secret").write_text(short)
    for done in (
        discreet(*ADD, *SECRET, "--out", "keyed.parquet", "--json"),
        discreet(*ADD, "--out", "keyed.parquet", DISCREET_SECRET=short),
    ):
        assert done.returncode == 2
        assert "is too short for a secret: it must have 16 to 4096 bytes." in done.stderr
        assert "canary" not in done.stdout + done.stderr
    assert left(office) == ["office.secret", "persons.csv"]
