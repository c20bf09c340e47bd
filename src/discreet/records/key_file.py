"""A copy of the data with a record key in every record."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from discreet.errors import DataFileError, FileWriteError, ParameterError, UnknownNameError
from discreet.records.record_keys import IdCheck, RecordKeys, keys_of
from discreet.sources.column_values import without_views
from discreet.sources.data_files import FileSource
from discreet.sources.source import open_source
from discreet.whole_file import check_writable, open_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from discreet.sources.source import Source

COLUMN = "RECORD_KEY"
"""What the column of keys is called unless another name is given."""

ENDINGS = (".parquet", ".csv")


@dataclass(frozen=True)
class KeyFile:
    """What was written: how many records, and where."""

    records: int
    path: Path


def add_keys(
    data: object,
    out: str | Path,
    *,
    id: str,  # noqa: A002 - the word of the command line, too
    secret: bytes,
    version: str = "1",
    column: str = COLUMN,
    replace: bool = False,
    encoding: str | None = None,
) -> KeyFile:
    """Write a copy of the data with a column of record keys, readable for its owner only.

    The file appears whole at the end, or not at all: data in which an id is missing or occurs twice are refused.

    Args:
        data: what `open_source` reads.
        out: the file to write, ending in .parquet or .csv.
        id: the column that tells the records apart; it is kept.
        secret: the office's secret.
        version: the version label of the keys.
        column: the name of the new column.
        replace: overwrite a file that exists.
        encoding: of CSV files, UTF-8 by default; a CSV file is written in UTF-8.
    """
    out = Path(out)
    _check_ending(out)
    check_writable(out, replace=replace)
    check = IdCheck(RecordKeys(secret, version), id)
    with closing(open_source(data, encoding=encoding)) as source:
        _check_columns(source, id, column)
        _check_not_read(source, out)
        _write_keyed(source, check, out, column, replace=replace)
    return KeyFile(records=check.records, path=out)


def _write_keyed(source: Source, check: IdCheck, out: Path, column: str, *, replace: bool) -> None:
    with open_whole(out, private=True) as file:
        _write(file, out, _of_one_kind(_keyed(source, check, column), source.name))
        check.finish(lambda: (batch.column(0) for batch in source.batches((check.column,))))
        source.check_unchanged()
        # Another program may have put a file there while the data were read.
        check_writable(out, replace=replace)


# --- What is refused before any work ---


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in ENDINGS:
        what = f"{out.name} must end in {' or '.join(ENDINGS)}, which says how it is written."
        raise ParameterError(f"{what} Choose another name.", parameter="out")


def _check_not_read(source: Source, out: Path) -> None:
    """Refuse to replace a file that is read: the data would be gone for good if the keys are not wanted after all."""
    files = source.files if isinstance(source, FileSource) else ()
    if out.exists() and any(file.path.samefile(out) for file in files):
        raise ParameterError(f"{out} is among the data that are read. Choose another name.", parameter="out")


def _check_columns(source: Source, id_column: str, column: str) -> None:
    """Refuse an id that is not there, and a name for the keys that is taken."""
    if id_column not in source.columns:
        raise UnknownNameError.column("column", id_column, source.columns)
    # Databases do not tell upper from lower case.
    if not column or column.casefold() in {name.casefold() for name in source.columns}:
        what = f"{source.name} has a column {column} already" if column else "The column of keys needs a name"
        raise ParameterError(f"{what}. Choose another name with --column.", parameter="column")


# --- Writing ---


def _keyed(source: Source, check: IdCheck, column: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches with their keys; once an id is missing the rest is only counted."""
    import pyarrow as pa

    for batch in source.batches(source.columns):
        digests = check.digests(batch.column(check.column))
        if not check.missing:
            arrays = [*map(_decode, without_views(batch).columns), pa.array(keys_of(digests))]
            yield pa.RecordBatch.from_arrays(arrays, [*batch.schema.names, column])


def _decode(values: pa.Array) -> pa.Array:
    """Return the entries of a dictionary in place of its codes: one file may have it, and the next not."""
    import pyarrow as pa

    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _of_one_kind(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Yield batches with the types of the first, or refuse a column whose values would not stay the same."""
    import pyarrow as pa

    schema = None
    for batch in batches:
        schema = schema or batch.schema
        fitted = [
            _fit(values, field, name) if values.type != field.type else values
            for values, field in zip(batch.columns, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(fitted, schema=schema)


def _fit(values: pa.Array, field: pa.Field, name: str) -> pa.Array:
    import pyarrow as pa

    try:
        if _is_like(values.type, field.type):
            return values.cast(field.type)
    except pa.ArrowException:
        # A number too large for the type of the first file; what Arrow says would show it.
        pass
    what = f"{name}: {field.name} has the type {field.type} in the first file and {values.type} in another."
    raise DataFileError(f"{what} Give every column one type, or add keys file by file.", path=Path(name)) from None


def _is_like(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether values of one type keep their meaning in another: text "07" would be another id as a number."""
    from pyarrow import types

    if types.is_null(kind) or (types.is_integer(kind) and types.is_integer(wanted)):
        return True
    return all(types.is_string(each) or types.is_large_string(each) for each in (kind, wanted))


def _write(file: BinaryIO, out: Path, batches: Iterator[pa.RecordBatch]) -> None:
    """Write batches as the ending says."""
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        return
    try:
        with _writer(out)(file, first.schema) as writer:
            for batch in chain((first,), batches):
                writer.write_batch(batch)
    except pa.ArrowException as error:
        todo = "Write a .parquet file, or leave the column out of the data."
        raise FileWriteError.to(out, f"{out.suffix} cannot hold one of the columns", todo) from error


def _writer(out: Path) -> Any:  # noqa: ANN401 - a class of Arrow, which has no types
    if out.suffix.lower() == ".csv":
        from pyarrow.csv import CSVWriter

        return CSVWriter
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter
