"""What the journeys share: the command as a user runs it, and tables by cell."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discreet.cli.main import main
from discreet.release.table_files import read_table
from tests.tabulation.small_data import without_levels

if TYPE_CHECKING:
    import pyarrow as pa

DATA = Path(__file__).parents[1] / "data"
PROGRAMMES = Path(__file__).parent / "programmes"

Cells = dict[tuple[str, ...], int]


def discreet(*arguments: str | Path) -> str:
    """Run the command in this process and return what it says; it must end well."""
    said, errors, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISCREET_SECRET", raising=False)
        patch.setattr(sys, "argv", ["discreet", *map(str, arguments)])
        patch.setattr(signal, "signal", lambda *_given: None)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            try:
                main()
            except SystemExit as end:
                code = int(end.code or 0)
    assert code == 0, errors.getvalue()
    return said.getvalue()


def installed_discreet(*arguments: str | Path) -> str:
    """Run the command as it is installed and return what it says; it must end well."""
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
    columns = [column.to_pylist() for column in without_levels(table).columns]
    codes = list(zip(*columns[:-1], strict=True))
    assert len(set(codes)) == len(codes)
    return dict(zip(codes, columns[-1], strict=True))


def true_cells(out: Path, table: str) -> Cells:
    """Return the true counts that the curator keeps of a table."""
    return cells(read_table(out.with_name(f"{out.name}.curator") / "exact" / f"{table}.parquet"))
