"""The fields of delimited p-table files: header, delimiter and numbers, with errors that name the line."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from discreet.errors import PTableFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def header(text: str) -> list[str]:
    """Return the names in the first line, whatever separates them."""
    first = text.lstrip().splitlines()[0]
    return [name.strip().strip('"') for name in re.split(r"[,;\t|]", first)]


def records(text: str, path: Path, columns: Sequence[str], delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the fields of every line after the header, or refuse the first malformed one."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    number, first = lines[0]
    if first.split(delimiter) != list(columns):
        raise _wrong_header(path, f"line {number}", first, columns, delimiter)
    for number, line in lines[1:]:
        fields = [field.strip() for field in line.split(delimiter)]
        if len(fields) != len(columns):
            what = f"{len(fields)} fields where {len(columns)} are expected ({delimiter.join(columns)})."
            raise PTableFileError.at(path, f"line {number}", what, "Complete or remove the line.")
        yield f"line {number}", fields


def _wrong_header(path: Path, where: str, line: str, columns: Sequence[str], delimiter: str) -> PTableFileError:
    found = next((name for mark, name in DELIMITERS.items() if mark in line and mark != delimiter), None)
    wanted = f"Expected the header {delimiter.join(columns)}"
    if header(line) == list(columns) and found:
        what = f"columns are separated by a {found} instead of a {DELIMITERS[delimiter]}."
        return PTableFileError.at(path, where, what, f"{wanted}.")
    missing = [name for name in columns if name not in header(line)]
    what = f"column {missing[0]} is missing." if missing else f"unexpected columns in {line[:60]!r}."
    return PTableFileError.at(path, where, what, f"{wanted}.")


def whole_number(path: Path, where: str, name: str, text: str) -> int:
    """Return a field as a whole number."""
    if not re.fullmatch(r"[+-]?\d{1,20}", text, re.ASCII):
        raise _no_number(path, where, name, text, "a whole number")
    return int(text)


def probability(path: Path, where: str, name: str, text: str) -> float:
    """Return a field as a number from 0 to 1."""
    return float(_decimal(path, where, name, text))


def on_grid(path: Path, where: str, name: str, text: str, grid: int) -> int:
    """Return a decimal share as the whole number of grid steps it stands for."""
    steps = _decimal(path, where, name, text) * grid
    if steps != int(steps):
        raise _no_number(path, where, name, text, f"a multiple of {1 / grid:g}")
    return int(steps)


def _decimal(path: Path, where: str, name: str, text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise _no_number(path, where, name, text, "a number from 0 to 1") from None
    if not (number.is_finite() and 0 <= number <= 1):
        raise _no_number(path, where, name, text, "a number from 0 to 1")
    return number


def _no_number(path: Path, where: str, name: str, text: str, wanted: str) -> PTableFileError:
    return PTableFileError.at(path, where, f"{name} is {text[:30]!r}, not {wanted}.", "Correct the field.")
