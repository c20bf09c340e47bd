"""Time and memory of converting a release, compared with pyarrow reading its Parquet file and writing CSV."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from benchmarks.clock import Figure, cpu_seconds, report
from discreet.mechanisms.exact import Exact
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Programme, Table, Topic, levels_by_depth
from discreet.protection.pipeline import protect
from discreet.release.formats.conversion import convert

SHARES = {"csv": 3, "csvw": 3, "sdmx-csv": 3, "sdmx-ml": 6, "json-stat": 6, "px": 6}
"""Maximum time of each format, as a multiple of the time of pyarrow."""
AREAS = 1_700
MEMORY = "import sys; from benchmarks.convert import largest; largest(*sys.argv[1:])"


def release(folder: Path, ages: int) -> Path:
    """Make a release of about 5,000 cells per age in a folder, all of them above 0."""
    sizes = {"AREA": AREAS, "AGE": ages, "SEX": 2}
    topics = {}
    for name, size in sizes.items():
        tree = CategoryTree(name, tuple(Category(f"{name}{code:06}") for code in range(size)))
        topics[name] = Topic(name, levels_by_depth(name, [tree.cut(1)]), tree)
    programme = Programme("bench", topics, (Table("1", tuple(Breakdown(n, n, t.levels) for n, t in topics.items())),))
    cells = AREAS * ages * 2
    places = np.unravel_index(np.arange(cells), (AREAS, ages, 2))
    codes = [pa.array([f"{name}{code:06}" for code in range(size)]) for name, size in sizes.items()]
    columns = [pa.DictionaryArray.from_arrays(place, each) for place, each in zip(places, codes, strict=True)]
    counts = np.random.default_rng(1).integers(1, 500, cells)
    protect(pa.table([*columns, counts], [*sizes, "n"]), programme, Exact(), count="n", out=folder / "rel")
    return folder / "rel"


def largest(rel: str, form: str, out: str) -> None:
    """Convert, and print the peak memory of the process in megabytes."""
    convert(rel, form, out)
    # The peak of this process alone; the total of the system includes the parent process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)


def main(ages: int = 200) -> None:
    """Measure every format, then the memory for two sizes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rel = release(folder, ages)
        table = rel / "tables" / "1.parquet"
        rows = pq.read_metadata(table).num_rows
        bare = cpu_seconds(lambda: arrow_csv.write_csv(pq.read_table(table), folder / "bare.csv"), runs=3)
        figures = []
        for form, most in SHARES.items():
            spent = cpu_seconds(partial(_converted, rel, form, folder), runs=3)
            wanted = f"target: at most {most}"
            figures.append(Figure(f"{rows:,} rows to {form}", spent, "pyarrow to CSV", bare, wanted))
        report("convert", figures)
        for form in SHARES:
            small, large = (_memory(folder, rel_of, form) for rel_of in (rel, _tenfold(folder, ages)))
            print(f"  {form:<10} peak memory {small} MB for {rows:,} rows, {large} MB for ten times as many")


def _converted(rel: Path, form: str, folder: Path) -> None:
    convert(rel, form, folder / "converted")
    shutil.rmtree(folder / "converted")


def _tenfold(folder: Path, ages: int) -> Path:
    place = folder / "tenfold"
    if not place.exists():
        place.mkdir()
        release(place, 10 * ages)
    return place / "rel"


def _memory(folder: Path, rel: Path, form: str) -> int:
    out = folder / f"memory-{form}-{rel.parent.name}"
    done = subprocess.run([sys.executable, "-c", MEMORY, rel, form, out], check=True, capture_output=True, text=True)  # noqa: S603 - our own
    return int(done.stdout)


if __name__ == "__main__":
    main()
