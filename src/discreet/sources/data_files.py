"""Data in one file or several with the same columns, given by a path, a folder, a pattern or a list of these."""

from __future__ import annotations

import glob
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from discreet.sources.csv_file import AS_USUAL, CsvFile, ReadOptions
from discreet.sources.parquet_file import ParquetFile
from discreet.sources.read_errors import (
    changed,
    check_asked,
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
    """Return what to call the files in messages, and the files in the order of their names."""
    found = [_find(_as_path(item)) for item in given]
    files = sorted(path for _, paths in found for path in paths)
    if len(found) == 1:
        return found[0][0], files
    return f"{files[0].name} and {len(files) - 1} more" if len(files) > 1 else files[0].name, files


def _as_path(given: str | os.PathLike[str]) -> Path:
    # A text with line breaks is data given in place of a path; a message about the path would show them.
    if not str(given) or set(str(given)) & set("\n\r\0"):
        raise not_data("an empty text or a text with line breaks")
    return Path(given)


def _find(path: Path) -> tuple[str, list[Path]]:
    try:
        if path.is_dir():
            files = _in_folder(path)
            return _counted(path.name or path.resolve().name, files), files
        # A name with an asterisk or a bracket in it is first of all a name.
        if not path.exists() and WILD & set(str(path)):
            files = _matching(path)
            return _counted(_short(path), files), files
    except OSError as error:
        raise unreadable(path, error) from error
    return path.name, [path]


def _in_folder(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, or else its CSV files."""
    files = [path for path in folder.iterdir() if not path.name.startswith(".") and path.is_file()]
    for kind in (ParquetFile, CsvFile):
        found = [path for path in files if path.name.lower().endswith(kind.endings)]
        if found:
            return found
    raise no_files(folder, (*ParquetFile.endings, *CsvFile.endings))


def _matching(pattern: Path) -> list[Path]:
    found = glob.glob(str(pattern), recursive=True)  # noqa: PTH207 - Path.glob takes no absolute patterns
    files = [path for path in map(Path, sorted(set(found))) if path.is_file()]
    if not files:
        raise no_match(pattern)
    return files


def _short(pattern: Path) -> str:
    """Return a pattern from the last folder that has a name: where the data lie on this machine is nobody's affair."""
    first = next(place for place, part in enumerate(pattern.parts) if WILD & set(part))
    named = pattern.parts[max(first - 1, 0) :]
    return "/".join(part for part in named if part != pattern.anchor)


def _counted(name: str, files: Sequence[Path]) -> str:
    return f"{name} ({len(files)} {'file' if len(files) == 1 else 'files'})"


CHUNK = 1 << 20
"""How many bytes are hashed at a time."""


class FileStamp(NamedTuple):
    """What the system knows of a file; another writing of it changes at least one."""

    size: int
    modified: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Ask the system."""
        found = _stat(path)
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(frozen=True)
class FileSource:
    """Data in files, read one after the other in the order of their names."""

    name: str
    files: tuple[CsvFile | ParquetFile, ...]
    stamps: tuple[FileStamp, ...]
    how: ReadOptions = AS_USUAL

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


def open_files(paths: Sequence[Path], *, name: str = "", how: ReadOptions = AS_USUAL) -> FileSource:
    """Open files that are there, are not empty, are of one kind and have the same columns.

    Args:
        paths: one file or more.
        name: what to call them in messages; if left out, the name of the first.
        how: how to read them.
    """
    kinds = [_kind(path) for path in paths]
    # The stamps come first: what changes from here on is noticed.
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
