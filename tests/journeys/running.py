"""What the journeys share: the command as a user runs it, and tables by cell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.release.tables import read_table

if TYPE_CHECKING:
    import pyarrow as pa

DATA = Path(__file__).parents[1] / "data"
PROGRAMMES = Path(__file__).parent / "programmes"

Cells = dict[tuple[str, ...], int]


def discreet(*arguments: str | Path) -> str:
    """Run the command and return what it says; it must end well."""
    script = Path(sys.executable).with_name("discreet")
    # A secret in the environment of whoever runs the tests has no place here.
    environment = {name: value for name, value in os.environ.items() if name != "DISCREET_SECRET"}
    done = subprocess.run(
        [script, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
        env={**environment, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def cells(table: pa.Table) -> Cells:
    """Return the rows of a table by their codes, and refuse a cell that stands there twice."""
    columns = [column.to_pylist() for column in table.columns]
    codes = list(zip(*columns[:-1], strict=True))
    assert len(set(codes)) == len(codes)
    return dict(zip(codes, columns[-1], strict=True))


def true_cells(out: Path, table: str) -> Cells:
    """Return the true counts that the curator keeps of a table."""
    return cells(read_table(out.with_name(f"{out.name}.curator") / "exact" / f"{table}.parquet"))
