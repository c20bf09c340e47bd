"""p-tables in delimited text: our CSV, tau-Argus, SAS and the ONS look-up table.

- Our CSV: `i,j,v,p,lower,upper`, p before rounding, [lower, upper) the keys of the interval.
- tau-Argus and SAS, as ptable exports them: semicolons, eight decimals, padded columns; and the output of R's own
  functions for the same table: columns in any order, any separator, quoted names, row names, decimal commas, 17
  digits.
- ONS: the full look-up of its cell key tools, one line per count and key, `pcv,ckey,pvalue`. Counts up to 750 have
  their own row (pcv); to larger counts rows 501 to 750 apply in turn. Zeros have no row: empty cells stay empty.

Errors in header, delimiter and numbers state the line.
"""

from __future__ import annotations

import csv
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.errors import PTableFileError
from discreet.noise.formats.ptable_format import (
    DECIMALS,
    LARGEST_NOISE,
    KeyInterval,
    PTableFormat,
    assemble,
    check_portable,
    check_target,
    refuse_turns,
    register,
)
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.rounded import RoundedRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from discreet.arrays import Ints

OLDER_NAMES = {"kum_p_u": "p_int_lb", "kum_p_o": "p_int_ub"}
"""Names of the ends of an interval in versions of the R package."""
LAST_DIGITS = 1e-6
"""Tolerance in steps of the grid, above the error of numbers with 17 digits."""
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def header(text: str) -> list[str]:
    """Return the names in the first line, with any delimiter."""
    first = text.lstrip().splitlines()[0]
    return [name.strip().strip('"') for name in re.split(r"[,;\t|]" if re.search(r"[,;\t|]", first) else " ", first)]


def records(text: str, path: Path, columns: Sequence[str], delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the position and the fields of every line after the header; raise an error for a malformed line."""
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


def named_records(text: str, path: Path, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the position and the fields by name of every line after the header; columns may be in any order.

    Names may be quoted. A first column without a name contains the names of rows; R's `write.table` omits its header.
    Decimal commas are accepted if the comma does not separate fields.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    numbers = [number for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    mark = next((mark for mark in (";", "\t", "|", ",") if mark in lines[0]), " ")
    rows = [_fields(path, f"line {number}", line, mark) for number, line in zip(numbers, lines, strict=True)]
    names = [OLDER_NAMES.get(name.strip(), name.strip()) for name in rows[0]]
    if missing := [name for name in needed if name not in names]:
        what = f"column {missing[0]} is missing."
        raise PTableFileError.at(path, f"line {numbers[0]}", what, f"Expected the columns {', '.join(needed)}.")
    named = all(len(row) == len(names) + 1 for row in rows[1:])
    for number, row in zip(numbers[1:], rows[1:], strict=True):
        fields = row[1:] if named else row
        if len(fields) != len(names):
            what = f"{len(fields)} fields where {len(names)} are expected ({mark.join(names)})."
            raise PTableFileError.at(path, f"line {number}", what, "Complete or remove the line.")
        plain = [field.strip().replace(",", ".") if mark != "," else field.strip() for field in fields]
        yield f"line {number}", dict(zip(names, plain, strict=True))


def _fields(path: Path, where: str, line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=mark, skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise PTableFileError.at(path, where, f"cannot be read as fields ({error}).", "Correct the line.") from error


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
    """Return a decimal share as a whole number of grid steps, with a tolerance for the last of 17 digits."""
    steps = _decimal(path, where, name, text) * grid
    if abs(steps - round(steps)) > LAST_DIGITS:
        raise _no_number(path, where, name, text, f"a multiple of {1 / grid:g}")
    return round(steps)


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


ONS_COLUMNS = ("pcv", "ckey", "pvalue")
LAST_ROW = 750
TURNS = 250
MOST_KEYS = 1 << 16
PLAIN = re.compile(r"(-?\d+,-?\d+,-?\d+\r?\n)*(-?\d+,-?\d+,-?\d+)?")


@register
class OnsLookup(PTableFormat):
    """Keys from 0 to 255 or to 4095."""

    name = "ons"
    layout = ",".join(ONS_COLUMNS)
    grids = (256, 4096)

    def recognises(self, text: str) -> bool:
        """Return whether the header has the ONS columns."""
        return set(header(text)) >= {"pcv", "ckey"}

    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table; equal rows at the end become one row for all larger counts."""
        table = _matrix(text, path)
        rows = [_row(0, np.zeros(table.shape[1], dtype=np.int64))]
        rows += [_row(pcv, noise) for pcv, noise in enumerate(table, start=1)]
        turning = {row.pieces for row in rows[-TURNS:]}
        if len(turning) > 1:
            return PTable(tuple(rows), table.shape[1], TURNS)
        while len(rows) > 1 and rows[-2].pieces == rows[-1].pieces and rows[-2].count > 0:
            rows.pop()
        return PTable(tuple(rows), table.shape[1])

    def write(self, ptable: PTable, path: Path) -> str:
        """Return one line per count from 1 to 750 and key."""
        if ptable.repeat == 1:
            check_portable(ptable, path, self.name)
        elif (ptable.repeat, len(ptable.rows)) != (TURNS, LAST_ROW + 1):
            refuse_turns(ptable, path, self.name)
        if len(ptable.rows) > LAST_ROW + 1:
            what = f"the format has rows up to {LAST_ROW}, but this table has rows up to {len(ptable.rows) - 1}."
            raise PTableFileError.at(path, "", what, "Use a smaller bound.")
        number = ptable.row_numbers(np.arange(1, LAST_ROW + 1))
        noise = [np.repeat(row.values, row.weights) for row in ptable.rounded]
        lines = [",".join(ONS_COLUMNS)]
        for pcv, row in enumerate(number.tolist(), start=1):
            lines += [f"{pcv},{key},{value}" for key, value in enumerate(noise[row].tolist())]
        return "\n".join(lines) + "\n"


def _matrix(text: str, path: Path) -> Ints:
    """Return the noise by count and key; raise an error for missing and repeated entries."""
    lines = _plain_lines(text)
    if lines is None:
        lines = _checked_lines(text, path)
    if not len(lines):
        raise PTableFileError.at(path, "", "has a header but no rows.", "Give the whole p-table.")
    pcv, key, noise = lines.T
    if key.max() >= MOST_KEYS or np.abs(noise).max() > LARGEST_NOISE:
        what = f"a ckey is {MOST_KEYS} or more, or a pvalue beyond {LARGEST_NOISE}."
        raise PTableFileError.at(path, "", what, "The ONS tools have 256 or 4096 keys.")
    if pcv.min() < 1 or key.min() < 0:
        raise PTableFileError.at(path, "", "pcv must be at least 1 and ckey at least 0.", "Remove smaller ones.")
    missing = sorted(set(range(1, LAST_ROW + 1)) - set(pcv.tolist()))
    if missing or pcv.max() > LAST_ROW:
        what = f"row pcv = {missing[0]} is missing." if missing else f"a row has a pcv above {LAST_ROW}."
        todo = f"The ONS tools use rows 1 to {LAST_ROW} and add no noise for a missing row. Complete the file."
        raise PTableFileError.at(path, "", what, todo)
    keys = int(key.max()) + 1
    _check_each_key_once(path, pcv, key, keys)
    table = np.zeros((LAST_ROW, keys), dtype=np.int64)
    table[pcv - 1, key] = noise
    return table


def _plain_lines(text: str) -> Ints | None:
    """Return the numbers of a file with only numbers by a fast reader; None for any other file."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    first, _, body = text.partition("\n")
    if first.strip() != ",".join(ONS_COLUMNS) or not PLAIN.fullmatch(body):
        return None
    types = dict.fromkeys(ONS_COLUMNS, pa.int64())
    try:
        found = arrow_csv.read_csv(
            pa.BufferReader(body.encode()),
            read_options=arrow_csv.ReadOptions(column_names=list(ONS_COLUMNS), use_threads=False),
            convert_options=arrow_csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    return np.stack([found[name].to_numpy() for name in ONS_COLUMNS], axis=1)


def _checked_lines(text: str, path: Path) -> Ints:
    """Return the numbers line by line; raise an error with the line of a non-number. Huge numbers are clipped."""
    lines = [
        [whole_number(path, where, name, field) for name, field in zip(ONS_COLUMNS, fields, strict=True)]
        for where, fields in records(text, path, ONS_COLUMNS, ",")
    ]
    largest = np.iinfo(np.int64).max
    cut = [[max(min(number, largest), -largest) for number in line] for line in lines]
    return np.array(cut, dtype=np.int64).reshape(len(lines), len(ONS_COLUMNS))


def _check_each_key_once(path: Path, pcv: Ints, key: Ints, keys: int) -> None:
    times = np.zeros((LAST_ROW, keys), dtype=np.int64)
    np.add.at(times, (pcv - 1, key), 1)
    wrong = np.argwhere(times != 1)
    if len(wrong):
        row, column = wrong[0]
        kind = "missing" if times[row, column] == 0 else "given more than once"
        what = f"row pcv = {row + 1}: ckey = {column} is {kind}."
        raise PTableFileError.at(path, "", what, f"Every row needs the keys 0 to {keys - 1} once each.")


def _row(count: int, noise: Ints) -> PTableRow:
    """Return a row of runs of equal noise."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(noise)) + 1])
    values = tuple(noise[starts].tolist())
    weights = tuple(np.diff(np.append(starts, len(noise))).tolist())
    return PTableRow(count, values, tuple(w / len(noise) for w in weights), RoundedRow(values, weights))


COLUMNS = ("i", "j", "v", "p", "lower", "upper")


@register
class DiscreetCsv(PTableFormat):
    """The key space is the upper key at which every row ends."""

    name = "csv"
    layout = ",".join(COLUMNS)
    suffixes = (".csv",)

    def recognises(self, text: str) -> bool:
        """Return whether the header has our columns, with any delimiter."""
        return {"i", "lower", "upper"} <= set(header(text))

    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table."""
        pieces = []
        for where, fields in records(text, path, COLUMNS, ","):
            i, j, v, lower, upper = (whole_number(path, where, COLUMNS[k], fields[k]) for k in (0, 1, 2, 4, 5))
            check_target(path, where, i, j, v)
            pieces.append(KeyInterval(where, i, v, probability(path, where, "p", fields[3]), lower, upper))
        return assemble(pieces, path)

    def write(self, ptable: PTable, path: Path) -> str:
        """Return one line per interval."""
        refuse_turns(ptable, path, self.name)
        lines = [",".join(COLUMNS)]
        lines += [",".join(str(row[name]) for name in COLUMNS) for row in ptable.records()]
        return "\n".join(lines) + "\n"


TYPE, COUNT_TYPES = "type", {"all", "freqs"}


class SemicolonText(PTableFormat):
    """Lines in key order; the upper end of an interval is exclusive and is the lower end of the next."""

    columns: ClassVar[tuple[str, ...]]
    grids = (DECIMALS,)

    def recognises(self, text: str) -> bool:
        """Return whether the header contains these columns, in any order."""
        names = {OLDER_NAMES.get(name, name) for name in header(text)}
        return names >= set(self.columns) and ("p_int_lb" in self.columns or "p_int_lb" not in names)

    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table; its key space is 10^8.

        The slot pTable of the R package has a column type, which is `all` or `freqs` for counts.
        """
        pieces: list[KeyInterval] = []
        for where, named in named_records(text, path, self.columns):
            _check_counts(path, where, named)
            i, j, v = (whole_number(path, where, name, named[name]) for name in ("i", "j", "v"))
            check_target(path, where, i, j, v)
            upper = on_grid(path, where, "p_int_ub", named["p_int_ub"], DECIMALS)
            before = pieces[-1].upper if pieces and pieces[-1].i == i else 0
            lower = on_grid(path, where, "p_int_lb", named["p_int_lb"], DECIMALS) if "p_int_lb" in named else before
            p = on_grid(path, where, "p", named["p"], DECIMALS)
            if p != upper - lower:
                what = f"row i = {i}, v = {v}: p is {_eight(p)}, but the interval is {_eight(upper - lower)} wide."
                todo = "Correct p or the interval; intervals must not overlap."
                raise PTableFileError.at(path, where, what, todo)
            pieces.append(KeyInterval(where, i, v, p / DECIMALS, lower, upper))
        return assemble(pieces, path, key_space=DECIMALS)

    def write(self, ptable: PTable, path: Path) -> str:
        """Return the file as ptable writes it, every column padded to its widest field."""
        check_portable(ptable, path, self.name)
        columns = {name: [self._field(name, record) for record in ptable.records()] for name in self.columns}
        padded = [[text.rjust(max(map(len, column))) for text in column] for column in columns.values()]
        return "\n".join([";".join(self.columns), *(";".join(line) for line in zip(*padded, strict=True))]) + "\n"

    @staticmethod
    def _field(name: str, record: dict[str, float]) -> str:
        lower, upper = int(record["lower"]), int(record["upper"])
        grid = {"p": upper - lower, "p_int_lb": lower, "p_int_ub": upper}
        return _eight(grid[name]) if name in grid else str(record[name])


def _check_counts(path: Path, where: str, named: dict[str, str]) -> None:
    """Raise an error for a p-table for magnitudes: rows only for even or odd counts, or changes with decimals."""
    if named.get(TYPE, "all") not in COUNT_TYPES or "." in named["j"] + named["v"]:
        what = f"is a p-table for magnitudes (column {TYPE} is neither all nor freqs, or changes have decimals)."
        raise PTableFileError.at(path, where, what, "Give a p-table for counts.")


def _eight(steps: int) -> str:
    """Return steps of 10^-8 with all eight decimals."""
    return f"{steps // DECIMALS}.{steps % DECIMALS:08d}" if steps >= 0 else f"-{_eight(-steps)}"


@register
class TauArgus(SemicolonText):
    """The layout for tau-Argus, without lower bounds."""

    name = "tauargus"
    columns = ("i", "j", "p", "v", "p_int_ub")
    layout = ";".join(columns)


@register
class Sas(SemicolonText):
    """The layout for SAS, with lower bounds."""

    name = "sas"
    columns = ("i", "j", "p", "v", "p_int_lb", "p_int_ub")
    layout = ";".join(columns)
