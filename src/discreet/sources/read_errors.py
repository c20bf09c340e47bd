"""What is said of data that cannot be read: what is wrong, where, and what to do, but never a value."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from discreet.errors import DataFileError, InputError, UnknownNameError, may_be_record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ACCEPTED = (
    "Give the path of a .parquet, .csv or .csv.gz file, a folder of such files, a pattern such as census/*.parquet, "
    "a list of paths, a table of a database such as census.duckdb#persons, an Arrow table, or a data frame "
    "of pandas or polars."
)
NUMBERED = " (some names are numbers: is its first line a record?)"
"""In place of a name that may be the value of a record, in a file without a header line."""


def not_data(what: str) -> InputError:
    """Build the error for what is neither a path nor a frame."""
    return InputError(f"Data cannot be read from {what}. {ACCEPTED}")


def unreadable(path: Path, error: OSError) -> DataFileError:
    """Build the error for a file that the system does not let us read."""
    why = os.strerror(error.errno) if error.errno else "the file is damaged"
    return DataFileError.at(path, f"cannot be read: {why}.", "Check the path.")


def unknown_ending(path: Path, endings: Sequence[str]) -> DataFileError:
    """Build the error for a file of another kind."""
    what = "has an ending that stands for no data file we can read."
    return DataFileError.at(path, what, f"Give a file that ends in {', '.join(endings)}.")


def no_match(pattern: Path) -> DataFileError:
    """Build the error for a pattern that no file has."""
    return DataFileError(f"No file matches {pattern}. Check the pattern and the folder it starts from.", path=pattern)


def no_files(folder: Path, endings: Sequence[str]) -> DataFileError:
    """Build the error for a folder without data files."""
    what = f"holds no files that end in {', '.join(endings)}."
    named = folder if folder.name else folder.resolve()
    return DataFileError.at(named, what, "Give another folder; files in folders inside it are given as **/*.parquet.")


def empty(path: Path) -> DataFileError:
    """Build the error for a file without bytes."""
    return DataFileError.at(path, "is empty.", "Give a file with named columns and at least one record.")


def no_records(path: Path, name: str, kind: str = "file") -> DataFileError:
    """Build the error for data with columns only."""
    return DataFileError(f"{name} has columns but no records. Give a {kind} with at least one record.", path=path)


def not_utf8(path: Path) -> DataFileError:
    """Build the error for text of another encoding."""
    return DataFileError.at(path, "is not text in UTF-8.", "Save it as UTF-8.")


def undecodable(path: Path, encoding: str, place: tuple[int, int] | None) -> DataFileError:
    """Build the error for a CSV file in another encoding, with the first byte and line that are not text in it."""
    where = f": byte {place[0]:,}, in line {place[1]:,}, cannot be decoded" if place else ""
    name = "UTF-8" if encoding == "utf-8" else encoding
    todo = "Save it as UTF-8, or name its encoding with --encoding, such as latin-1 or cp1252."
    return DataFileError.at(path, f"is not text in {name}{where}.", todo)


def bad_csv(path: Path) -> DataFileError:
    """Build the error for CSV that cannot be split into fields."""
    return DataFileError.at(path, "cannot be read as CSV.", "Check its quotes, or give a Parquet file.")


def bad_record(path: Path, number: int, fields: int, wanted: int) -> DataFileError:
    """Build the error for a record of CSV with too few or too many fields."""
    what = f"has {fields} fields instead of {wanted} in record {number} below the header."
    return DataFileError.at(path, what, 'Correct the record; a value with a delimiter in it stands in "quotes".')


def open_quote(path: Path) -> DataFileError:
    """Build the error for CSV whose last value does not end."""
    what = "ends inside a quote, which may have swallowed records."
    return DataFileError.at(path, what, 'Close the quote; inside quotes a quote is written "".')


def bad_gzip(path: Path) -> DataFileError:
    """Build the error for a compressed file that cannot be unpacked."""
    return DataFileError.at(path, "is not gzipped, or it is damaged.", "Compress it again, or give it uncompressed.")


def bad_parquet(path: Path) -> DataFileError:
    """Build the error for Parquet that cannot be decoded."""
    return DataFileError.at(path, "is no Parquet file, or it is damaged.", "Write it again, or give a CSV file.")


def bad_frame(path: Path, where: str) -> DataFileError:
    """Build the error for a frame that its library does not pass on."""
    what = f"cannot be taken over as an Arrow table{where}."
    return DataFileError.at(path, what, "Give every column one type, or save the data as Parquet.")


def mixed_kinds(path: Path, kind: str, first: Path, first_kind: str) -> DataFileError:
    """Build the error for CSV among Parquet, often the same data twice."""
    return DataFileError.at(path, f"is {kind}, but {first.name} is {first_kind}.", "Give files of one kind.")


def given_twice(path: Path) -> DataFileError:
    """Build the error for a file whose records would count twice."""
    return DataFileError.at(path, "is given twice.", "Name every file once; links to it count as the file.")


def lacks_column(path: Path, lacking: Sequence[str], other: Path, columns: Sequence[str]) -> DataFileError:
    """Build the error for files that do not belong together; the columns are those of the other one."""
    hidden = may_be_record(columns)
    which = f"that {other.name} has{NUMBERED}" if hidden else f"{lacking[0]!r}, but {other.name} has"
    what = f"has no column {which}."
    return DataFileError.at(path, what, "Give files with the same columns.")


def changed(path: Path) -> DataFileError:
    """Build the error for a file that is not what it was."""
    return DataFileError.at(path, "changed while it was in use.", "Wait until it is written, and start again.")


def check_names(path: Path, names: Sequence[str], kind: str = "file") -> None:
    """Refuse columns that cannot be told apart."""
    if not names:
        raise DataFileError.at(path, "has no columns.", f"Give a {kind} with a name for every column.")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        named = f"named {twice[0]!r}" if not may_be_record(names) else f"of one name{NUMBERED}"
        raise DataFileError.at(path, f"has two columns {named}.", "Give every column its own name.")


def check_asked(name: str, asked: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse to read a column that is not there."""
    known = set(columns)
    for column in asked:
        if column not in known:
            raise UnknownNameError.column(f"column of {name}", column, columns)
