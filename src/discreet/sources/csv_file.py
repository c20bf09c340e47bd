"""CSV files with a header line, in UTF-8 by default, plain or gzipped."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from discreet.errors import ParameterError
from discreet.sources.read_errors import (
    bad_csv,
    bad_gzip,
    bad_record,
    check_names,
    empty,
    open_quote,
    undecodable,
    unreadable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    from discreet.errors import DataFileError

BLOCK = 1 << 22
UTF8 = "utf-8"
ASCII_SAMPLE = 'aZ09,;\t|"\r\n'
"""Examples of the letters, digits, delimiters, quotes and line ends of CSV."""


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files.

    Attributes:
        block: the approximate number of values per batch.
        allow_open_quote: whether a CSV file may end inside an open quote, which may contain records.
        encoding: the encoding of CSV files.
    """

    block: int = BLOCK
    allow_open_quote: bool = False
    encoding: str = UTF8

    def __post_init__(self) -> None:
        try:
            plain = ASCII_SAMPLE.encode(self.encoding)
        except (LookupError, UnicodeError):
            plain = b""
        # The parser finds lines, delimiters and quotes by their ASCII bytes.
        if plain != ASCII_SAMPLE.encode():
            raise ParameterError(
                f"{self.encoding!r} is not a supported encoding of CSV files. Use an encoding in which each ASCII "
                "character is one byte, such as latin-1, cp1252 or utf-8.",
                parameter="encoding",
            )


DEFAULT_OPTIONS = ReadOptions()


DELIMITERS = ",;\t|"
LONGEST_HEADER = 1 << 22
"""Maximum number of characters of the header."""
BYTES = 4
"""Approximate size of a value and its delimiter in bytes."""
END = "\x04"
"""The value of the additional last record."""


@dataclass(frozen=True)
class CsvFile:
    """One CSV file whose header has been read."""

    kind: ClassVar[str] = "CSV"
    endings: ClassVar[tuple[str, ...]] = (".csv", ".csv.gz")

    path: Path
    columns: tuple[str, ...]
    delimiter: str
    skipped: int = 0
    """Number of blank lines before the header of a single column, where they would be records."""

    @classmethod
    def open(cls, path: Path, how: ReadOptions = DEFAULT_OPTIONS) -> CsvFile:
        """Read the header."""
        delimiter, names, skipped = _read_header(path, how.encoding)
        check_names(path, names)
        return cls(path, tuple(names), delimiter, skipped)

    @property
    def rows(self) -> int | None:
        """Return None: the number of records is unknown before reading."""
        return None

    def batches(self, columns: Sequence[str], how: ReadOptions) -> Iterator[pa.RecordBatch]:
        """Yield these columns as text."""
        import pyarrow as pa

        # Without columns the library would read all of them; one is enough to count the records.
        read = list(columns) or [self.columns[0]]
        bad_rows: list[arrow_csv.InvalidRow] = []
        try:
            with pa.input_stream(str(self.path), compression="gzip" if _is_gzip(self.path) else None) as stream:
                whole = (
                    stream
                    if how.allow_open_quote
                    else pa.PythonFile(_StreamWithEnd(stream, self._end(read[0])), mode="r")
                )
                batches = self._parse(whole, read, how, bad_rows)
                for batch in batches if how.allow_open_quote else _without_end(self.path, batches):
                    yield batch.select(list(columns))
        except MemoryError:
            # The MemoryError of the library is also an ArrowException.
            raise
        except (pa.ArrowException, OSError, UnicodeError) as error:
            # Omit the message of the library, which contains the values of the row.
            raise _error(self.path, error, bad_rows, how.encoding) from None

    def _parse(
        self, stream: pa.NativeFile, columns: list[str], how: ReadOptions, bad_rows: list[arrow_csv.InvalidRow]
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        def refuse(row: arrow_csv.InvalidRow) -> str:
            bad_rows.append(row)
            return "error"

        yield from arrow_csv.open_csv(
            stream,
            # Without threads a bad row is reported with its number; the streaming reader is not slower.
            arrow_csv.ReadOptions(
                use_threads=False, block_size=BYTES * how.block, encoding=how.encoding, skip_rows=self.skipped
            ),
            arrow_csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                # In a file with a single column a blank line is a record without a value.
                ignore_empty_lines=len(self.columns) > 1,
                invalid_row_handler=refuse,
            ),
            arrow_csv.ConvertOptions(include_columns=columns, column_types=dict.fromkeys(columns, pa.string())),
        )

    def _end(self, column: str) -> bytes:
        """Return an additional record with the end marker in this column, after a line that may lack a line end."""
        place = self.columns.index(column)
        return f"\n{self.delimiter * place}{END}{self.delimiter * (len(self.columns) - place - 1)}\n".encode()


