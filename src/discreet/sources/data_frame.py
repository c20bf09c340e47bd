"""Data in memory: Arrow tables and data frames of other libraries."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.sources.column_values import is_utf8, without_views
from discreet.sources.read_errors import bad_frame, check_names, check_requested, no_records, not_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from discreet.arrays import Ints

NAME = "the data frame"
PLACE = Path(NAME)
"""Placeholder for the path of the frame in errors about files."""
ROWS = 1 << 18
"""Number of rows of a batch."""


@dataclass(frozen=True)
class FrameSource:
    """Data in memory; the representation of the source omits them."""

    table: pa.Table = field(repr=False)
    name: str = NAME

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the column names."""
        return tuple(self.table.column_names)

    @property
    def rows(self) -> int:
        """Return the number of records."""
        return int(self.table.num_rows)

    @property
    def size(self) -> int:
        """Return the size in memory in bytes."""
        return int(self.table.nbytes)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return an iterator over batches of records with these columns in this order; no batch is empty."""
        check_requested(self.name, columns, self.columns)
        return self._read(list(columns))

    def fingerprint(self) -> str:
        """Return the hash of the columns as an Arrow stream; it does not depend on chunks and dictionaries."""
        import pyarrow as pa

        hashed = _HashWriter()
        schema = pa.schema([(column.name, _plain(column.type)) for column in self.table.schema])
        hashed.write(str(schema).encode())
        texts = [name for name in self.columns if schema.field(name).type == pa.large_string()]
        others = pa.schema([column for column in schema if column.name not in texts])
        with pa.ipc.new_stream(pa.PythonFile(hashed, mode="w"), others) as stream:
            for start in range(0, self.rows, ROWS):
                stream.write_table(_compact(self.table.select(others.names).slice(start, ROWS), others))
        for name in texts:
            for start in range(0, self.rows, ROWS):
                _hash_texts(hashed, self.table.column(name).slice(start, ROWS))
        return f"sha256:{hashed.digest.hexdigest()}"

    def check_unchanged(self) -> None:
        """Do nothing: Arrow tables are immutable, and changes in place are detected only by the fingerprint."""

    def close(self) -> None:
        """Do nothing: the caller owns the data."""

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        # A table without columns has no records; one column is enough to count them.
        read = list(dict.fromkeys(columns)) or [self.columns[0]]
        for batch in self.table.select(read).to_batches(max_chunksize=ROWS):
            if not all(map(is_utf8, batch.columns)):
                raise not_utf8(PLACE)
            if batch.num_rows:
                yield without_views(batch.select(columns))


def open_frame(data: object) -> FrameSource:
    """Return the source for an Arrow table, or for an object that exports an Arrow stream."""
    import pyarrow as pa

    try:
        table = data if isinstance(data, pa.Table) else pa.table(data)
    except Exception as error:  # noqa: BLE001 - every library raises its own errors
        # Omit the message of the library, which may contain values.
        raise bad_frame(PLACE, _where(error)) from None
    check_names(PLACE, table.column_names, "data frame")
    if not table.num_rows:
        raise no_records(PLACE, NAME, "data frame")
    return FrameSource(table)


class _HashWriter:
    """A file object that only computes the hash of the written bytes."""

    closed = False

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: the hash has no buffer."""

    def close(self) -> None:
        """Do nothing: the hash holds no resources."""


def _where(error: Exception) -> str:
    """Return the invalid column if the library names it; the rest of the message may contain values."""
    place = str(error.args[-1]) if error.args else ""
    return f" ({place})" if place.startswith("Conversion failed for column ") else ""


def _plain(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if kind in {pa.string(), pa.string_view()}:
        return pa.large_string()
    return pa.large_binary() if kind == pa.binary_view() else kind


def _compact(piece: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a contiguous copy of a part of a table, without undefined memory after its end and under nulls."""
    import numpy as np
    import pyarrow as pa

    plain = pa.Table.from_batches(map(without_views, piece.to_batches())).cast(schema)
    everything = np.arange(piece.num_rows)
    return pa.table([_copy(column, everything) for column in plain.columns], schema)


def _hash_texts(hashed: _HashWriter, column: pa.ChunkedArray) -> None:
    """Add texts to a hash: the distinct texts in order, and for every record the index of its text.

    This is much faster than hashing every text, because many records share few texts.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if pa.types.is_dictionary(column.type):
        # Use an index type that is wide enough for the texts of all chunks.
        column = column.cast(pa.dictionary(pa.int32(), column.type.value_type))
    encoded = pc.dictionary_encode(column).unify_dictionaries().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    texts = encoded.dictionary.cast(pa.large_string())
    index = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
    used = np.flatnonzero(np.bincount(index, minlength=len(texts) + 1)[: len(texts)])
    order = used[pc.array_sort_indices(texts.take(used)).to_numpy()]
    place = np.full(len(texts) + 1, -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    for text in (texts[k].as_py().encode() for k in order.tolist()):
        hashed.write(len(text).to_bytes(8, "little") + text)
    hashed.write(place[index].tobytes())


def _copy(column: pa.ChunkedArray, everything: Ints) -> pa.ChunkedArray:
    import pyarrow as pa

    try:
        return column.take(everything)
    except pa.ArrowNotImplementedError:  # for example, lists of text views
        return column
