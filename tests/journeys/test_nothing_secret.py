"""The leak test: whatever `discreet protect` is asked to do, and however it ends, nothing secret is written or said.

Secret are: the office's secret and what is derived from it, record keys and cell keys, ids and names of persons, and
true counts. The data are made so that these can be told from all else: counts are large primes and sums of them, and
the noise leaves no count above 0 as it is. Of two things a run may speak to whoever runs it: how many records it read
(standard output and the record, neither of which is published), and how many of them are not in order.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.cli.main import main
from discreet.errors import InputError, RecordIdError
from discreet.programme.selection import choose_tables
from discreet.release import release_writer, table_files
from discreet.release.table_files import read_table
from discreet.synthetic import synth
from tests.journeys.leaks import Hidden, Record, hidden, left_in
from tests.quick import one_in
from tests.tabulation.small_data import without_levels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.mechanisms.mechanism import NoiseBatch
    from discreet.tabulation.static_output import StaticOutput

SECRET = "6f1d2c83b9a04e57d8cc3f0a91b7e2645a0bb8d3179c4e62f5a83d0e7c91b4f6"  # noqa: S105 - of this test alone
SHORT = "canary-secret"
PROGRAMME = """
name = "Town"
[topics.SEX]
categories = ["F", "M"]
[topics.AGE]
hierarchy = [["Y", ""], ["O", ""], ["0", "Y"], ["15", "Y"], ["30", "O"], ["65", "O"]]
[topics.AREA]
categories = ["north", "south", "east", "west"]
[[tables]]
id = "1"
columns = ["SEX", "AGE"]
[[tables]]
id = "2"
columns = ["AREA"]
[[tables]]
id = "3"
columns = ["AGE"]
universe = "SEX = F"
"""
PRIMES = {
    ("F", "0"): 1009, ("F", "15"): 1103, ("F", "30"): 1259, ("F", "65"): 1433,
    ("M", "0"): 1601, ("M", "15"): 1811, ("M", "30"): 2027, ("M", "65"): 2311,
}  # fmt: skip
NORTH, EAST, WEST = 7919, 1, 2
"""How many live there; in the south live all others."""
CHANGES = {0: {0}, 1: {-1, 1}, 2: {-2, 2}, 3: {-3, -2, 2, 3}}
"""Noise by true count, the last for all larger ones: no count above 0 stays as it is."""
SIZE = sum(PRIMES.values())
CENSUS_TABLES = "9.2,3.*"


def people() -> list[Record]:
    """Return the persons of the town; ids, keys and names are recognisable and the same in every run."""
    chance = random.Random(2021)  # noqa: S311 - made-up persons
    places = ["north"] * NORTH + ["east"] * EAST + ["west"] * WEST + ["south"] * (SIZE - NORTH - EAST - WEST)
    chance.shuffle(places)
    kinds = [kind for kind, times in PRIMES.items() for _ in range(times)]
    return [
        {
            "ID": f"P{chance.getrandbits(48):012x}", "KEY": str(chance.getrandbits(32)),
            "NAME": f"Nobody-{chance.getrandbits(40):010x}", "SEX": sex, "AGE": age, "AREA": place,
        }
        for (sex, age), place in zip(kinds, places, strict=True)
    ]  # fmt: skip


PEOPLE = people()
WITHOUT_AREA = [{**record, "ID": f"X{record['ID']}", "AREA": ""} for record in PEOPLE[: 11 * 97]]
"""More persons, of whom nobody knows where they live."""


def write(path: Path, records: Sequence[Record], *, header: bool = True) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.DictWriter(file, list(records[0]))
        if header:
            lines.writeheader()
        lines.writerows(records)


def ptable() -> str:
    """Return the p-table that changes every count above 0, in our CSV format."""
    space, lines = 1 << 32, ["i,j,v,p,lower,upper"]
    for count, noises in CHANGES.items():
        for place, noise in enumerate(sorted(noises)):
            bounds = (space * place // len(noises), space * (place + 1) // len(noises))
            lines.append(f"{count},{count + noise},{noise},{1 / len(noises)},{bounds[0]},{bounds[1]}")
    return "\n".join(lines) + "\n"


@cache
def programme() -> dc.Programme:
    """Return the town's programme as the command reads it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "town.toml").write_text(PROGRAMME)
        return dc.load_programme(Path(folder) / "town.toml")


@cache
def town() -> Hidden:
    """Return what must stay hidden where keys are made from ids."""
    return hidden(programme(), PEOPLE, SECRET.encode(), id_column="ID")