class _StreamWithEnd:
    """A stream with an additional last record; if it is missing after parsing, the file ends in an open quote.

    The library itself does not report open quotes.
    """

    closed = False

    def __init__(self, stream: pa.NativeFile, end: bytes) -> None:
        self._stream = stream
        self._end = end
        self._last = b""

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        if data:
            self._last = data[-1:]
            return data
        if self._last in {b"\n", b"\r"}:
            # The last line has a line end: another one would be a blank line.
            self._end, self._last = self._end[1:], b""
        data, self._end = self._end[:size], self._end[size:]
        return data

    def close(self) -> None:
        """Do nothing: the owner of the stream closes it."""


def _without_end(path: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    last = None
    for batch in batches:
        if batch.num_rows:
            if last is not None:
                yield last
            last = batch
    if last is None or last.column(0)[-1].as_py() != END:
        raise open_quote(path)
    yield last.slice(0, last.num_rows - 1)


def _error(path: Path, error: Exception, bad_rows: Sequence[arrow_csv.InvalidRow], encoding: str) -> DataFileError:
    if bad_rows:
        row = bad_rows[0]
        return bad_record(path, row.number - 1, row.actual_columns, row.expected_columns)
    if isinstance(error, OSError) and error.errno:
        return unreadable(path, error)
    if isinstance(error, UnicodeError) or "UTF8" in str(error):
        return undecodable(path, encoding, _first_undecodable(path, encoding))
    return bad_gzip(path) if _is_gzip(path) else bad_csv(path)


def _read_header(path: Path, encoding: str) -> tuple[str, list[str], int]:
    """Return the delimiter with the most columns, the column names, and the number of blank lines before them."""
    start = _read_start(path, encoding)
    if not start:
        raise empty(path)
    try:
        headers = {delimiter: _first_row(start, delimiter) for delimiter in DELIMITERS}
    except csv.Error:
        raise bad_csv(path) from None
    delimiter = max(headers, key=lambda d: len(headers[d]))
    names = headers[delimiter]
    return delimiter, names, _blank_lines(start) if len(names) == 1 else 0


def _read_start(path: Path, encoding: str) -> str:
    try:
        opened = gzip.open if _is_gzip(path) else open
        with opened(
            path, "rt", encoding="utf-8-sig" if codecs.lookup(encoding).name == UTF8 else encoding, newline=""
        ) as file:
            return file.read(LONGEST_HEADER)
    except UnicodeDecodeError:
        # Omit the original error, which contains the undecodable bytes.
        raise undecodable(path, encoding, _first_undecodable(path, encoding)) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise bad_gzip(path) from None
    except OSError as error:
        raise unreadable(path, error) from error


def _first_undecodable(path: Path, encoding: str) -> tuple[int, int] | None:
    """Return the numbers of the first undecodable byte and of its line, both from 1, or None."""
    decoder = codecs.getincrementaldecoder(encoding)()
    done, lines = 0, 1
    with gzip.open(path) if _is_gzip(path) else path.open("rb") as file:
        while True:
            try:
                chunk = file.read(LONGEST_HEADER)
            except (OSError, EOFError, zlib.error):
                # The compressed file is damaged further on.
                return None
            data = decoder.getstate()[0] + chunk
            decoder.reset()
            try:
                decoder.decode(data, final=not chunk)
            except UnicodeDecodeError as error:
                return done + error.start + 1, lines + data.count(b"\n", 0, error.start)
            if not chunk:
                return None
            kept = len(data) - len(decoder.getstate()[0])
            done, lines = done + kept, lines + data.count(b"\n", 0, kept)


def _first_row(text: str, delimiter: str) -> list[str]:
    return next((row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row), [])


def _blank_lines(text: str) -> int:
    """Return the number of blank lines before the first other line; 0 if all lines are blank."""
    return next((number for number, line in enumerate(io.StringIO(text)) if line.strip("\r\n")), 0)


def _is_gzip(path: Path) -> bool:
    return path.name.lower().endswith(".gz")
