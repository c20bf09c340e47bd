"""Time to protect all person tables of the EU census, compared with the engine alone, cellKey and the ONS package.

Ratios are measured within one run. The engine alone loads the same records, already coded,
counts the maximal tables with plain GROUP BYs and writes the published rows, without
noise, margins or categories.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.census import Bare, Spent, peak_megabytes, persons_file, protected
from benchmarks.clock import Figure, report

COUNTRIES = ("LU", "DE")
SIZES = (10**6, 10**7)


def _one(folder: Path, country: str, persons: int, runs: int) -> list[Figure]:
    data, out = persons_file(folder, country, persons), folder / "release"
    release, _ = protected(data, country, out)
    bare = Bare(data, country, folder / "coded.parquet", release)
    ours: list[Spent] = []
    theirs: list[Spent] = []
    counted: list[Spent] = []
    for _ in range(runs):
        # In turns, so that other load on the machine affects both.
        ours.append(protected(data, country, out)[1])
        loading, counting = bare.load_and_count()
        writing = bare.write(folder / "bare")
        theirs.append(loading + counting + writing)
        counted.append(counting + writing)
    memory = peak_megabytes(data, country, out)
    rows = sum(entry["rows"] for entry in release.description["files"])
    note = f"{rows:,} rows, peak {memory:,.0f} MB"
    name = f"{country}, {persons:,} persons"
    us = min(ours, key=lambda spent: spent.wall)
    they = min(theirs, key=lambda spent: spent.wall)
    already = min(counted, key=lambda spent: spent.wall)
    return [
        Figure(f"{name}, wall", us.wall, "bare load, GROUP BYs and write", they.wall, note),
        Figure(f"{name}, CPU", us.cpu, "bare load, GROUP BYs and write", they.cpu),
        Figure(f"{name}, wall", us.wall, "bare GROUP BYs and write, records loaded", already.wall),
    ]


def main() -> None:
    """Measure both countries at both sizes."""
    sizes = [int(float(size)) for size in sys.argv[1:]] or SIZES
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        for persons in sizes:
            for country in COUNTRIES:
                figures += _one(Path(name), country, persons, runs=3 if persons <= 10**6 else 1)
    report("protect", figures)


if __name__ == "__main__":
    main()
