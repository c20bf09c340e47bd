"""A release of a handful of people whose counts can be checked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.programme.programme_files import load_programme
from discreet.protection.pipeline import protect

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.release.release import Release

TOML = """
name = "A small place"
[topics.SEX]
categories = ["f", "m"]
[topics.AREA]
categories = ["north", "south", "west"]
[topics.AGE]
hierarchy = [["young", "", "Young"], ["old", "", "Old"], ["0-9", "young", ""], ["10-19", "young", ""]]
breakdowns = {"AGE.L" = 1}
[[tables]]
id = "1"
columns = ["AREA", "AGE", "SEX"]
[[tables]]
id = "2"
columns = ["AREA", "SEX"]
"""
PEOPLE = [("north", "f", "old")] * 20 + [("north", "m", "0-9")] * 9 + [("south", "f", "10-19")] * 2
SECRET = b"a secret for the tests only"


def small_release(folder: Path, *, keep_exact: bool = True, form: str = "parquet") -> Release:
    """Return a release in a folder."""
    (folder / "small.toml").write_text(TOML)
    area, sex, age = zip(*PEOPLE, strict=True)
    frame = pa.table({"AREA": area, "SEX": sex, "AGE": age, "id": range(len(PEOPLE))})
    return protect(
        frame,
        load_programme(folder / "small.toml"),
        CellKey(PTable.max_entropy(variance=2, bound=3), secret=SECRET),
        out=folder / "release",
        id="id",
        keep_exact=keep_exact,
        form=form,
    )
