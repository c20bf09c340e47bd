"""The calls behind the readers, each with valid files to start from; run as a process, it reads mutations of them."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.attacks.attacker_view import read_overlaps
from discreet.cli.protect import KINDS
from discreet.cli.settings_file import with_settings
from discreet.errors import InputError
from discreet.mechanisms.privacy_budget import read_budget
from discreet.noise.formats.ptable_files import read_ptable, write_ptable
from discreet.noise.ptable import PTable
from discreet.programme.programme_files import load_programme
from discreet.programme.px_definition import programme_from_px
from discreet.programme.regions import with_regions
from discreet.records.secret import read_secret
from discreet.release.record import read_record
from discreet.release.release import open_release
from discreet.sources.source import open_source
from tests.cli.town import PROGRAMME
from tests.hostile.mutations import mutated
from tests.hostile.readers import CODES, HOME, MEMORY, PEOPLE, SMALL, furnish
from tests.programme.test_px_definition import FILE

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[1] / "data"
FORMATS = ("csv", "toml", "tauargus", "sas", "cellkey")


def _records(path: Path) -> None:
    source = open_source(str(path))
    try:
        for _ in source.batches(source.columns[:3]):
            pass
    finally:
        source.close()


def _release(path: Path) -> None:
    release = open_release(path.parent)
    for name in release.files:
        release.table(name)


CALLS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "programme": ("x.toml", load_programme),
    "SDMX": ("x.xml", lambda path: load_programme(f"sdmx:{path}")),
    "PX": ("x.px", programme_from_px),
    "hierarchy": ("hostile.csv", lambda path: load_programme(path.with_name("hierarchy.toml"))),
    "regions": ("x.csv", lambda path: with_regions(load_programme(path.with_name("small.toml")), path)),
    "settings": ("x.toml", lambda path: with_settings(path, dict.fromkeys(KINDS), KINDS)),
    "p-table": ("x.txt", read_ptable),
    "budget": ("x.csv", lambda path: read_budget(path, 1.0)),
    "secret": ("x.secret", read_secret),
    "CSV": ("x.csv", _records),
    "packed CSV": ("x.csv.gz", _records),
    "Parquet": ("x.parquet", _records),
    "DuckDB": ("x.duckdb", _records),
    "release": ("old/release.json", _release),
    "record": ("old.curator/record.json", read_record),
    "table": ("old/tables/1.parquet", lambda path: _release(path.parent)),
    "overlaps": ("x.csv", lambda path: read_overlaps(path, load_programme(path.with_name("small.toml")))),
}


def seeds(reader: str) -> list[bytes]:
    """Return valid files of a reader."""
    small = (SMALL % CODES).encode()
    known: dict[str, Callable[[], list[bytes]]] = {
        "programme": lambda: [small, PROGRAMME.encode()],
        "SDMX": lambda: [path.read_bytes() for path in sorted((DATA / "sdmx").glob("*.xml"))],
        "PX": lambda: [FILE.encode("latin-1")],
        "hierarchy": lambda: [b"code,parent,label\nY,,young\nO,,old\nY1,Y,0-14\nY2,Y,15-29\n"],
        "regions": lambda: [b"area,region,label\nY,north,North\nO,south,South\n"],
        "settings": lambda: [b'variance = 3.0\nbound = 5\nlaw = "max-entropy"\nnon-negative = true\nthreads = 2\n'],
        "p-table": _ptables,
        "budget": lambda: [b"table,weight\n1,2\n2.*,0.5\n", b"table,epsilon\n1,0.25\n2,0.75\n"],
        "secret": lambda: [b"a secret of the town, long enough\n"],
        "CSV": lambda: [PEOPLE.encode(), b"SEX\nF\n\nM\n", b'a;b\n"x;y";2\n'],
        "packed CSV": lambda: [gzip.compress(PEOPLE.encode() * 100, mtime=0)],
        "Parquet": _parquet,
        "DuckDB": _duckdb,
        "overlaps": lambda: [b"SEX,AGE\nF,Y\nM,O\n"],
    }
    return known[reader]() if reader in known else [Path(CALLS[reader][0]).read_bytes()]


def _ptables() -> list[bytes]:
    table = PTable.max_entropy(variance=2, bound=3, threshold=1)
    for name in FORMATS:
        write_ptable(table, Path(name), name, replace=True)
    return [Path(name).read_bytes() for name in FORMATS]


def _parquet() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"SEX": ["F", "M"] * 50, "AGE": list(range(100)), "W": [0.5] * 100})
    pq.write_table(table, "seed.parquet")
    pq.write_table(table, "plain.parquet", compression="none", use_dictionary=False, data_page_version="2.0")
    return [Path("seed.parquet").read_bytes(), Path("plain.parquet").read_bytes()]


def _duckdb() -> list[bytes]:
    import duckdb

    with duckdb.connect("seed.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 'F' AS sex, range AS age FROM range(100)")
    return [Path("seed.duckdb").read_bytes()]


def run(reader: str, first: int, times: int) -> dict[str, object]:
    """Read mutations and return how many were read and refused, and what neither did."""
    furnish(Path())
    name, call = CALLS[reader]
    path, good = Path(name), seeds(reader)
    outcomes: Counter[str] = Counter()
    failures: list[dict[str, object]] = []
    slowest = 0.0
    for number in range(first, first + times):
        # The seed of the mutation comes first, so that one that ends the process is known.
        Path("last").write_text(str(number), encoding="utf-8")
        path.write_bytes(mutated(good[number % len(good)], number))
        begin = time.perf_counter()
        try:
            call(path.absolute())
            outcomes["read"] += 1
        except (InputError, MemoryError) as error:
            outcomes["refused"] += 1
            if len(str(error)) > 4_000:
                failures.append({"number": number, "error": f"a message of {len(str(error))} characters"})
        except Exception:  # noqa: BLE001 - what a user would see
            failures.append({"number": number, "error": traceback.format_exc()[-1500:]})
        slowest = max(slowest, time.perf_counter() - begin)
    found = {"read": outcomes["read"], "refused": outcomes["refused"], "failed": len(failures)}
    return {"reader": reader, **found, "failures": failures[:5], "slowest": round(slowest, 3)}


def mutation_outcomes(place: Path, reader: str, times: int) -> dict[str, Any]:
    """Read mutations in another process, which one of them may end."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.hostile.calls", reader, "0", str(times)],
        cwd=place,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")]),
            "OPENBLAS_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    last = (place / "last").read_text(encoding="utf-8")
    assert ended.returncode == 0, f"mutation {last} ended the process: {ended.stderr[-2000:]}"
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


if __name__ == "__main__":
    # A secret that others may read is refused whatever it contains.
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201 - read by the test
