"""Tables as files: a column per breakdown and `value`, in Parquet or CSV, with the digest of every file."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from discreet.errors import UnknownNameError
from discreet.programme.published import VALUE, WEIGHTED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pyarrow as pa

FORMATS = ("parquet", "csv")
LONGEST_STEM = 150
"""Signs of a file name before its ending; most systems allow 255."""
WORTH_THREADS = 1 << 22
"""Bytes of a file from which on several threads read it."""
DIGITS = 16
"""Hexadecimal digits that tell ids apart whose beginnings are the same."""


@dataclass(frozen=True)
class TableFile:
    """One file of a release.

    Attributes:
        id: the table.
        file: its path within the release.
        rows: how many cells it holds; all others of the table are 0.
        size: its bytes.
        sha256: the digest of its bytes.
        content: a digest of the true counts behind it, for the curator alone: no description has it.
    """

    id: str
    file: str
    rows: int
    size: int
    sha256: str
    content: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the entry for a description of the release."""
        return {"id": self.id, "file": self.file, "rows": self.rows, "bytes": self.size, "sha256": self.sha256}


def check_format(name: str) -> None:
    """Refuse a format that does not exist."""
    if name not in FORMATS:
        raise UnknownNameError.among("format of tables", name, FORMATS)


def file_stem(name: str, taken: Iterable[str] = ()) -> str:
    """Return the file name of a table without its ending: its id, with what a file name cannot hold as in an address.

    A second id that differs by case alone gets a number, for many systems take both names for one.

    >>> file_stem("2/1"), file_stem(".."), file_stem("A", taken=["a"])
    ('2%2F1', '%2E.', 'A~2')
    """
    stem = quote(name, safe=" +,;=@")
    if not stem or stem.startswith("."):
        # A file whose name begins with a dot is hidden.
        stem = "%2E" + stem[1:] if stem else "%"
    if len(stem) > LONGEST_STEM:
        digest = hashlib.sha256(name.encode()).hexdigest()[:DIGITS]
        stem = f"{stem[: LONGEST_STEM - DIGITS - 1]}~{digest}"
    folded, free, number = {other.casefold() for other in taken}, stem, 1
    while free.casefold() in folded:
        number += 1
        free = f"{stem}~{number}"
    return free


def write_table(name: str, rows: pa.Table, folder: Path, form: str, stem: str | None = None) -> TableFile:
    """Write a table and return what a description of the release says of it."""
    path = folder / f"{file_stem(name) if stem is None else stem}.{form}"
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


def read_table(path: Path, sha256: str | None = None) -> pa.Table:
    """Return a table as it was written: codes as text, values as whole numbers.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is damaged, or not the one with this digest.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = path.read_bytes()
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError("another digest")
    try:
        # A command that ends while the library is still starting its threads would be aborted: small tables need none.
        threads = len(data) > WORTH_THREADS
        if path.suffix == ".csv":
            return _from_csv(data, threads=threads)
        return pq.ParquetFile(pa.BufferReader(data)).read(use_threads=threads)
    except (pa.ArrowException, OSError, csv.Error, StopIteration) as error:
        raise ValueError("no table") from error


def _from_csv(data: bytes, *, threads: bool) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    # A name may itself hold a comma, a quote or a line break.
    names = next(csv.reader(io.StringIO(data.decode(), newline="")))
    # The values come last, and after them, where there are weights, the weighted ones.
    codes = names[:-2] if names[-1] == WEIGHTED and VALUE in names[-2:] else names[:-1]
    types = {**dict.fromkeys(codes, pa.string()), names[len(codes)]: pa.int64()}
    types |= dict.fromkeys(names[len(codes) + 1 :], pa.int64())
    return arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(use_threads=threads),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=types),
    )
