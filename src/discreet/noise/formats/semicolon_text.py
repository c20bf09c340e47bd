"""The text files that ptable exports for tau-Argus and SAS: semicolons, eight decimals, padded columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from discreet.errors import PTableFileError
from discreet.noise.formats.fields import header, on_grid, records, whole_number
from discreet.noise.formats.pieces import (
    DECIMALS,
    Piece,
    assemble,
    check_target,
    refuse_what_others_cannot_hold,
)
from discreet.noise.formats.registry import PTableFormat, register

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.ptable import PTable

TYPE = "type"


class SemicolonText(PTableFormat):
    """Lines in key order; the upper bound of an interval is exclusive, the lower one is the upper one before."""

    columns: ClassVar[tuple[str, ...]]
    grids = (DECIMALS,)

    def recognises(self, text: str) -> bool:
        """Say whether the header has these columns, with or without the column type."""
        names = header(text)
        return tuple(names) == self.columns or (names[-1:] == ["type"] and tuple(names[:-1]) == self.columns)

    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table; its key space is 10^8.

        The slot pTable of the R package has a last column type, which is `all` for counts.
        """
        typed = header(text)[-1] == TYPE
        columns = (*self.columns, TYPE) if typed else self.columns
        pieces: list[Piece] = []
        for where, fields in records(text.replace('"', ""), path, columns, ";"):
            named = dict(zip(columns, fields, strict=True))
            if typed:
                _check_counts(path, where, named)
            i, j, v = (whole_number(path, where, name, named[name]) for name in ("i", "j", "v"))
            check_target(path, where, i, j, v)
            upper = on_grid(path, where, "p_int_ub", named["p_int_ub"], DECIMALS)
            before = pieces[-1].upper if pieces and pieces[-1].i == i else 0
            lower = on_grid(path, where, "p_int_lb", named["p_int_lb"], DECIMALS) if "p_int_lb" in named else before
            p = on_grid(path, where, "p", named["p"], DECIMALS)
            if p != upper - lower:
                what = f"row i = {i}, v = {v}: p is {_eight(p)}, but the interval is {_eight(upper - lower)} wide."
                todo = "Intervals that overlap, or a wrong p: make p and the interval agree."
                raise PTableFileError.at(path, where, what, todo)
            pieces.append(Piece(where, i, v, p / DECIMALS, lower, upper))
        return assemble(pieces, path, key_space=DECIMALS)

    def write(self, ptable: PTable, path: Path) -> str:
        """Return the file as ptable writes it, every column padded to its widest field."""
        refuse_what_others_cannot_hold(ptable, path, self.name)
        columns = {name: [self._field(name, record) for record in ptable.records()] for name in self.columns}
        padded = [[text.rjust(max(map(len, column))) for text in column] for column in columns.values()]
        return "\n".join([";".join(self.columns), *(";".join(line) for line in zip(*padded, strict=True))]) + "\n"

    @staticmethod
    def _field(name: str, record: dict[str, float]) -> str:
        lower, upper = int(record["lower"]), int(record["upper"])
        grid = {"p": upper - lower, "p_int_lb": lower, "p_int_ub": upper}
        return _eight(grid[name]) if name in grid else str(record[name])


def _check_counts(path: Path, where: str, named: dict[str, str]) -> None:
    """Refuse a p-table for magnitudes: rows for even or odd counts alone, or changes with decimals."""
    if named[TYPE] != "all" or "." in named["j"] + named["v"]:
        what = f"is a p-table for magnitudes (column {TYPE} is not all, or changes have decimals)."
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
