"""Table files: columns of codes and counts, in Parquet or CSV, with the digest of every file."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from discreet.errors import UnknownNameError
from discreet.limits import read_bounded
from discreet.programme.model import VALUE, WEIGHTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

FORMATS = ("parquet", "csv")
LONGEST_STEM = 150
"""Maximum number of characters of a file name without its extension; most systems allow 255."""
MIN_THREADED_BYTES = 1 << 22
"""Size in bytes above which a file is read with several threads."""
FORMULA = r"\A('*[=@\t\r])"
"""The beginning of a code that a spreadsheet would evaluate or truncate; codes such as -9 are harmless numbers."""
ESCAPED_FORMULA = r"\A'('*[=@\t\r])"
"""The same, escaped by an apostrophe in CSV."""
DIGITS = 16
"""Number of hexadecimal digits of the digest that distinguishes long ids with the same beginning."""


@dataclass(frozen=True)
class TableFile:
    """One file of a release.

    Attributes:
        id: the id of the table.
        file: the path of the file within the release.
        rows: the number of rows; all other cells of the table are 0.
        size: the size of the file in bytes.
        sha256: the digest of the file.
        content: a digest of the true counts of the table; it is confidential and not published.
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
    """Refuse an unknown format."""
    if name not in FORMATS:
        raise UnknownNameError.among("table format", name, FORMATS)


def file_stem(name: str, taken: Iterable[str] = ()) -> str:
    """Return the file name of a table without its extension: its id, percent-encoded like a URL.

    A second id that differs only in case gets a number, because many file systems ignore case.

    >>> file_stem("2/1"), file_stem(".."), file_stem("A", taken=["a"])
    ('2%2F1', '%2E.', 'A~2')
    """
    stem = quote(name, safe=" +,;=@")
    if not stem or stem.startswith("."):
        # Avoid a leading dot, which hides the file.
        stem = "%2E" + stem[1:] if stem else "%"
    if len(stem) > LONGEST_STEM:
        digest = hashlib.sha256(name.encode()).hexdigest()[:DIGITS]
        stem = f"{stem[: LONGEST_STEM - DIGITS - 1]}~{digest}"
    folded, free, number = {other.casefold() for other in taken}, stem, 1
    while free.casefold() in folded:
        number += 1
        free = f"{stem}~{number}"
    return free


def write_table(
    name: str, rows: pa.Table, folder: Path, form: str, stem: str | None = None, *, escaped: bool = True
) -> TableFile:
    """Write a table and return its entry for release.json; `escaped` is false for files of earlier versions."""
    path = folder / f"{file_stem(name) if stem is None else stem}.{form}"
    if form == "csv":
        _write_csv(rows, path, escaped=escaped)
    else:
        _write_parquet(rows, path)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return TableFile(name, f"{folder.name}/{path.name}", rows.num_rows, path.stat().st_size, digest)


def _write_parquet(rows: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(rows, path, compression="zstd", use_dictionary=True, write_statistics=False, store_schema=False)


def _write_csv(rows: pa.Table, path: Path, *, escaped: bool) -> None:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in rows.columns]
    names = rows.column_names
    if escaped:
        plain = [_escape_formulas(column) if pa.types.is_string(column.type) else column for column in plain]
        names = [re.sub(FORMULA, r"'\1", name) for name in names]
    options = arrow_csv.WriteOptions(quoting_style="needed")
    arrow_csv.write_csv(pa.table(plain, names=names), path, options)


