"""Data in one or several files with the same columns, specified by a path, a folder, a pattern or a list of these."""

from __future__ import annotations

import glob
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from discreet.sources.csv_file import DEFAULT_OPTIONS, CsvFile, ReadOptions
from discreet.sources.parquet_file import ParquetFile
from discreet.sources.read_errors import (
    changed,
    check_requested,
    empty,
    given_twice,
    lacks_column,
    mixed_kinds,
    no_files,
    no_match,
    no_records,
    not_data,
    unknown_ending,
    unreadable,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

WILD = frozenset("*?[")


def find_files(given: Sequence[str | os.PathLike[str]]) -> tuple[str, list[Path]]:
    """Return a name of the files for messages, and the files sorted by name."""
    found = [_find(_as_path(item)) for item in given]
    files = sorted(path for _, paths in found for path in paths)
    if len(found) == 1:
        return found[0][0], files
    return f"{files[0].name} and {len(files) - 1} more" if len(files) > 1 else files[0].name, files


def _as_path(given: str | os.PathLike[str]) -> Path:
    # A text with line breaks is data instead of a path; a message about the path would disclose them.
    if not str(given) or set(str(given)) & set("\n\r\0"):
        raise not_data("an empty text or a text with line breaks")
    return Path(given)


def _find(path: Path) -> tuple[str, list[Path]]:
    try:
        if path.is_dir():
            files = _in_folder(path)
            return _counted(path.name or path.resolve().name, files), files
        # An existing file takes precedence over a pattern with the same text.
        if not path.exists() and WILD & set(str(path)):
            files = _matching(path)
            return _counted(_short(path), files), files
    except OSError as error:
        raise unreadable(path, error) from error
    return path.name, [path]


def _in_folder(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, otherwise its CSV files."""
    files = [path for path in folder.iterdir() if not path.name.startswith(".") and path.is_file()]
    for kind in (ParquetFile, CsvFile):
        found = [path for path in files if path.name.lower().endswith(kind.endings)]
        if found:
            return found
    raise no_files(folder, (*ParquetFile.endings, *CsvFile.endings))


def _matching(pattern: Path) -> list[Path]:
    found = glob.glob(str(pattern), recursive=True)  # noqa: PTH207 - Path.glob does not support absolute patterns
    files = [path for path in map(Path, sorted(set(found))) if path.is_file()]
    if not files:
        raise no_match(pattern)
    return files


def _short(pattern: Path) -> str:
    """Return a pattern from its last fixed folder on; messages must not disclose the location of the data."""
    first = next(place for place, part in enumerate(pattern.parts) if WILD & set(part))
    named = pattern.parts[max(first - 1, 0) :]
    return "/".join(part for part in named if part != pattern.anchor)


def _counted(name: str, files: Sequence[Path]) -> str:
    return f"{name} ({len(files)} {'file' if len(files) == 1 else 'files'})"


CHUNK = 1 << 20
"""Number of bytes that are hashed at a time."""


class FileStamp(NamedTuple):
    """Properties of a file that change if it is written again."""

    size: int
    modified: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Return the current stamp of a file."""
        found = _stat(path)
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(frozen=True)
class FileSource:
    """Data in files, read one after the other in the order of their names."""

    name: str
    files: tuple[CsvFile | ParquetFile, ...]
    stamps: tuple[FileStamp, ...]
    how: ReadOptions = DEFAULT_OPTIONS

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the column names in the order of the first file."""
        return self.files[0].columns

    @property
    def rows(self) -> int | None:
        """Return the number of records; None if it is unknown before reading."""
        known = [file.rows for file in self.files if file.rows is not None]
        return sum(known) if len(known) == len(self.files) else None

    @property
    def size(self) -> int:
        """Return the size on disk in bytes."""
        return sum(stamp.size for stamp in self.stamps)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return an iterator over batches of records with these columns in this order; no batch is empty."""
        check_requested(self.name, columns, self.columns)
        return self._read(list(columns))

    def fingerprint(self) -> str:
        """Return the hash of the concatenated bytes of all files."""
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
        """Refuse files that have changed since they were opened."""
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


def open_files(paths: Sequence[Path], *, name: str = "", how: ReadOptions = DEFAULT_OPTIONS) -> FileSource:
    """Open files, or refuse files that are missing, empty, of different formats or with different columns.

    Args:
        paths: the paths of one or more files.
        name: a name for messages; by default the name of the first file.
        how: the options for reading.
    """
    kinds = [_kind(path) for path in paths]
    # Take the stamps first, so that later changes are detected.
    stamps = tuple(map(FileStamp.of, paths))
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


def _check_stamp(path: Path, stamp: FileStamp) -> None:
    if FileStamp.of(path) != stamp:
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
