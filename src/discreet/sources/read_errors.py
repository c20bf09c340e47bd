"""Errors for data that cannot be read: the problem, its location and the remedy, but never a value."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from discreet.errors import DataFileError, InputError, UnknownNameError, may_be_record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ACCEPTED = (
    "Specify the path of a .parquet, .csv or .csv.gz file, a folder of such files, a pattern such as census/*.parquet, "
    "a list of paths, a table of a database such as census.duckdb#persons, an Arrow table, or a data frame "
    "of pandas or polars."
)
NUMBERED = " (some names are numbers; check whether the header line is missing)"
"""Text instead of a column name that may be the value of a record, in a file without a header line."""


def not_data(what: str) -> InputError:
    """Build the error for an object that is neither a path nor a data frame."""
    return InputError(f"Data cannot be read from {what}. {ACCEPTED}")


def unreadable(path: Path, error: OSError) -> DataFileError:
    """Build the error for a file that the system cannot read."""
    why = os.strerror(error.errno) if error.errno else "the file is damaged"
    return DataFileError.at(path, f"cannot be read: {why}.", "Check the path.")


def unknown_ending(path: Path, endings: Sequence[str]) -> DataFileError:
    """Build the error for a file of another format."""
    what = "has an unsupported extension."
    return DataFileError.at(path, what, f"Supported extensions: {', '.join(endings)}.")


def no_match(pattern: Path) -> DataFileError:
    """Build the error for a pattern without matches."""
    return DataFileError(f"No file matches {pattern}. Check the pattern and its folder.", path=pattern)


def no_files(folder: Path, endings: Sequence[str]) -> DataFileError:
    """Build the error for a folder without data files."""
    what = f"contains no files with the extension {', '.join(endings)}."
    named = folder if folder.name else folder.resolve()
    return DataFileError.at(named, what, "Specify another folder, or files in its subfolders as **/*.parquet.")


def empty(path: Path) -> DataFileError:
    """Build the error for an empty file."""
    return DataFileError.at(path, "is empty.", "Specify a file with named columns and at least one record.")


def no_records(path: Path, name: str, kind: str = "file") -> DataFileError:
    """Build the error for data without records."""
    return DataFileError(f"{name} has columns but no records. Specify a {kind} with at least one record.", path=path)


def not_utf8(path: Path) -> DataFileError:
    """Build the error for text in another encoding."""
    return DataFileError.at(path, "is not text in UTF-8.", "Save it as UTF-8.")


def undecodable(path: Path, encoding: str, place: tuple[int, int] | None) -> DataFileError:
    """Build the error for a CSV file in another encoding, with the first undecodable byte and its line."""
    where = f": byte {place[0]:,}, in line {place[1]:,}, cannot be decoded" if place else ""
    name = "UTF-8" if encoding == "utf-8" else encoding
    todo = "Save it as UTF-8, or specify its encoding with --encoding, such as latin-1 or cp1252."
    return DataFileError.at(path, f"is not text in {name}{where}.", todo)


def bad_csv(path: Path) -> DataFileError:
    """Build the error for CSV that cannot be split into fields."""
    return DataFileError.at(path, "cannot be read as CSV.", "Check its quotes, or use a Parquet file.")


def bad_record(path: Path, number: int, fields: int, wanted: int) -> DataFileError:
    """Build the error for a CSV record with too few or too many fields."""
    what = f"has {fields} fields instead of {wanted} in record {number} after the header."
    return DataFileError.at(path, what, 'Correct the record; values that contain a delimiter need "quotes".')


def open_quote(path: Path) -> DataFileError:
    """Build the error for a CSV file with an open quote."""
    what = "ends inside an open quote, which may contain records."
    return DataFileError.at(path, what, 'Close the quote; write a quote inside quotes as "".')


def bad_gzip(path: Path) -> DataFileError:
    """Build the error for a file that cannot be decompressed."""
    return DataFileError.at(path, "is not a gzip file, or it is damaged.", "Compress it again, or decompress it.")


def bad_parquet(path: Path) -> DataFileError:
    """Build the error for an invalid Parquet file."""
    return DataFileError.at(path, "is not a Parquet file, or it is damaged.", "Write it again, or use a CSV file.")


def bad_frame(path: Path, where: str) -> DataFileError:
    """Build the error for a data frame that cannot be converted to Arrow."""
    what = f"cannot be converted to an Arrow table{where}."
    return DataFileError.at(path, what, "Use a single type in every column, or save the data as Parquet.")


def mixed_kinds(path: Path, kind: str, first: Path, first_kind: str) -> DataFileError:
    """Build the error for files of different formats, which often contain the same data."""
    return DataFileError.at(path, f"is {kind}, but {first.name} is {first_kind}.", "Specify files of one format.")


def given_twice(path: Path) -> DataFileError:
    """Build the error for a file whose records would be counted twice."""
    return DataFileError.at(path, "is specified twice.", "Specify every file once; a link counts as its target.")


def lacks_column(path: Path, lacking: Sequence[str], other: Path, columns: Sequence[str]) -> DataFileError:
    """Build the error for files with different columns; `columns` are those of the other file."""
    hidden = may_be_record(columns)
    which = f"that {other.name} has{NUMBERED}" if hidden else f"{lacking[0]!r}, but {other.name} has"
    what = f"has no column {which}."
    return DataFileError.at(path, what, "Specify files with the same columns.")


def changed(path: Path) -> DataFileError:
    """Build the error for a file that changed after it was opened."""
    return DataFileError.at(path, "changed while it was in use.", "Wait until it is written, and repeat the command.")


def check_names(path: Path, names: Sequence[str], kind: str = "file") -> None:
    """Refuse data without columns, or with duplicate column names."""
    if not names:
        raise DataFileError.at(path, "has no columns.", f"Specify a {kind} with a name for every column.")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        named = f"named {twice[0]!r}" if not may_be_record(names) else f"with the same name{NUMBERED}"
        raise DataFileError.at(path, f"has two columns {named}.", "Use a unique name for every column.")


def check_requested(name: str, asked: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse columns that do not exist."""
    known = set(columns)
    for column in asked:
        if column not in known:
            raise UnknownNameError.column(f"column of {name}", column, columns)
