"""Our own CSV: `i,j,v,p,lower,upper`, p before rounding, [lower, upper) the keys of the interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.noise.formats.fields import header, probability, records, whole_number
from discreet.noise.formats.pieces import Piece, assemble, check_target, refuse_turns
from discreet.noise.formats.registry import PTableFormat, register

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.ptable import PTable

COLUMNS = ("i", "j", "v", "p", "lower", "upper")


@register
class OwnCsv(PTableFormat):
    """The key space is the upper key at which every row ends."""

    name = "csv"
    layout = ",".join(COLUMNS)
    suffixes = (".csv",)

    def recognises(self, text: str) -> bool:
        """Say whether the header has our columns, whatever separates them."""
        return {"i", "lower", "upper"} <= set(header(text))

    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table."""
        pieces = []
        for where, fields in records(text, path, COLUMNS, ","):
            i, j, v, lower, upper = (whole_number(path, where, COLUMNS[k], fields[k]) for k in (0, 1, 2, 4, 5))
            check_target(path, where, i, j, v)
            pieces.append(Piece(where, i, v, probability(path, where, "p", fields[3]), lower, upper))
        return assemble(pieces, path)

    def write(self, ptable: PTable, path: Path) -> str:
        """Return one line per interval."""
        refuse_turns(ptable, path, self.name)
        lines = [",".join(COLUMNS)]
        lines += [",".join(str(row[name]) for name in COLUMNS) for row in ptable.records()]
        return "\n".join(lines) + "\n"
