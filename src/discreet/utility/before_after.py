"""One small table before and after: true and published counts, and totals that are no longer the sums of parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import UnknownNameError
from discreet.programme.published import TOTAL, VALUE
from discreet.programme.words import category_words, topic_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from discreet.programme.model import Breakdown, Table
    from discreet.release.release import Release


@dataclass(frozen=True)
class Cell:
    """One count; of a total also what its published parts add up to, along the row and along the column."""

    true: int
    published: int
    across: int | None = None
    down: int | None = None

    @property
    def apart(self) -> bool:
        """Say whether the published parts of a total add up to something else."""
        return any(parts is not None and parts != self.published for parts in (self.across, self.down))


@dataclass(frozen=True)
class BeforeAfter:
    """Rows and columns in words, the total last, and the cells.

    Attributes:
        table: the table of the release it was taken from.
        place: the category it is about, as a code.
        by: the topics of rows and columns.
        rows: the categories of the rows.
        columns: the categories of the columns.
        cells: row by row.
    """

    table: str
    place: str
    by: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def total(self) -> Cell:
        """Return the count of the whole place."""
        return self.cells[-1][-1]

    @property
    def totals(self) -> tuple[Cell, ...]:
        """Return the cells that are totals."""
        return tuple(cell for row in self.cells for cell in row if cell.across is not None or cell.down is not None)

    @property
    def apart(self) -> int:
        """Return how many totals are not the sums of their published parts."""
        return sum(cell.apart for cell in self.totals)


def place_of_size(release: Release, table: str, breakdown: str, size: int) -> str:
    """Return the category of a breakdown's finest level whose true count is nearest to a size; of several the first."""
    among = _breakdown(release, table, breakdown)
    codes = among.levels[-1].codes or ()
    counts = _column(release.exact(table), breakdown, {b.code: TOTAL for b in _table(release, table).breakdowns})
    return min(codes, key=lambda code: abs(counts.get(code, 0) - size))


def before_after(release: Release, table: str, *, place: tuple[str, str], rows: str, columns: str) -> BeforeAfter:
    """Return the coarsest levels of two breakdowns for one category of a third.

    Args:
        release: a release whose true counts were kept.
        table: the id of a table.
        place: breakdown and code of the category that is shown.
        rows: the breakdown of the rows.
        columns: the breakdown of the columns.
    """
    fixed = {b.code: TOTAL for b in _table(release, table).breakdowns} | dict([place])
    down, across = (_breakdown(release, table, code) for code in (rows, columns))
    row_codes, column_codes = ((*(b.levels[0].codes or ()), TOTAL) for b in (down, across))
    true, published = (
        {code: _column(content, columns, fixed | {rows: code}) for code in row_codes}
        for content in (release.exact(table), release.table(table))
    )
    cells = []
    for row in row_codes:
        line = []
        for column in column_codes:
            sum_across = sum(published[row].get(code, 0) for code in column_codes[:-1])
            sum_down = sum(published[code].get(column, 0) for code in row_codes[:-1])
            line.append(
                Cell(
                    true[row].get(column, 0),
                    published[row].get(column, 0),
                    sum_across if column == TOTAL else None,
                    sum_down if row == TOTAL else None,
                )
            )
        cells.append(tuple(line))
    topics = [release.programme.topics[b.topic] for b in (down, across)]
    return BeforeAfter(
        table,
        place[1],
        (topic_words(topics[0]), topic_words(topics[1])),
        (*(category_words(topics[0], code) for code in row_codes[:-1]), "total"),
        (*(category_words(topics[1], code) for code in column_codes[:-1]), "total"),
        tuple(cells),
    )


def _table(release: Release, name: str) -> Table:
    found = {table.id: table for table in release.programme.tables}
    if name not in found:
        raise UnknownNameError.among("table of the release", name, found)
    return found[name]


def _breakdown(release: Release, table: str, code: str) -> Breakdown:
    found = {b.code: b for b in _table(release, table).breakdowns}
    if code not in found:
        raise UnknownNameError.among(f"breakdown of table {table}", code, found)
    return found[code]


def _column(table: pa.Table, breakdown: str, fixed: Mapping[str, str]) -> dict[str, int]:
    """Return the counts by the codes of one breakdown, where all others have the code that is fixed."""
    import pyarrow.compute as pc

    for name in table.column_names[:-1]:
        if name != breakdown:
            table = table.filter(pc.equal(table[name], fixed[name]))
    return dict(zip(table[breakdown].to_pylist(), table[VALUE].to_pylist(), strict=True))
