"""Rows of small CSV files that belong to a programme, whichever delimiter their header has."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeFileError
from discreet.limits import read_named

if TYPE_CHECKING:
    from pathlib import Path

DELIMITERS = ",;\t|"


def csv_rows(path: Path, todo: str) -> list[dict[str, str]]:
    """Return the rows by column; the delimiter is the one that gives the header most columns.

    Args:
        path: the file.
        todo: what to do if it cannot be read.
    """
    try:
        data = read_named(path)
        text = data.decode("utf-8-sig")
        headers = {mark: next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), []) for mark in DELIMITERS}
        delimiter = max(headers, key=lambda mark: len(headers[mark]))
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except OSError as error:
        raise ProgrammeFileError.at(path, None, f"cannot be read: {error.strerror}.", todo) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start + 1:,} of the file is not text in UTF-8."
        raise ProgrammeFileError.at(path, line, what, "Save the file as UTF-8.") from error
    except csv.Error as error:
        raise ProgrammeFileError.at(path, None, "cannot be read as CSV.", todo) from error
