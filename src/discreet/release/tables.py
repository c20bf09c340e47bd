"""Tables as files: a column per breakdown and `value`, in Parquet or CSV, with the digest of every file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from discreet.errors import UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

FORMATS = ("parquet", "csv")


@dataclass(frozen=True)
class TableFile:
    """One file of a release.

    Attributes:
        id: the table.
        file: its path within the release.
        rows: how many cells it holds; all others of the table are 0.
        size: its bytes.
        sha256: the digest of its bytes.
    """

    id: str
    file: str
    rows: int
    size: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        """Return the entry for a description of the release."""
        return {"id": self.id, "file": self.file, "rows": self.rows, "bytes": self.size, "sha256": self.sha256}


def check_format(name: str) -> None:
    """Refuse a format that does not exist."""
    if name not in FORMATS:
        raise UnknownNameError.among("format of tables", name, FORMATS)


def write_table(name: str, rows: pa.Table, folder: Path, form: str) -> TableFile:
    """Write a table and return what a description of the release says of it.

    An id may hold signs that a file name cannot; they are written as in an address (%2F).
    """
    path = folder / f"{quote(name, safe=' +,;=@')}.{form}"
    if form == "csv":
        _write_csv(rows, path)
    else:
        _write_parquet(rows, path)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return TableFile(name, f"{folder.name}/{path.name}", rows.num_rows, path.stat().st_size, digest)


def _write_parquet(rows: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(rows, path, compression="zstd", use_dictionary=True, write_statistics=False, store_schema=False)


def _write_csv(rows: pa.Table, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in rows.columns]
    options = arrow_csv.WriteOptions(quoting_style="needed")
    arrow_csv.write_csv(pa.table(plain, names=rows.column_names), path, options)


def read_table(path: Path) -> pa.Table:
    """Return a table as it was written: codes as text, values as whole numbers."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    if path.suffix == ".csv":
        with path.open(encoding="utf-8") as file:
            names = file.readline().rstrip("\r\n").split(",")
        types = {name.strip('"'): pa.string() for name in names[:-1]}
        options = arrow_csv.ConvertOptions(
            column_types={**types, names[-1].strip('"'): pa.int64()}, strings_can_be_null=False
        )
        return arrow_csv.read_csv(path, convert_options=options)
    return pq.read_table(path)