@cache
def keyed() -> Hidden:
    """Return what must stay hidden where the data bring their keys along."""
    return hidden(programme(), PEOPLE, SECRET.encode(), id_column="ID", key="KEY")


@cache
def with_missing() -> Hidden:
    """Return what must stay hidden where some have no area."""
    return hidden(programme(), [*PEOPLE, *WITHOUT_AREA], SECRET.encode(), id_column="ID")


@cache
def whatever_keys() -> Hidden:
    """Return what must stay hidden where it is not known which keys a run used."""
    return replace(town(), keys=[*town().keys, *keyed().keys])


def test_the_counts_of_the_town_can_be_told_from_what_is_published() -> None:
    counts = sorted(town().counts)
    assert set(PRIMES.values()) | {SIZE, NORTH} <= set(counts)
    # A published count lies within 3 of its own true one, and so never on that of another cell.
    assert all(second - first > 3 for first, second in pairwise(counts))


# --- The command, as a user runs it ---


@dataclass(frozen=True)
class Office:
    """A folder with all that a run needs; runs in processes of their own, which takes longer, or in this one."""

    folder: Path
    own: bool = False

    def run(self, *arguments: str, **environment: str) -> dict[str, bytes]:
        """Run the command and return what it said; nothing may be left in the folder for temporary files."""
        done = self._done(arguments, environment)
        assert b"Traceback" not in done.stderr
        return {"exit": str(done.returncode).encode(), "standard output": done.stdout, "standard error": done.stderr}

    def _done(self, arguments: Sequence[str], environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        given = [*(() if arguments[0] == "assess" else ("protect",)), *arguments]
        around = {"TMPDIR": str(temporary), "PYTHONIOENCODING": "utf-8", **environment}
        done = self._in_its_own(given, around) if self.own else self._here(given, around)
        assert list(temporary.iterdir()) == []
        return done

    def _in_its_own(self, given: list[str], around: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
        kept = {name: value for name, value in os.environ.items() if name != "DISCREET_SECRET"}
        command = [str(Path(sys.executable).with_name("discreet")), *given]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, check=False, timeout=120, env={**kept, **around}
        )

    def _here(self, given: list[str], around: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
        written = io.BytesIO(), io.BytesIO()
        said, errors = (io.TextIOWrapper(stream, encoding="utf-8") for stream in written)
        code = 0
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.delenv("DISCREET_SECRET", raising=False)
            for name, value in around.items():
                patch.setenv(name, value)
            patch.setattr(tempfile, "tempdir", around["TMPDIR"])
            patch.setattr(signal, "signal", lambda *_given: None)
            patch.setattr(sys, "argv", ["discreet", *given])
            patch.setattr(sys, "stdout", said)
            patch.setattr(sys, "stderr", errors)
            try:
                main()
            except SystemExit as end:
                code = int(end.code or 0)
        said.flush()
        errors.flush()
        return subprocess.CompletedProcess(given, code, *(stream.getvalue() for stream in written))

    def left(self, *but: str) -> dict[str, bytes]:
        """Return what a run left: everything in the folder but what was there before and the curator's counts."""
        found = {"names": "\n".join(path.name for path in self.folder.iterdir()).encode()}
        for path in self.folder.iterdir():
            if path.name in {*GIVEN, *but}:
                continue
            if path.is_dir():
                found |= left_in(path)
            else:
                found[path.name] = path.read_bytes()
        return {name: content for name, content in found.items() if "/exact/" not in name}


GIVEN = {"town.csv", "town.parquet", "gaps.csv", "town.toml", "never.csv", "office.secret", "settings.toml"}


@pytest.fixture(scope="session")
def town_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("town") / "town.csv"
    write(path, PEOPLE)
    return path


@pytest.fixture
def office(tmp_path: Path, town_csv: Path) -> Office:
    shutil.copy(town_csv, tmp_path)
    (tmp_path / "town.toml").write_text(PROGRAMME)
    (tmp_path / "never.csv").write_text(ptable())
    (tmp_path / "office.secret").write_text(f"{SECRET}\n")
    (tmp_path / "office.secret").chmod(0o600)
    return Office(tmp_path)


SAID = re.compile(
    rb'(?<=reading    )[\d,]+ records(, [\d,]+ others dropped because of a missing value)?|"(?:records|dropped)": \d+'
)
"""How many records were read: said to whoever runs the command, and written into the curator's record."""
PROTECT = ("--programme", "town.toml")
NEVER = ("--ptable", "never.csv")
BY_ID = ("--id", "ID", "--secret-file", "office.secret")
OUT = ("--out", "out")


def search(known: Hidden, said: dict[str, bytes], left: dict[str, bytes]) -> set[tuple[str, str]]:
    """Return what is shown that must not be, once what may be said of the number of records is taken out."""
    said = {**said, "standard output": SAID.sub(b"", said["standard output"])}
    left = {name: SAID.sub(b"", text) if name.endswith("record.json") else text for name, text in left.items()}
    return known.found({**said, **left})


MODES: dict[str, tuple[list[str], dict[str, str], Callable[[], Hidden]]] = {
    "text": (["town.csv", *PROTECT, *NEVER, *BY_ID, *OUT], {}, town),
    "json and log": (["town.csv", *PROTECT, *NEVER, *BY_ID, *OUT, "--json", "--log", "log"], {}, town),
    "exact kept, quiet": (["town.csv", *PROTECT, *NEVER, *BY_ID, *OUT, "--keep-exact", "--quiet"], {}, town),
    "csv": (["town.csv", *PROTECT, *NEVER, *BY_ID, *OUT, "--format", "csv", "--log", "log"], {}, town),
    "variable": (["town.csv", *PROTECT, *NEVER, "--id", "ID", *OUT, "--json"], {"DISCREET_SECRET": SECRET}, town),
    "ready-made keys": (
        ["town.csv", *PROTECT, *NEVER, "--key", "KEY", "--secret-file", "office.secret", *OUT, "--json"], {}, keyed
    ),
    "plain keys": (["town.csv", *PROTECT, *NEVER, "--key", "KEY", "--key-mode", "plain", *OUT], {}, keyed),
    "settings": (["town.csv", "--settings", "settings.toml", *OUT, "--json"], {}, town),
    "dropped": (["gaps.csv", *PROTECT, *NEVER, *BY_ID, *OUT, "--missing", "drop", "--json"], {}, town),
    "category": (["gaps.csv", *PROTECT, *NEVER, *BY_ID, *OUT, "--missing", "category"], {}, with_missing),
    "dry run": (["town.parquet", *PROTECT, *NEVER, *BY_ID, *OUT, "--dry-run", "--json"], {}, town),
}  # fmt: skip


def alone(cases: dict[str, Any], every: int, case: str) -> bool:
    """Say whether a case runs in a process of its own: the first, and those that are slow tests."""
    place = list(cases).index(case)
    return place == 0 or place % every > 0


@pytest.mark.parametrize("mode", one_in(7, MODES))
def test_a_run_shows_nothing_secret(office: Office, mode: str) -> None:
    arguments, environment, known = MODES[mode]
    office = replace(office, own=alone(MODES, 7, mode))
    write(office.folder / "gaps.csv", [*PEOPLE, *WITHOUT_AREA])
    pq.write_table(pa.Table.from_pylist(PEOPLE), office.folder / "town.parquet")
    (office.folder / "settings.toml").write_text(
        'programme = "town.toml"\nptable = "never.csv"\nid = "ID"\nsecret-file = "office.secret"\n'
    )
    said, left = office.run(*arguments, **environment), office.left()
    assert said["exit"] == b"0", said["standard error"]
    assert said["standard error"] == b""
    assert (office.folder / "out").exists() == (mode != "dry run")
    assert search(known(), said, left) == set()


def test_a_release_that_replaces_another_leaves_nothing_of_it(office: Office) -> None:
    for more in (["--keep-exact"], ["--replace"]):
        said = office.run("town.csv", *PROTECT, *NEVER, *BY_ID, *OUT, *more)
        assert said["exit"] == b"0"
    assert search(town(), said, office.left()) == set()
    assert not (office.folder / "out.curator" / "exact").exists()


def test_an_assessment_shows_nothing_secret(office: Office) -> None:
    assert office.run("town.csv", *PROTECT, *NEVER, *BY_ID, *OUT, "--keep-exact")["exit"] == b"0"
    for more in ([], ["--json"]):
        said = office.run("assess", "out", *more)
        assert said["exit"] == b"0", said["standard error"]
        # The number of records decides what reconstruction can do, and is said: an assessment is for the curator.
        output = re.sub(rf'"records": {SIZE},|{SIZE:,} records', "", said["standard output"].decode())
        assert town().found({**said, "standard output": output.encode()}) == set()


@pytest.mark.parametrize("more", [["--variance", "3", "--bound", "5", "--perturb-zeros"], ["--epsilon", "0.5"]])
def test_noise_that_may_be_0_shows_no_key_and_no_id(office: Office, more: list[str]) -> None:
    said = office.run("town.csv", *PROTECT, *BY_ID, *OUT, *more, "--json", "--log", "log")
    assert said["exit"] == b"0", said["standard error"]
    places = {**said, **office.left()}
    assert town().found(places, but=["true count", "bytes"]) == set()
    assert not [place for kind, place in town().found({"log": places["log"]})]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_bars_on_a_terminal_show_nothing_secret(office: Office) -> None:
    import pty

    ours, theirs = pty.openpty()
    script = Path(sys.executable).with_name("discreet")
    command = [str(script), "protect", "town.csv", *PROTECT, *NEVER, *BY_ID, *OUT]
    with subprocess.Popen(command, cwd=office.folder, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:
            pass  # The other end is closed: everything has been read.
        assert process.stdout
        output = process.stdout.read()
    os.close(ours)
    assert b"reading" in shown
    # How many records were read is said here as well.
    shown = re.sub(rb"\b\d+/(\d+|\?)", b"", re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", shown))
    assert search(town(), {"standard output": output, "standard error": shown}, office.left()) == set()


# --- Every way to fail ---


def _replaced(office: Office, **values: str) -> None:
    """Write the data with other values in some records."""
    write(office.folder / "town.csv", [{**r, **values} if n % 400 == 7 else r for n, r in enumerate(PEOPLE)])


def _ragged(office: Office) -> None:
    with (office.folder / "town.csv").open("a") as file:
        file.write(f"{PEOPLE[5]['ID']},{PEOPLE[5]['KEY']}\n")


def _open_quote(office: Office) -> None:
    with (office.folder / "town.csv").open("a") as file:
        file.write(f'A1,1,{PEOPLE[5]["NAME"]},F,0,"north\n')


def _bound(topic: str, column: str) -> Callable[[Office], None]:
    def prepare(office: Office) -> None:
        (office.folder / "town.toml").write_text(f'{PROGRAMME}\n[columns]\n{topic} = "{column}"\n')

    return prepare


def _bytes(office: Office) -> None:
    with (office.folder / "town.csv").open("ab") as file:
        file.write(f"{PEOPLE[6]['ID']},1,x\xff,F,0,north\n".encode("latin-1"))


def _parquet(office: Office, table: pa.Table) -> None:
    pq.write_table(table, office.folder / "town.parquet")


def _cut(office: Office) -> None:
    _parquet(office, pa.Table.from_pylist(PEOPLE))
    data = (office.folder / "town.parquet").read_bytes()
    (office.folder / "town.parquet").write_bytes(data[: len(data) // 2] + b"PAR1")


def _nested(office: Office) -> None:
    columns = {name: [record[name] for record in PEOPLE] for name in PEOPLE[0]}
    _parquet(office, pa.table({**columns, "SEX": [[name] for name in columns["NAME"]]}))


def _short(office: Office) -> None:
    (office.folder / "office.secret").write_text(SHORT)


def _two_without_header(office: Office) -> None:
    (office.folder / "town.csv").unlink()
    write(office.folder / "town1.csv", PEOPLE[:40], header=False)
    write(office.folder / "town2.csv", PEOPLE[40:90], header=False)


def _taken(office: Office, name: str) -> None:
    (office.folder / "out").mkdir()
    (office.folder / "out" / name).write_text("{}")


RUN = ["town.csv", *PROTECT, *NEVER, *BY_ID, *OUT]
FAILURES: dict[str, tuple[Callable[[Office], object], list[str], str]] = {
    "unknown codes": (lambda o: _replaced(o, SEX="X"), RUN, "with a code that topic SEX does not define (such as 'X')"),
    "coarse codes": (lambda o: _replaced(o, AGE="Y"), RUN, "with a category of AGE that is too coarse"),
    "missing values": (lambda o: _replaced(o, AREA=""), RUN, "records without a value"),
    "ids twice": (lambda o: _replaced(o, ID=PEOPLE[0]["ID"]), RUN, "records share their ID with another"),
    "ids missing": (lambda o: _replaced(o, ID=""), RUN, "ID is missing in 32 records; the first is record 8"),
    "no id column": (lambda _: None, [*RUN, "--id", "PERSON"], "There is no column in town.csv 'PERSON'"),
    "ids as keys": (lambda _: None, [*RUN[:-6], "--key", "ID", *RUN[-4:]], "ID has no valid key in"),
    "negative keys": (lambda o: _replaced(o, KEY="-7"), [*RUN[:-6], "--key", "KEY", *RUN[-4:]], "it is negative"),
    "id and key": (lambda _: None, [*RUN, "--key", "KEY"], "not both"),
    "id as a topic": (_bound("SEX", "ID"), RUN, "Column ID is specified as id"),
    "key as a topic": (_bound("SEX", "KEY"), RUN, "too many different values to be codes"),
    "name as a topic": (_bound("AREA", "NAME"), RUN, "too many different values to be codes"),
    "no header": (lambda o: write(o.folder / "town.csv", PEOPLE, header=False), RUN, "the first line may be a record"),
    "no headers": (_two_without_header, ["town1.csv", "town2.csv", *RUN[1:]], "whether the header line is missing"),
    "a short record": (_ragged, RUN, "has 2 fields instead of 6"),
    "an open quote": (_open_quote, RUN, "ends inside an open quote"),
    "other bytes": (_bytes, RUN, "is not text in UTF-8"),
    "cut Parquet": (_cut, ["town.parquet", *RUN[1:]], "is not a Parquet file, or it is damaged"),
    "nested values": (_nested, ["town.parquet", *RUN[1:]], "neither text nor numbers"),
    "secret as p-table": (lambda _: None, [*RUN, "--ptable", "office.secret"], "does not match a known p-table format"),
    "secret as settings": (lambda _: None, [*RUN, "--settings", "office.secret"], "is not TOML"),
    "secret as programme": (lambda _: None, [*RUN, "--programme", "office.secret"], "is not TOML"),
    "secret as log": (lambda _: None, [*RUN, "--log", "office.secret"], "it holds something else than a log"),
    "secret for its file": (lambda _: None, [*RUN, "--secret-file", SECRET], "cannot be read as the file of a secret"),
    "data as secret": (lambda _: None, [*RUN, "--secret-file", "town.csv"], "is too long for a secret"),
    "no secret": (lambda _: None, [*RUN[:-4], *OUT], "The secret is missing"),
    "short secret": (_short, RUN, "is too short for a secret"),
    "no folder": (lambda _: None, [*RUN, "--out", "none/out"], "its folder does not exist"),
    "a folder as log": (lambda _: None, [*RUN, "--log", "temporary"], "Is a directory"),
    "a place that is taken": (lambda o: _taken(o, "release.json"), RUN, "exists already"),
    "no release to replace": (lambda o: _taken(o, "mine.txt"), [*RUN, "--replace"], "is not a release"),
    "infeasible": (
        lambda _: None, [*RUN[:3], *RUN[5:], "--variance", "2", "--bound", "5", "--threshold", "2"], "row 1 is"
    ),
    "noise twice": (lambda _: None, [*RUN, "--variance", "3"], "--variance cannot be given too"),
    "unknown table": (lambda _: None, [*RUN, "--tables", "7.*"], "There is no table '7.*'"),
    "empty universe": (lambda _: None, [*RUN, "--unit", "dwellings"], "There is no unit 'dwellings'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", one_in(9, FAILURES))
def test_a_failure_shows_nothing_secret_and_leaves_nothing(office: Office, kind: str) -> None:
    prepare, arguments, message = FAILURES[kind]
    office = replace(office, own=alone(FAILURES, 9, kind))
    prepare(office)
    before = {path.name for path in office.folder.iterdir()}
    logged = [] if "--log" in arguments else ["--log", "log"]
    said = office.run(*arguments, "--json", *logged)
    assert said["exit"] == b"2"
    assert message in said["standard error"].decode()
    assert json.loads(said["standard output"])["error"]["message"] in said["standard error"].decode()
    assert {path.name for path in office.folder.iterdir()} - before <= {"temporary", "log"}
    left = office.left(*before)
    # How many records are not in order is said, and in a column that is no topic these are all.
    assert whatever_keys().found({**left, **said}, but=["true count"]) == set()
    assert town().found({"standard error": re.sub(rb"[\d,]+ records", b"", said["standard error"]), **left}) == set()
    assert SHORT.encode() not in said["standard error"] + said["standard output"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of this kind")
def test_a_full_disk_shows_nothing_secret_and_leaves_nothing(office: Office) -> None:
    script = Path(sys.executable).with_name("discreet")
    before = {path.name for path in office.folder.iterdir()}
    limited = ["bash", "-c", 'ulimit -f 1; exec "$0" "$@"', str(script), "protect", *RUN]
    done = subprocess.run(limited, cwd=office.folder, capture_output=True, check=False, timeout=60)
    assert done.returncode == 2, done.stderr
    assert b"out cannot be written: File too large. Check the folder and the free space." in done.stderr
    assert {path.name for path in office.folder.iterdir()} == before
    assert town().found({"standard output": done.stdout, "standard error": done.stderr}) == set()


# --- Cell by cell ---


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a synthetic census, its persons known by recognisable numbers."""
    folder = tmp_path_factory.mktemp("census")
    synth(folder / "made.parquet", country="LU", persons=3000, seed=7)
    table = pq.read_table(folder / "made.parquet")
    ids = pa.array([7_000_000_019 + 7919 * number for number in range(table.num_rows)])
    pq.write_table(table.set_column(0, "PERSON_ID", ids), folder / "people.parquet")
    (folder / "made.parquet").unlink()
    (folder / "never.csv").write_text(ptable())
    (folder / "office.secret").write_text(SECRET)
    (folder / "office.secret").chmod(0o600)
    return folder


@pytest.mark.parametrize("form", one_in(2, ["csv", "parquet"]))
def test_every_cell_of_a_census_is_the_true_count_with_noise_and_nothing_else(census: Path, form: str) -> None:
    flags = ["--programme", "eu2021:LU", "--tables", CENSUS_TABLES, "--id", "PERSON_ID", *BY_ID[2:], "--out", form]
    office = Office(census)
    said = office.run("people.parquet", *flags, *NEVER, "--format", form, "--keep-exact", "--json", "--log", "log")
    assert said["exit"] == b"0", said["standard error"]
    chosen = choose_tables(dc.load_programme("eu2021:LU"), CENSUS_TABLES.split(","), None)
    people = pq.read_table(census / "people.parquet").to_pylist()
    known = hidden(
        chosen,
        [{name: str(value) for name, value in p.items()} for p in people],
        SECRET.encode(),
        id_column="PERSON_ID",
    )
    left = left_in(census / form) | left_in(census / f"{form}.curator") | {"log": (census / "log").read_bytes()}
    left = {name: content for name, content in left.items() if "/exact/" not in name}
    # The counts of a small file are no numbers to recognise; they are compared below.
    assert replace(known, cells={}).found({**said, **left}) == set()
    release = dc.open_release(census / form)
    for table in chosen.tables:
        columns = [breakdown.code for breakdown in table.breakdowns]
        shown = release.table(table.id)
        assert without_levels(shown).column_names == [*columns, "value"]
        published = _by_cell(shown)
        true = {cell: count for cell, (count, _) in known.cells[table.id].items()}
        assert _by_cell(read_table(census / f"{form}.curator" / "exact" / f"{table.id}.{form}")) == true
        assert published.keys() <= true.keys()
        assert 0 not in published.values()
        noise = {cell: published.get(cell, 0) - count for cell, count in true.items()}
        assert all(noise[cell] in CHANGES[min(count, 3)] for cell, count in true.items())


def _by_cell(table: pa.Table) -> dict[tuple[str, ...], int]:
    columns = [column.to_pylist() for column in without_levels(table).columns]
    return dict(zip(zip(*columns[:-1], strict=True), columns[-1], strict=True))


def test_a_parquet_file_says_nothing_beside_its_rows(office: Office) -> None:
    assert office.run("town.csv", *PROTECT, *NEVER, *BY_ID, *OUT)["exit"] == b"0"
    made = list((office.folder / "out" / "tables").iterdir())
    assert len(made) == 3
    for path in made:
        assert _beside_rows(path) == set()
        # As the library writes unless told otherwise.
        pq.write_table(pq.read_table(path).replace_schema_metadata({"n": "1"}), path, write_page_index=True)
        assert _beside_rows(path) == {"metadata", "schema", "statistics", "column index", "offset index"}


def _beside_rows(path: Path) -> set[str]:
    """Return what else a Parquet file says: of statistics, indexes and metadata there must be none."""
    file = pq.ParquetFile(path)
    told = {"metadata": file.metadata.metadata, "schema": file.schema_arrow.metadata}
    for group in range(file.metadata.num_row_groups):
        for number in range(file.metadata.num_columns):
            column = file.metadata.row_group(group).column(number)
            for what, there in (
                ("statistics", column.is_stats_set),
                ("column index", column.has_column_index),
                ("offset index", column.has_offset_index),
            ):
                told[what] = told.get(what) or there
    return {what for what, there in told.items() if there}


# --- What is published follows from published values alone ---


@dataclass(frozen=True)
class Veil:
    """Publishes one number for every cell of more than two records, and nothing for the others."""

    key_space: ClassVar[int] = 1 << 32
    name: ClassVar[str] = "cell-key"
    needs_keys: ClassVar[bool] = True
    secret: ClassVar[bytes] = SECRET.encode()
    version: ClassVar[str] = "1"
    spsn: ClassVar[bool] = True
    perturbs_zeros: ClassVar[bool] = False

    def ready_for(self, output: StaticOutput) -> Self:  # noqa: ARG002 - the same call for every mechanism
        return self

    def publish(self, batch: NoiseBatch) -> NDArray[np.int64]:
        return np.where(batch.counts > 2, 500, 0)

    def described(self) -> dict[str, Any]:
        return {"parameters": {"variance": 3, "bound": 5}}


def _two_towns() -> tuple[list[Record], list[Record]]:
    """Return persons whose published tables under a veil are the same, though hardly a true count is."""
    some = [{**record, "AREA": "north"} for record in PEOPLE[::3]]
    others = [{**record, "AREA": "north"} for record in PEOPLE[1::5]]
    # Somebody lives in the west, and two in the east, which is seen nowhere.
    others += [{**PEOPLE[2], "AREA": "west"}, {**PEOPLE[3], "AREA": "east"}, {**PEOPLE[4], "AREA": "east"}]
    return some, others


def _released(folder: Path, records: list[Record], **more: Any) -> dict[str, bytes]:  # noqa: ANN401
    folder.mkdir()
    dc.protect(pa.Table.from_pylist(records), programme(), Veil(), out=folder / "out", id="ID", **more)
    return left_in(folder / "out")


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_other_true_counts_behind_the_same_published_ones_change_no_byte(tmp_path: Path, form: str) -> None:
    some, others = _two_towns()
    first = _released(tmp_path / "first", some, form=form)
    second = _released(tmp_path / "second", others, form=form, keep_exact=True)
    assert first == second
    assert len(first) > 4


def test_a_number_of_records_in_a_release_would_change_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_usual: Callable[..., dict[str, Any]] = vars(release_writer)["describe"]
    monkeypatch.setattr(
        release_writer, "describe", lambda record, *given: {**as_usual(record, *given), "n": record.records}
    )
    some, others = _two_towns()
    assert _released(tmp_path / "first", some) != _released(tmp_path / "second", others)


# --- The search finds what is planted ---


@dataclass(frozen=True)
class Planter:
    """Makes the library leak."""

    patch: pytest.MonkeyPatch

    def publish(self, leak: Callable[[NDArray[np.int64], NDArray[np.uint32]], NDArray[np.int64]]) -> None:
        """Publish something else than the noisy count."""
        self.patch.setattr(dc.CellKey, "publish", lambda _, batch: leak(batch.counts, batch.keys))

    def parquet(self, write: Callable[[pa.Table, Path], object]) -> None:
        """Write the public tables in another way; those of true counts stay as they are."""
        as_usual = table_files._write_parquet  # noqa: SLF001

        def choose(rows: pa.Table, path: Path) -> None:
            (as_usual if path.parent.name == "exact" else write)(rows, path)

        self.patch.setattr(table_files, "_write_parquet", choose)

    def column(self, values: Sequence[int], kind: pa.DataType) -> None:
        """Add a column to the public tables."""
        as_usual = table_files._write_parquet  # noqa: SLF001
        more = list(values) * 99
        self.parquet(lambda rows, path: as_usual(rows.append_column("k", pa.array(more[: len(rows)], kind)), path))

    def beside(self, ending: str, content: bytes) -> None:
        """Write another file beside every public table."""
        as_usual = table_files._write_parquet  # noqa: SLF001

        def write(rows: pa.Table, path: Path) -> None:
            as_usual(rows, path)
            path.with_name(f"{path.stem}{ending}").write_bytes(content)

        self.parquet(write)

    def description(self, **more: object) -> None:
        """Say more in release.json."""
        as_usual: Callable[..., dict[str, Any]] = vars(release_writer)["describe"]
        self.patch.setattr(release_writer, "describe", lambda *given: {**as_usual(*given), **more})

    def record(self, text: str) -> None:
        """Write more into record.json."""
        as_usual = dc.Record.to_json
        self.patch.setattr(dc.Record, "to_json", lambda record: as_usual(record) + text)

    def exact_tables(self) -> None:
        """Put the true counts among the public tables."""
        as_usual = release_writer.FolderWriter.put
        self.patch.setattr(
            release_writer.FolderWriter, "put", lambda own, name, _, exact, __: as_usual(own, name, exact, None)
        )


def _derived() -> tuple[bytes, bytes]:
    """Return what record keys are hashed with, and the cipher key of mixed keys."""
    material = hashlib.blake2b(SECRET.encode(), digest_size=64).digest()
    return material, hashlib.blake2b(digest_size=16, key=material, person=b"discreet.mixing").digest()


def _women() -> tuple[int, int]:
    """Return the true count of women and their cell key."""
    return town().cells["1"]["F", "_T"]


PLANTED: dict[str, tuple[Callable[[Planter], object], str]] = {
    "true counts": (lambda p: p.publish(lambda counts, _: counts), "true count"),
    "one true count": (lambda p: p.publish(lambda n, _: np.where(n == NORTH, n, 5)), "true count"),
    "cell keys": (lambda p: p.publish(lambda _, keys: keys.astype(np.int64)), "cell key"),
    "a second column": (lambda p: p.column([_women()[0]], pa.int64()), "true count"),
    "record keys as a column": (lambda p: p.column(town().keys[:30], pa.uint32()), "record key"),
    "metadata": (
        lambda p: p.parquet(lambda rows, path: pq.write_table(rows.replace_schema_metadata({"n": str(SIZE)}), path)),
        "true count",
    ),
    "a number of records": (lambda p: p.description(records=SIZE), "true count"),
    "a number in a sentence": (lambda p: p.description(note=f"{NORTH:,} persons live in the north."), "true count"),
    "an id": (lambda p: p.description(note=f"such as {town().ids[3]}"), "id"),
    "a name": (lambda p: p.description(note=f"such as {town().names[3]}"), "name"),
    "a record key": (lambda p: p.description(note=town().keys[17]), "record key"),
    "a record key in hexadecimal": (lambda p: p.description(note=hex(town().keys[17])), "record key"),
    "a cell key": (lambda p: p.record(str(_women()[1])), "cell key"),
    "the secret": (lambda p: p.record(SECRET), "secret"),
    "the secret in part": (lambda p: p.record(f"secret {SECRET[20:36]}.."), "secret"),
    "the secret in base 64": (lambda p: p.record(base64.b64encode(bytes.fromhex(SECRET)).decode()), "secret"),
    "the raw secret": (lambda p: p.beside(".raw", bytes.fromhex(SECRET)), "secret"),
    "the key of the hash": (lambda p: p.record(_derived()[0].hex()), "secret"),
    "the cipher key": (lambda p: p.record(_derived()[1].hex()), "secret"),
    "raw keys": (lambda p: p.beside(".raw", b"x" + np.array(town().keys[:50], dtype="<u4").tobytes()), "bytes"),
    "a name of a file": (lambda p: p.beside(f" {SIZE}", b""), "true count"),
    "exact tables": (lambda p: p.exact_tables(), "true count"),
}


def _left_of_a_library_run(folder: Path) -> dict[str, bytes]:
    (folder / "never.csv").write_text(ptable())
    mechanism = dc.CellKey(dc.read_ptable(folder / "never.csv"), secret=SECRET.encode())
    dc.protect(pa.Table.from_pylist(PEOPLE), programme(), mechanism, out=folder / "out", id="ID", keep_exact=True)
    left = left_in(folder / "out") | left_in(folder / "out.curator")
    left = {name: content for name, content in left.items() if "/exact/" not in name}
    return {**left, "out.curator/record.json": SAID.sub(b"", left["out.curator/record.json"])}


def test_a_run_of_the_library_leaves_nothing_secret(tmp_path: Path) -> None:
    assert town().found(_left_of_a_library_run(tmp_path)) == set()


@pytest.mark.parametrize("kind", one_in(6, PLANTED))
def test_a_planted_leak_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    plant, found = PLANTED[kind]
    plant(Planter(monkeypatch))
    assert found in {kind for kind, _ in town().found(_left_of_a_library_run(tmp_path))}


def test_a_planted_id_in_a_message_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        RecordIdError, "repeated", lambda column, *_: RecordIdError(f"twice: {PEOPLE[0]['ID']}", column=column)
    )
    mechanism = dc.CellKey(dc.PTable.max_entropy(variance=3, bound=5), secret=SECRET.encode())
    with pytest.raises(InputError) as error:
        dc.protect(pa.Table.from_pylist([*PEOPLE, PEOPLE[0]]), programme(), mechanism, id="ID")
    assert town().found({"message": str(error.value).encode()}) == {("id", "message")}


def test_a_planted_number_in_a_log_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.cli.progress_bars import ProgressBars

    note = ProgressBars._note  # noqa: SLF001
    with ProgressBars(shown=False, log=tmp_path / "log") as stages:
        stages("reading", SIZE, SIZE)
    assert town().found({"log": (tmp_path / "log").read_bytes()}) == set()
    monkeypatch.setattr(ProgressBars, "_note", lambda self, event, **more: note(self, event, records=SIZE, **more))
    with ProgressBars(shown=False, log=tmp_path / "log") as stages:
        stages("reading", SIZE, SIZE)
    assert town().found({"log": (tmp_path / "log").read_bytes()}) == {("true count", "log")}
