"""Parquet files."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from discreet.sources.column_values import is_utf8, without_views
from discreet.sources.read_errors import bad_parquet, check_names, not_utf8, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from discreet.sources.csv_file import ReadOptions

FEWEST_ROWS = 1 << 10
MOST_ROWS = 1 << 20
"""Minimum and maximum number of rows of a batch; the more columns, the fewer rows."""


@dataclass(frozen=True)
class ParquetFile:
    """One Parquet file, with its metadata."""

    kind: ClassVar[str] = "Parquet"
    endings: ClassVar[tuple[str, ...]] = (".parquet",)

    path: Path
    columns: tuple[str, ...]
    rows: int

    @classmethod
    def open(cls, path: Path) -> ParquetFile:
        """Read the metadata."""
        import pyarrow.parquet as pq

        with _errors_of(path), pq.ParquetFile(path) as file:
            names, rows = file.schema_arrow.names, file.metadata.num_rows
        check_names(path, names)
        return cls(path, tuple(names), rows)

    def batches(self, columns: Sequence[str], how: ReadOptions) -> Iterator[pa.RecordBatch]:
        """Yield batches of these columns, texts as dictionaries if possible."""
        rows = min(MOST_ROWS, max(FEWEST_ROWS, how.block // max(1, len(columns))))
        seen = 0
        with _errors_of(self.path):
            for batch in self._read(list(columns), rows):
                _check(self.path, batch)
                seen += batch.num_rows
                yield batch
        if seen != self.rows:
            raise bad_parquet(self.path)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Yield texts as dictionaries, or as plain texts from the row on where the library fails."""
        seen = 0
        try:
            for batch in _iterate(self.path, columns, rows, as_dictionaries=True):
                seen += batch.num_rows
                yield batch
        except OSError as error:
            # Delta-encoded texts cannot be read as dictionaries. The metadata list the encodings, but reading damaged
            # metadata aborts the process.
            if "Not yet implemented" not in str(error):
                raise
            yield from _skip(_iterate(self.path, columns, rows, as_dictionaries=False), seen)


def _iterate(path: Path, columns: list[str], rows: int, *, as_dictionaries: bool) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    encoded = _texts(path, columns) if as_dictionaries else []
    with pq.ParquetFile(path, read_dictionary=encoded, page_checksum_verification=True) as file:
        for batch in file.iter_batches(batch_size=rows, columns=columns):
            # For the column a, the library also reads a column a.b.
            yield without_views(batch.select(columns))


def _texts(path: Path, columns: Sequence[str]) -> list[str]:
    """Return the columns of text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        kinds = {field.name: field.type for field in file.schema_arrow}
    return [name for name in columns if kinds.get(name) in {pa.string(), pa.large_string(), pa.string_view()}]


def _skip(batches: Iterator[pa.RecordBatch], seen: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if batch.num_rows > seen:
            yield batch.slice(seen)
        seen = max(0, seen - batch.num_rows)


def _check(path: Path, batch: pa.RecordBatch) -> None:
    """Refuse invalid values that the library does not check."""
    import pyarrow as pa

    for values in batch.columns:
        if pa.types.is_dictionary(values.type) and not _has_valid_indices(values):
            raise bad_parquet(path)
        if not is_utf8(values):
            raise not_utf8(path)


def _has_valid_indices(values: pa.DictionaryArray) -> bool:
    """Return whether every index has an entry in the dictionary, which may be damaged."""
    import pyarrow.compute as pc

    ends = pc.min_max(values.indices).as_py()
    return ends["min"] is None or 0 <= ends["min"] <= ends["max"] < len(values.dictionary)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Convert errors of the library to errors without values."""
    import pyarrow as pa

    try:
        yield
    except MemoryError:
        # The MemoryError of the library is also an ArrowException.
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno:
            raise unreadable(path, error) from None
        if any(os.strerror(number) in str(error) for number in (errno.ENOMEM, errno.EAGAIN)):
            # The system could not start threads of the library.
            raise MemoryError from None
        # Omit the message of the library, which may contain values.
        raise bad_parquet(path) from None
