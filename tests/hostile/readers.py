"""Everything that reads a file, as a command that a user gives and as the call behind it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.main import main
from tests.cli.town import SECRET
from tests.hostile.corpus import CONTENTS, PLACES, place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOME = Path(__file__).parents[2]
MEMORY = 6 << 30
"""Addresses of the process; the engine alone asks for more than three."""
SMALL = '[topics.SEX]\ncategories = ["F", "M"]\n[topics.AGE]\n%s\n[[tables]]\nid = "1"\ncolumns = ["SEX", "AGE"]\n'
CODES = 'categories = ["Y", "O"]'
PEOPLE = "ID,SEX,AGE\n1,F,Y\n2,M,O\n3,F,O\n4,M,Y\n"
RUN = ("--mechanism", "exact", "--threads", "1", "--quiet", "--replace", "--out", "rel")
ON_SMALL = ("--programme", "small.toml", *RUN)
NOISE = (
    "--secret-file",
    "good.secret",
    "--id",
    "ID",
    "--programme",
    "small.toml",
    "--quiet",
    "--replace",
    "--out",
    "rel",
)

BUDGET = ("--mechanism", "eps-dp", "--epsilon", "1", "--budget", "hostile.csv", *NOISE[4:])


@dataclass(frozen=True)
class FileReader:
    """A file that a command reads.

    Attributes:
        file: where it stands.
        arguments: the command.
        own: words in the names of the inputs that were made for it.
    """

    file: str
    arguments: tuple[str, ...]
    own: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Return the inputs that were made for it, none of them large."""
        return [name for name in (*CONTENTS, *PLACES) if any(word in name for word in (*self.own, "no end"))]


READERS = {
    "programme": FileReader("hostile.toml", ("programme", "show", "hostile.toml"), ("TOML", "programme", "long")),
    "SDMX": FileReader(
        "hostile.xml", ("programme", "show", "sdmx:hostile.xml"), ("encoding", "entities", "elements", "codes")
    ),
    "PX": FileReader("hostile.px", ("programme", "init", "--from", "hostile.px"), ("quote", "encoding", "long")),
    "hierarchy": FileReader("hostile.csv", ("programme", "show", "hierarchy.toml"), ("parent", "level", "columns")),
    "regions": FileReader("hostile.csv", ("protect", "people.csv", "--regions", "hostile.csv", *ON_SMALL), ("field",)),
    "settings": FileReader(
        "hostile.toml", ("protect", "people.csv", "--settings", "hostile.toml", *NOISE), ("TOML", "number")
    ),
    "p-table": FileReader(
        "hostile.txt", ("ptable", "show", "hostile.txt"), ("p-table", "interval", "key of", "packed")
    ),
    "p-table in YAML": FileReader(
        "hostile.yaml", ("protect", "people.csv", "--ptable", "hostile.yaml", *NOISE), ("YAML", "alias")
    ),
    "budget": FileReader("hostile.csv", ("protect", "people.csv", *BUDGET), ("weight", "fields")),
    "secret": FileReader(
        "hostile.secret",
        ("protect", "people.csv", "--variance", "2", "--bound", "5", "--secret-file", "hostile.secret", *NOISE[2:]),
        ("a byte",),
    ),
    "CSV": FileReader("hostile.csv", ("protect", "hostile.csv", *ON_SMALL), ("quote", "column", "fields", "value of")),
    "packed CSV": FileReader("hostile.csv.gz", ("protect", "hostile.csv.gz", *ON_SMALL), ("packed",)),
    "Parquet": FileReader("hostile.parquet", ("protect", "hostile.parquet", *ON_SMALL), ("Parquet",)),
    "DuckDB": FileReader("hostile.duckdb", ("protect", "hostile.duckdb", *ON_SMALL), ("DuckDB",)),
    "new programme": FileReader("hostile.csv", ("programme", "init", "hostile.csv"), ("brackets",)),
    "release": FileReader("old/release.json", ("verify", "old"), ("JSON", "object")),
    "record": FileReader(
        "old.curator/record.json",
        ("protect", "--again", "old.curator", "--replace", "--quiet", "--out", "rel"),
        ("JSON", "object"),
    ),
    "table": FileReader("old/tables/1.parquet", ("verify", "old"), ("Parquet",)),
    "converted release": FileReader(
        "old/release.json", ("convert", "old", "tables", "--to", "px", "--quiet"), ("JSON", "object")
    ),
    "converted table": FileReader(
        "old/tables/1.parquet", ("convert", "old", "more", "--to", "px", "--quiet"), ("Parquet",)
    ),
    "overlaps": FileReader("hostile.csv", ("attack", "old", "--overlaps", "hostile.csv"), ("fields",)),
}


def furnish(home: Path) -> None:
    """Write the files beside the hostile one, and a release."""
    files = {
        "small.toml": SMALL % CODES,
        "hierarchy.toml": SMALL % 'hierarchy = "hostile.csv"',
        "people.csv": PEOPLE,
        "good.secret": SECRET,
    }
    for name, text in files.items():
        (home / name).write_text(text, encoding="utf-8")
    (home / "good.secret").chmod(0o600)
    code, told = given(("protect", "people.csv", *ON_SMALL[:-1], "old"))
    assert code == 0, told


def given(arguments: Sequence[str]) -> tuple[int, str]:
    """Give a command in this process; return its exit code and what it printed on standard error."""
    errors = io.StringIO()
    sys.argv = ["discreet", *arguments]
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(errors):
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0), errors.getvalue()
        except Exception:  # noqa: BLE001 - what a user would see
            return 1, traceback.format_exc()
    return 0, errors.getvalue()


def cleared(path: Path) -> Path:
    """Remove what stands where a reader looks for its file."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    return path


def report(chosen: Mapping[str, Sequence[str]]) -> None:
    """Run inputs through readers, here; print a line before each and its outcome after it."""
    furnish(Path())
    for reader, names in chosen.items():
        path = Path(READERS[reader].file)
        good = path.read_bytes() if path.exists() else None
        for name in names:
            print(json.dumps({"reader": reader, "begun": name}), flush=True)  # noqa: T201 - read by the test
            place(name, cleared(path))
            begin = time.perf_counter()
            code, told = given(READERS[reader].arguments)
            seconds = round(time.perf_counter() - begin, 3)
            outcome = {"reader": reader, "name": name, "code": code, "told": told, "seconds": seconds}
            print(json.dumps(outcome), flush=True)  # noqa: T201 - read by the test
        cleared(path)
        if good is not None:
            path.write_bytes(good)


def outcomes(place: Path, chosen: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Run inputs through readers in another process."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.hostile.readers", json.dumps(chosen)],
        cwd=place,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")]),
            "OPENBLAS_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    lines: list[dict[str, Any]] = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.returncode == 0, f"ended at {lines[-1:]}: {ended.stderr[-2000:]}"
    return [line for line in lines if "name" in line]


if __name__ == "__main__":
    # A secret that others may read is refused whatever it contains.
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    report(json.loads(sys.argv[1]))