def _escape_formulas(codes: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return codes with formulas escaped by an apostrophe."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(codes, pattern=FORMULA, replacement=r"'\1")


def read_table(
    path: Path,
    sha256: str | None = None,
    *,
    size: int | None = None,
    most_rows: int | None = None,
    escaped: bool = True,
) -> pa.Table:
    """Return a table, with codes as text and values as whole numbers.

    Args:
        path: the file.
        sha256: the expected digest, if known.
        size: the maximum size in bytes.
        most_rows: the maximum number of rows.
        escaped: whether formulas in CSV files are escaped by an apostrophe.

    Raises:
        OSError: if the file cannot be read.
        UnreadableFileError: if it is not a regular file, or has more bytes than `size`.
        ValueError: if it is damaged, has another digest, or has more rows than `most_rows`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = read_bounded(path, math.inf if size is None else size)
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError("another digest")
    try:
        # A command that ends while the library starts its threads would be aborted: read small tables without threads.
        threads = len(data) > MIN_THREADED_BYTES
        if path.suffix == ".csv":
            return _from_csv(data, threads=threads, escaped=escaped)
        file = pq.ParquetFile(pa.BufferReader(data))
        # A small file can encode very many equal rows.
        if most_rows is not None and file.metadata.num_rows > most_rows:
            raise ValueError("too many rows")
        return file.read(use_threads=threads)
    except (pa.ArrowException, OSError, csv.Error, StopIteration) as error:
        raise ValueError("not a table") from error


def _from_csv(data: bytes, *, threads: bool, escaped: bool) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as arrow_csv

    # A name may contain a comma, a quote or a line break.
    names = next(csv.reader(io.StringIO(data.decode(), newline="")))
    # The counts are the last column, or the last two if there are weighted counts, too.
    codes = names[:-2] if names[-1] == WEIGHTED and VALUE in names[-2:] else names[:-1]
    types = {**dict.fromkeys(codes, pa.string()), names[len(codes)]: pa.int64()}
    types |= dict.fromkeys(names[len(codes) + 1 :], pa.int64())
    found = arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(use_threads=threads),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=types),
    )
    if not escaped or b"'" not in data:
        return found
    columns = [
        pc.replace_substring_regex(column, pattern=ESCAPED_FORMULA, replacement=r"\1") if name in codes else column
        for name, column in zip(names, found.columns, strict=True)
    ]
    return pa.table(columns, names=[re.sub(ESCAPED_FORMULA, r"\1", name) for name in names])


def read_batches(
    path: Path, codes: Sequence[str], counts: Sequence[str], size: int, *, escaped: bool = True
) -> Iterator[pa.RecordBatch]:
    """Yield columns of a table in batches of `size` rows, codes as dictionaries, without loading the whole table.

    Raises:
        ValueError: if the file is damaged or lacks a column.
    """
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    wanted = [*codes, *counts]
    try:
        if path.suffix != ".csv":
            with pq.ParquetFile(path, read_dictionary=list(codes)) as file:
                yield from file.iter_batches(size, columns=wanted)
            return
        inert = {name: re.sub(FORMULA, r"'\1", name) if escaped else name for name in codes}
        types = {inert[name]: pa.dictionary(pa.int32(), pa.string()) for name in codes}
        options = arrow_csv.ConvertOptions(
            column_types={**types, **dict.fromkeys(counts, pa.int64())},
            include_columns=[*inert.values(), *counts],
            strings_can_be_null=False,
        )
        parsed = arrow_csv.ParseOptions(newlines_in_values=True)
        with arrow_csv.open_csv(path, convert_options=options, parse_options=parsed) as reader:
            for batch in reader:
                yield from _as_written(pa.table(batch.columns, wanted), codes, escaped=escaped).to_batches(size)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise ValueError("not a table") from error


def _as_written(rows: pa.Table, codes: Sequence[str], *, escaped: bool) -> pa.Table:
    """Return rows of a CSV file with the escaping apostrophes removed from the dictionaries of codes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, name in enumerate(codes if escaped else ()):
        column = rows.column(name).combine_chunks()
        texts = pc.replace_substring_regex(column.dictionary, pattern=ESCAPED_FORMULA, replacement=r"\1")
        rows = rows.set_column(place, name, pa.DictionaryArray.from_arrays(column.indices, texts))
    return rows
