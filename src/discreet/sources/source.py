"""Where records come from: files, patterns, folders, databases and data frames, all read the same way."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from discreet.errors import ParameterError
from discreet.sources.csv_file import AS_USUAL, CsvFile, ReadOptions
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
    """Records that can be read column by column, as often as needed."""

    @property
    def name(self) -> str:
        """What to call the data in messages: a file, "census/*.parquet (12 files)", "persons in census.duckdb"."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, every one different."""

    @property
    def rows(self) -> int | None:
        """The number of records where it is known without reading, else None."""

    @property
    def size(self) -> int:
        """The bytes on disk or in memory."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return an iterator over the records: only these columns, in this order, some 100,000 records at a time.

        A column keeps its type, which may differ from file to file; `as_text` makes codes of any.

        Raises:
            UnknownNameError: at once, if a column is not there.
            DataFileError: while reading, if a file is damaged or holds no records.
        """

    def fingerprint(self) -> str:
        """Return "sha256:" and the hash of the data: the bytes of the files in name order, or of the columns.

        A table of a database has no order of records, and so its hash does not depend on one.
        """

    def check_unchanged(self) -> None:
        """Refuse with a DataFileError what is not as it was when it was opened."""

    def close(self) -> None:
        """Let the data go; nothing can be read afterwards. A source that is forgotten lets them go as well."""


def open_source(data: object, *, encoding: str | None = None) -> Source:
    """Return the source for what was given as data; files are opened and compared, but not read.

    Args:
        data: the path of a .parquet, .csv or .csv.gz file; a folder, which stands for its .parquet files or, if
            it has none, its CSV files; a pattern such as "census/*.parquet"; a list of these; a table or view of a
            database, "census.duckdb#persons" or "postgresql://user@host:port/census#persons"; an Arrow table,
            batch or reader; or a data frame that gives its columns as an Arrow stream, as pandas and polars do.
        encoding: of CSV files, UTF-8 by default; other data have none.
    """
    source = _opened(data, encoding)
    if encoding is not None and not (isinstance(source, FileSource) and isinstance(source.files[0], CsvFile)):
        source.close()
        what = f"--encoding is for CSV files, and {source.name} has an encoding of its own. Leave it out."
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
        raise not_data("a list without paths" if not paths else "a list with something else than paths")
    check_one_table([str(path) for path in paths])
    named = parse_database_name(str(paths[0]))
    if named:
        return open_postgres(named) if isinstance(named, PostgresName) else open_duckdb(named)
    name, files = find_files(paths)
    return open_files(files, name=name, how=AS_USUAL if encoding is None else ReadOptions(encoding=encoding))
