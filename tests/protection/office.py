"""An office at work: its data in files, its releases beside each other, and their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from tests.protection.town import SECRET, TOWN, people

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

OTHER_SECRET = b"another secret, for the tests only"
PERSONS = 300


def put(path: Path, table: pa.Table) -> Path:
    """Write records to a file, as Parquet or as CSV by its ending."""
    if path.suffix == ".csv":
        arrow_csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return path


def put_people(folder: Path, **more: list[Any]) -> Path:
    """Write 300 persons, with more columns where there are any."""
    table = people(PERSONS)
    for name, values in more.items():
        place = table.column_names.index(name) if name in table.column_names else table.num_columns
        kept = table.drop_columns([name]) if name in table.column_names else table
        table = kept.add_column(place, name, [values])
    return put(folder / "people.parquet", table)


def cell_key(variance: float = 2, **more: Any) -> CellKey:  # noqa: ANN401 - as in CellKey
    """Return a mechanism with noise of this variance."""
    return CellKey(PTable.max_entropy(variance=variance, bound=5), **{"secret": SECRET, **more})


def make(data: object, out: Path | None, mechanism: Mechanism | None = None, **how: Any) -> Release:  # noqa: ANN401 - as in protect
    """Make a release of the town."""
    used = mechanism or cell_key()
    known_by = "ID" if used.needs_keys and "key" not in how else None
    return protect(data, how.pop("programme", TOWN), used, out=out, id=known_by, **how)


def files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def curator(out: Path) -> Path:
    """Return the curator's folder beside a release."""
    return out.with_name(f"{out.name}.curator")
