"""Synthetic persons for the benchmarks, and the reference work of the engine alone."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import choose_tables
from discreet.protection.pipeline import protect
from discreet.protection.record_loading import load
from discreet.records.key_file import add_keys
from discreet.records.record_columns import RecordColumns
from discreet.sources.source import open_source
from discreet.synthetic import synth
from discreet.tabulation.plan import plan

if TYPE_CHECKING:
    from discreet.release.release import Release

SECRET = b"a secret for the benchmark"
NOISE = PTable.max_entropy(variance=3, bound=5)


@dataclass(frozen=True)
class Spent:
    """Wall and CPU seconds of some work."""

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


class Watch:
    """Measures the time inside a `with` block."""

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.spent = Spent(time.perf_counter() - self._wall, time.process_time() - self._cpu)


def persons_file(folder: Path, country: str, persons: int) -> Path:
    """Return a Parquet file of synthetic persons with ready-made record keys."""
    raw, keyed = folder / f"{country}-{persons}.raw.parquet", folder / f"{country}-{persons}.parquet"
    if not keyed.exists():
        synth(raw, country=country, persons=persons, seed=1)
        add_keys(raw, keyed, id="PERSON_ID", secret=SECRET)
        raw.unlink()
    return keyed


def protected(data: Path, country: str, out: Path, tables: list[str] | None = None) -> tuple[Release, Spent]:
    """Protect all person tables and return the release and the time."""
    with Watch() as watch:
        release = protect(
            str(data),
            f"eu2021:{country}",
            CellKey(NOISE, secret=SECRET),
            key="RECORD_KEY",
            out=out,
            tables=tables,
            replace=True,
        )
    return release, watch.spent


def peak_megabytes(data: Path, country: str, out: Path) -> float:
    """Return the peak memory of a process that only runs protect."""
    command = [sys.executable, "-m", "benchmarks.census", str(data), country, str(out)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own module
    return float(found.stdout)


class _CodedFile:
    """An engine that stores coded records in a Parquet file, for the reference work to load."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: pq.ParquetWriter | None = None

    def append(self, name: str, batch: pa.RecordBatch) -> None:
        """Write a batch."""
        del name
        self._writer = self._writer or pq.ParquetWriter(self.path, batch.schema)
        self._writer.write_batch(batch)

    def table(self, sql: str) -> pa.Table:
        """Ignore the query."""
        raise NotImplementedError(sql)

    def drop(self, name: str) -> None:
        """Keep all tables."""

    def close(self) -> None:
        """Finish the file."""
        if self._writer:
            self._writer.close()


class Bare:
    """The reference work: load coded records, run one GROUP BY per maximal table, write the same rows."""

    def __init__(self, data: Path, country: str, coded: Path, release: Release) -> None:
        programme = choose_tables(load_programme(f"eu2021:{country}"), None, "persons")
        engine = _CodedFile(coded)
        mechanism = CellKey(NOISE, secret=SECRET)
        identity = RecordColumns(key="RECORD_KEY")
        loaded = load(
            open_source(str(data)), programme, mechanism, identity, engine, missing="error", progress=lambda *_: None
        )
        engine.close()
        self.coded = coded
        found = plan(programme, programme.tables)
        self.queries = []
        for statistic in found.maximal:
            depths = [(axis.levels[depth - 1], depth) for axis, depth in zip(found.axes, statistic, strict=True)
                      if depth]  # fmt: skip
            columns = ", ".join(loaded.columns[name] for name, _ in depths)
            self.queries.append(
                f"SELECT {columns}, COUNT(*) AS n, CAST(SUM(k) AS BIGINT) AS k FROM m GROUP BY {columns}"  # noqa: S608 - our own names
            )
        codes = {name: [f"{c}" for c in release.table(name).column_names[:-1]] for name in release.ids}
        self.tables = {
            name: pq.read_table(release.path / release.files[name], read_dictionary=codes[name]).combine_chunks()
            for name in release.ids
            if release.path
        }

    def load_and_count(self) -> tuple[Spent, Spent]:
        """Return the time of loading and counting."""
        with duckdb.connect() as connection:
            with Watch() as loading:
                connection.execute(f"CREATE TABLE m AS SELECT * FROM '{self.coded}'")  # noqa: S608 - our own file
            with Watch() as counting:
                for query in self.queries:
                    connection.sql(query).to_arrow_table()
        return loading.spent, counting.spent

    def write(self, folder: Path) -> Spent:
        """Return the time of writing the published rows."""
        folder.mkdir(exist_ok=True)
        with Watch() as watch:
            for name, rows in self.tables.items():
                pq.write_table(rows, folder / f"{name}.parquet", compression="zstd")
        return watch.spent


if __name__ == "__main__":
    protected(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
