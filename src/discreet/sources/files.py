"""Data in one file or several with the same columns."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from discreet.sources.csv_files import CsvFile
from discreet.sources.parquet_file import ParquetFile
from discreet.sources.read_errors import (
    changed,
    check_asked,
    empty,
    given_twice,
    lacks_column,
    mixed_kinds,
    no_records,
    unknown_ending,
    unreadable,
)
from discreet.sources.reading import AS_USUAL, Reading

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

CHUNK = 1 << 20
"""How many bytes are hashed at a time."""


class Stamp(NamedTuple):
    """What the system knows of a file; another writing of it changes at least one."""

    size: int
    modified: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Ask the system."""
        found = _stat(path)
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(frozen=True)
class FileSource:
    """Data in files, read one after the other in the order of their names."""

    name: str
    files: tuple[CsvFile | ParquetFile, ...]
    stamps: tuple[Stamp, ...]
    how: Reading = AS_USUAL

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the column names in the order of the first file."""
        return self.files[0].columns

    @property
    def rows(self) -> int | None:
        """Return the number of records, or None where only reading tells it."""
        known = [file.rows for file in self.files if file.rows is not None]
        return sum(known) if len(known) == len(self.files) else None

    @property
    def size(self) -> int:
        """Return the bytes on disk."""
        return sum(stamp.size for stamp in self.stamps)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return an iterator over the records: these columns in this order, none of it empty."""
        check_asked(self.name, columns, self.columns)
        return self._read(list(columns))

    def fingerprint(self) -> str:
        """Return the hash of the bytes of all files, one after the other."""
        digest = hashlib.sha256()
        for file in self.files:
            try:
                with file.path.open("rb") as stream:
                    while chunk := stream.read(CHUNK):
                        digest.update(chunk)
            except OSError as error:
                raise unreadable(file.path, error) from error
        return f"sha256:{digest.hexdigest()}"

    def check_unchanged(self) -> None:
        """Refuse files that are not what they were when they were opened."""
        for file, stamp in zip(self.files, self.stamps, strict=True):
            _check_stamp(file.path, stamp)

    def close(self) -> None:
        """Do nothing: a file is open only while it is read."""

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        found = False
        for file, stamp in zip(self.files, self.stamps, strict=True):
            _check_stamp(file.path, stamp)
            for batch in file.batches(list(dict.fromkeys(columns)), self.how):
                if batch.num_rows:
                    found = True
                    yield batch.select(columns)
        if not found:
            raise no_records(self.files[0].path, self.name)


def open_files(paths: Sequence[Path], *, name: str = "", how: Reading = AS_USUAL) -> FileSource:
    """Open files that are there, are not empty, are of one kind and have the same columns.

    Args:
        paths: one file or more.
        name: what to call them in messages; if left out, the name of the first.
        how: how to read them.
    """
    kinds = [_kind(path) for path in paths]
    # The stamps come first: what changes from here on is noticed.
    stamps = tuple(map(Stamp.of, paths))
    _check_given_once(paths)
    for path, kind, stamp in zip(paths, kinds, stamps, strict=True):
        if kind is not kinds[0]:
            raise mixed_kinds(path, kind.kind, paths[0], kinds[0].kind)
        if not stamp.size:
            raise empty(path)
    files = tuple(
        CsvFile.open(path, how) if kind is CsvFile else kind.open(path) for path, kind in zip(paths, kinds, strict=True)
    )
    _check_same_columns(files)
    source = FileSource(name or paths[0].name, files, stamps, how)
    if source.rows == 0:
        raise no_records(paths[0], source.name)
    return source


def _kind(path: Path) -> type[CsvFile | ParquetFile]:
    for kind in (CsvFile, ParquetFile):
        if path.name.lower().endswith(kind.endings):
            return kind
    raise unknown_ending(path, (*CsvFile.endings, *ParquetFile.endings))


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise unreadable(path, error) from error


def _check_stamp(path: Path, stamp: Stamp) -> None:
    if Stamp.of(path) != stamp:
        raise changed(path)


def _check_given_once(paths: Sequence[Path]) -> None:
    seen = set()
    for path in paths:
        found = _stat(path)
        if (found.st_dev, found.st_ino) in seen:
            raise given_twice(path)
        seen.add((found.st_dev, found.st_ino))


def _check_same_columns(files: Sequence[CsvFile | ParquetFile]) -> None:
    first = files[0]
    for file in files[1:]:
        for one, other in ((file, first), (first, file)):
            known = set(one.columns)
            lacking = [column for column in other.columns if column not in known]
            if lacking:
                raise lacks_column(one.path, lacking, other.path, other.columns)
