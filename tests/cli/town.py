"""A small town for the command: a programme, persons, a secret, and the command run in this process."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from discreet.cli.main import OnDemand, main
from discreet.equations import residual_terms
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.release.table_files import read_table
from tests.tabulation.small_data import without_levels

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from discreet.engines.engine import Engine

SECRET = "a secret of the town, long enough"  # noqa: S105 - of these tests alone
PROGRAMME = """
name = "Town"
[topics.SEX]
categories = ["F", "M"]
[topics.AGE]
hierarchy = [["Y", ""], ["O", ""], ["0", "Y"], ["15", "Y"], ["30", "O"], ["65", "O"]]
breakdowns = {L = 1}
[topics.AREA]
categories = ["north", "south", "nowhere"]
[[tables]]
id = "1.1"
columns = ["SEX", "AGE"]
[[tables]]
id = "1.2"
columns = ["AREA", "AGE.L"]
universe = "SEX = F"
[[tables]]
id = "2"
columns = ["AREA", "SEX"]
[[tables]]
id = "9"
columns = ["AREA"]
unit = "dwellings"
"""
PERSONS = 250
PROTECT = (
    *("protect", "town.csv", "--programme", "town.toml", "--out", "out", "--id", "PERSON_ID"),
    *("--secret-file", "office.secret", "--variance", "3", "--bound", "5"),
)
Cells = dict[tuple[str, ...], int]


def people() -> list[dict[str, str]]:
    """Return made-up persons, the same in every run; nobody lives nowhere."""
    chance = random.Random(7)  # noqa: S311 - made-up persons
    return [
        {
            "PERSON_ID": str(1000 + number),
            "SEX": chance.choice("FM"),
            "AGE": chance.choice(["0", "15", "30", "65"]),
            "AREA": chance.choice(["north", "north", "south"]),
        }
        for number in range(PERSONS)
    ]


def as_csv(records: list[dict[str, str]]) -> str:
    return "\n".join([",".join(records[0]), *(",".join(record.values()) for record in records)]) + "\n"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Return the output without line breaks."""
        return " ".join(self.out.split())


Command = Callable[..., Done]
READ: dict[str, Any] = {}


def _read_once(commands: OnDemand, name: str, read: Callable[[OnDemand, str], Any] = OnDemand.__getitem__) -> Any:  # noqa: ANN401 - as there
    """Return a command, its options read once per process and not at every call."""
    if name not in READ:
        READ[name] = read(commands, name)
    return READ[name]


def command(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return the command, run in this process and in a folder."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DISCREET_SECRET", raising=False)
    monkeypatch.setattr(OnDemand, "__getitem__", _read_once)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["discreet", *arguments])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def make(folder: Path) -> None:
    """Write programme, data and secret."""
    (folder / "town.toml").write_text(PROGRAMME)
    (folder / "town.csv").write_text(as_csv(people()))
    (folder / "office.secret").write_text(f"{SECRET}\n")
    (folder / "office.secret").chmod(0o600)


def copy(published: Path, folder: Path) -> None:
    """Put a release that was made elsewhere into a folder, as if it had been made there."""
    for name in ("out", "out.curator"):
        shutil.copytree(published / name, folder / name)
    record = folder / "out.curator" / "record.json"
    record.write_text(record.read_text().replace(str(published), str(folder)))


def publish(folder: Path, engine: Engine) -> None:
    """Write programme, data and secret, and a release of them in `out` with its true counts."""
    make(folder)
    noise = CellKey(PTable.max_entropy(variance=3, bound=5), secret=SECRET.encode())
    how: dict[str, Any] = {"id": "PERSON_ID", "keep_exact": True, "engine": engine}
    protect(folder / "town.csv", folder / "town.toml", noise, out=folder / "out", **how)


@contextmanager
def few_rounds() -> Iterator[None]:
    """Let few probes tell how residuals share noise, for tests of what is told and not of how exact it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(residual_terms, "MOST_ROUNDS", 2)
        yield


def cells(table: pa.Table) -> Cells:
    """Return the rows of a table by their codes."""
    columns = [column.to_pylist() for column in without_levels(table).columns]
    return dict(zip(zip(*columns[:-1], strict=True), columns[-1], strict=True))


def published(release: Path) -> dict[str, Cells]:
    """Return the cells of every table of a release."""
    return {path.stem: cells(read_table(path)) for path in sorted((release / "tables").iterdir())}


def exact(release: Path) -> dict[str, Cells]:
    """Return the true counts that were kept beside a release."""
    folder = release.with_name(f"{release.name}.curator") / "exact"
    return {path.stem: cells(read_table(path)) for path in sorted(folder.iterdir())}
