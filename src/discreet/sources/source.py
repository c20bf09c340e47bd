"""Sources of records with a common interface: files, patterns, folders, databases and data frames."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from discreet.errors import ParameterError
from discreet.sources.csv_file import DEFAULT_OPTIONS, CsvFile, ReadOptions
from discreet.sources.data_files import FileSource, find_files, open_files
from discreet.sources.data_frame import open_frame
from discreet.sources.database_address import PostgresName, check_one_table, parse_database_name
from discreet.sources.duckdb_table import open_duckdb
from discreet.sources.postgres_table import open_postgres
from discreet.sources.read_errors import not_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa


class Source(Protocol):
    """Records that can be read repeatedly, by column."""

    @property
    def name(self) -> str:
        """Return the name for messages: a file, "census/*.parquet (12 files)", "persons in census.duckdb"."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the column names, which are unique."""

    @property
    def rows(self) -> int | None:
        """Return the number of records; None if it is unknown before reading."""

    @property
    def size(self) -> int:
        """Return the size on disk or in memory in bytes."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return an iterator over batches of about 100,000 records with these columns in this order.

        A column keeps its type, which may differ between files; `as_text` converts any type to codes.

        Raises:
            UnknownNameError: immediately, if a column does not exist.
            DataFileError: while reading, if a file is damaged or contains no records.
        """

    def fingerprint(self) -> str:
        """Return "sha256:" and a hash of the data: of the bytes of the files in name order, or of the columns.

        The hash of a table of a database does not depend on the order of records.
        """

    def check_unchanged(self) -> None:
        """Raise a DataFileError if the data have changed since they were opened."""

    def close(self) -> None:
        """Release the data; a closed source cannot be read. Garbage collection closes a source, too."""


def open_source(data: object, *, encoding: str | None = None) -> Source:
    """Return the source for the given data; files are opened and their columns compared, but records are not read.

    Args:
        data: the path of a .parquet, .csv or .csv.gz file; a folder, of which the .parquet files are read or, if
            there are none, the CSV files; a pattern such as "census/*.parquet"; a list of these; a table or view of a
            database, "census.duckdb#persons" or "postgresql://user@host:port/census#persons"; an Arrow table,
            batch or reader; or a data frame that exports an Arrow stream, as those of pandas and polars do.
        encoding: the encoding of CSV files, UTF-8 by default; not allowed for other data.
    """
    source = _opened(data, encoding)
    if encoding is not None and not (isinstance(source, FileSource) and isinstance(source.files[0], CsvFile)):
        source.close()
        what = f"--encoding is valid only for CSV files, and {source.name} is not a CSV file. Remove it."
        raise ParameterError(what, parameter="encoding")
    return source


def _opened(data: object, encoding: str | None) -> Source:
    if isinstance(data, str | os.PathLike):
        return _open_paths([data], encoding)
    if isinstance(data, list | tuple):
        return _open_paths(data, encoding)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return open_frame(data)
    raise not_data(f"an object of type {type(data).__name__}")


def _open_paths(given: Sequence[object], encoding: str | None) -> Source:
    paths = [item for item in given if isinstance(item, str | os.PathLike)]
    if not paths or len(paths) < len(given):
        raise not_data("a list without paths" if not paths else "a list with objects other than paths")
    check_one_table([str(path) for path in paths])
    named = parse_database_name(str(paths[0]))
    if named:
        return open_postgres(named) if isinstance(named, PostgresName) else open_duckdb(named)
    name, files = find_files(paths)
    return open_files(files, name=name, how=DEFAULT_OPTIONS if encoding is None else ReadOptions(encoding=encoding))
