"""Input that is cut short while it is read: the run says so, and writes nothing."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from tests.journeys.disturbed import arguments, left, run

if TYPE_CHECKING:
    from pathlib import Path

PERSONS = 400_000
"""Records that are read in several batches."""
TABLES = "1.*"
FORMS = ("people.parquet", "people.csv", "people.csv.gz")
POINTS = ((1, 0.0), (1, 0.5), (2, 0.1), (2, 0.9), (3, 0.5))
"""The batch after which a file is cut, and what is left of it."""
CUT = """
import os
from discreet.cli import progress_bars
told, calls = progress_bars.ProgressBars.__call__, []
def cut(self, stage, done, total):
    calls.append(stage)
    if calls == ["reading"] * {batch}:
        os.truncate({name!r}, int(os.path.getsize({name!r}) * {share}))
    told(self, stage, done, total)
progress_bars.ProgressBars.__call__ = cut
"""


@dataclass(frozen=True)
class Shrunk:
    """A run whose input was cut short.

    Attributes:
        name: the file.
        batch: after which batch.
        share: what was left of it.
        code: the exit code.
        message: what was said.
    """

    name: str
    batch: int
    share: float
    code: int
    message: str


def write_forms(office: Path) -> None:
    """Write the same persons as Parquet with many row groups, as CSV, and as CSV that is gzipped."""
    wanted = ["PERSON_ID", *(name for name in pq.read_schema(office / "people.parquet").names if name != "PERSON_ID")]
    table = pq.read_table(office / "people.parquet", columns=wanted)
    pq.write_table(table, office / "people.parquet", row_group_size=50_000)
    arrow_csv.write_csv(table, office / "people.csv")
    with (office / "people.csv").open("rb") as plain, gzip.open(office / "people.csv.gz", "wb", 1) as packed:
        shutil.copyfileobj(plain, packed)


def shrink(office: Path) -> list[Shrunk]:
    """Cut every form of the input at several points of a run."""
    write_forms(office)
    found = []
    for name in FORMS:
        whole = (office / name).read_bytes()
        for batch, share in POINTS:
            before = CUT.format(batch=batch, name=name, share=share)
            code, errors = run(office, arguments(name, tables=TABLES), before)
            assert (office / name).stat().st_size == int(len(whole) * share)
            (office / name).write_bytes(whole)
            assert errors.startswith(f"error: {name} "), errors
            assert errors.count("\n") == 1
            assert left(office) == ["people.csv", "people.csv.gz"]
            found.append(Shrunk(name, batch, share, code, errors.removeprefix("error: ").strip()))
    return found
