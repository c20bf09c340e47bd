"""Write a copy of the data with a column of record keys."""

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
"""Default name of the column of keys."""

ENDINGS = (".parquet", ".csv")


@dataclass(frozen=True)
class KeyFile:
    """The number of records and the path of a file with keys."""

    records: int
    path: Path


def add_keys(
    data: object,
    out: str | Path,
    *,
    id: str,  # noqa: A002 - the name of the option
    secret: bytes,
    version: str = "1",
    column: str = COLUMN,
    replace: bool = False,
    encoding: str | None = None,
) -> KeyFile:
    """Write a copy of the data with a column of record keys, which only its owner can read.

    The file is written atomically. Data with missing or duplicate ids are refused.

    Args:
        data: any data that `open_source` reads.
        out: the file to write, with the extension .parquet or .csv.
        id: the column that identifies the records; it is kept.
        secret: the office's secret.
        version: the version label of the keys.
        column: the name of the new column.
        replace: whether an existing file may be overwritten.
        encoding: the encoding of CSV input, UTF-8 by default; CSV output is always in UTF-8.
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
        # Another program may have created the file in the meantime.
        check_writable(out, replace=replace)


# --- Checks before reading ---


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in ENDINGS:
        what = f"{out.name} must end in {' or '.join(ENDINGS)}, which determines the format."
        raise ParameterError(f"{what} Choose another name.", parameter="out")


def _check_not_read(source: Source, out: Path) -> None:
    """Refuse to overwrite an input file: the original data would be lost."""
    files = source.files if isinstance(source, FileSource) else ()
    if out.exists() and any(file.path.samefile(out) for file in files):
        raise ParameterError(f"{out} is one of the input files. Choose another name.", parameter="out")


def _check_columns(source: Source, id_column: str, column: str) -> None:
    """Refuse an id column that does not exist, and a name for the keys that exists already."""
    if id_column not in source.columns:
        raise UnknownNameError.column("column", id_column, source.columns)
    # Databases ignore case.
    if not column or column.casefold() in {name.casefold() for name in source.columns}:
        what = f"{source.name} already has a column {column}" if column else "The column of keys needs a name"
        raise ParameterError(f"{what}. Choose another name with --column.", parameter="column")


# --- Writing ---


def _keyed(source: Source, check: IdCheck, column: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches with their keys; after a missing id, only count the records."""
    import pyarrow as pa

    for batch in source.batches(source.columns):
        digests = check.digests(batch.column(check.column))
        if not check.missing:
            arrays = [*map(_decode, without_views(batch).columns), pa.array(keys_of(digests))]
            yield pa.RecordBatch.from_arrays(arrays, [*batch.schema.names, column])


def _decode(values: pa.Array) -> pa.Array:
    """Return dictionary-encoded values decoded, because files may differ in their encoding."""
    import pyarrow as pa

    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _of_one_kind(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Yield batches with the types of the first batch, or refuse a column whose values would change."""
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
        # A number is too large for the type of the first file; the message of Arrow would disclose it.
        pass
    what = f"{name}: {field.name} has the type {field.type} in the first file and {values.type} in another."
    raise DataFileError(
        f"{what} Use the same type in all files, or add keys to each file separately.", path=Path(name)
    ) from None


def _is_like(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether a conversion between types keeps values: the text "07" would become another id as a number."""
    from pyarrow import types

    if types.is_null(kind) or (types.is_integer(kind) and types.is_integer(wanted)):
        return True
    return all(types.is_string(each) or types.is_large_string(each) for each in (kind, wanted))


def _write(file: BinaryIO, out: Path, batches: Iterator[pa.RecordBatch]) -> None:
    """Write batches in the format of the extension."""
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        return
    try:
        with _writer(out)(file, first.schema) as writer:
            for batch in chain((first,), batches):
                writer.write_batch(batch)
    except pa.ArrowException as error:
        todo = "Write a .parquet file, or remove the column from the data."
        raise FileWriteError.to(out, f"{out.suffix} cannot contain one of the columns", todo) from error


def _writer(out: Path) -> Any:  # noqa: ANN401 - Arrow has no types
    if out.suffix.lower() == ".csv":
        from pyarrow.csv import CSVWriter

        return CSVWriter
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter
