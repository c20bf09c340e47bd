"""The full look-up of the ONS cell key tools: one line per count and key, `pcv,ckey,pvalue`.

Counts up to 750 have their own row (pcv); above, rows 501 to 750 take turns. The
tools know no row for zeros: empty cells stay empty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import PTableFileError
from discreet.noise.formats.fields import header, records, whole_number
from discreet.noise.formats.pieces import LARGEST_NOISE, refuse_turns, refuse_what_others_cannot_hold
from discreet.noise.formats.registry import PTableFormat, register
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.rounded import RoundedRow

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.arrays import Ints

COLUMNS = ("pcv", "ckey", "pvalue")
LAST_ROW = 750
TURNS = 250
MOST_KEYS = 1 << 16
PLAIN = re.compile(r"(-?\d+,-?\d+,-?\d+\r?\n)*(-?\d+,-?\d+,-?\d+)?")


@register
class Ons(PTableFormat):
    """Keys from 0 to 255 or to 4095."""

    name = "ons"
    layout = ",".join(COLUMNS)
    grids = (256, 4096)

    def recognises(self, text: str) -> bool:
        """Say whether the header has the ONS columns."""
        return set(header(text)) >= {"pcv", "ckey"}

    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table; trailing rows that are all alike become one row for all larger counts."""
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
            refuse_what_others_cannot_hold(ptable, path, self.name)
        elif (ptable.repeat, len(ptable.rows)) != (TURNS, LAST_ROW + 1):
            refuse_turns(ptable, path, self.name)
        if len(ptable.rows) > LAST_ROW + 1:
            what = f"the format has rows up to {LAST_ROW}, this table up to {len(ptable.rows) - 1}."
            raise PTableFileError.at(path, "", what, "Use a smaller bound.")
        number = ptable.row_numbers(np.arange(1, LAST_ROW + 1))
        noise = [np.repeat(row.values, row.weights) for row in ptable.rounded]
        lines = [",".join(COLUMNS)]
        for pcv, row in enumerate(number.tolist(), start=1):
            lines += [f"{pcv},{key},{value}" for key, value in enumerate(noise[row].tolist())]
        return "\n".join(lines) + "\n"


def _matrix(text: str, path: Path) -> Ints:
    """Return the noise by count and key, or refuse what is missing or given twice."""
    lines = _plain_lines(text)
    if lines is None:
        lines = _checked_lines(text, path)
    if not len(lines):
        raise PTableFileError.at(path, "", "holds a header but no rows.", "Give the whole p-table.")
    pcv, key, noise = lines.T
    if key.max() >= MOST_KEYS or np.abs(noise).max() > LARGEST_NOISE:
        what = f"a ckey is {MOST_KEYS} or more, or a pvalue beyond {LARGEST_NOISE}."
        raise PTableFileError.at(path, "", what, "The ONS tools have 256 or 4096 keys.")
    if pcv.min() < 1 or key.min() < 0:
        raise PTableFileError.at(path, "", "pcv starts at 1 and ckey at 0; smaller ones are given.", "Remove them.")
    missing = sorted(set(range(1, LAST_ROW + 1)) - set(pcv.tolist()))
    if missing or pcv.max() > LAST_ROW:
        what = f"row pcv = {missing[0]} is missing." if missing else f"a row has a pcv above {LAST_ROW}."
        todo = f"The ONS tools look up rows 1 to {LAST_ROW} and add no noise for a missing one: complete the file."
        raise PTableFileError.at(path, "", what, todo)
    keys = int(key.max()) + 1
    _check_each_key_once(path, pcv, key, keys)
    table = np.zeros((LAST_ROW, keys), dtype=np.int64)
    table[pcv - 1, key] = noise
    return table


def _plain_lines(text: str) -> Ints | None:
    """Return the numbers of a file that holds nothing else, millions of them in a moment; None of any other."""
    import pyarrow as pa
    from pyarrow import csv

    first, _, body = text.partition("\n")
    if first.strip() != ",".join(COLUMNS) or not PLAIN.fullmatch(body):
        return None
    types = dict.fromkeys(COLUMNS, pa.int64())
    try:
        found = csv.read_csv(
            pa.BufferReader(body.encode()),
            read_options=csv.ReadOptions(column_names=list(COLUMNS), use_threads=False),
            convert_options=csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    return np.stack([found[name].to_numpy() for name in COLUMNS], axis=1)


def _checked_lines(text: str, path: Path) -> Ints:
    """Return the numbers line by line, or refuse what is none, with its line; numbers beyond all use are cut."""
    lines = [
        [whole_number(path, where, name, field) for name, field in zip(COLUMNS, fields, strict=True)]
        for where, fields in records(text, path, COLUMNS, ",")
    ]
    largest = np.iinfo(np.int64).max
    cut = [[max(min(number, largest), -largest) for number in line] for line in lines]
    return np.array(cut, dtype=np.int64).reshape(len(lines), len(COLUMNS))


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
