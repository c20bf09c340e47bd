"""Estimates of the cells, memory, disk space and time that `protect` needs, without running it.

The number of cells follows from the programme. The other estimates use rates measured on two cores
(benchmarks/protect.py); a machine twice as fast takes half as long.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.programme.model import Programme
from discreet.programme.programme_files import load_programme
from discreet.programme.regions import with_regions
from discreet.programme.selection import choose_tables
from discreet.protection.programme_checks import check_countable
from discreet.protection.record_loading import level_columns
from discreet.records.category_coding import columns_of_topics
from discreet.sources.source import open_source
from discreet.tabulation.cell_counts import DENSE_MOST
from discreet.tabulation.distinct_cells import programme_size
from discreet.tabulation.plan import plan as plan_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.sources.source import Source
    from discreet.tabulation.plan import Plan

SECONDS_PER_CODE = 6e-9
"""Time to code one value of one record."""
SECONDS_PER_ID = 0.8e-6
"""Time to derive one record key from an id, and to check that the id is unique."""
BYTES_PER_ID = 16
SECONDS_PER_GROUP = 8e-9
"""Time to assign one record to its group in one maximal table."""
SECONDS_PER_CELL = 12e-9
"""Time to aggregate one cell of a table and to look up its noise."""
SECONDS_PER_ROW = 120e-9
"""Time to write one row."""
SECONDS_PER_TABLE = 0.01
BYTES_PER_ROW = 2.5
"""Bytes of one row in a Parquet file."""
BYTES_PER_CELL = 12
BYTES_PER_ROW_IN_MEMORY = 60
BYTES_TO_START = 150_000_000
BYTES_PER_CSV_RECORD = 60
"""Assumed size of one record of a CSV file, whose number of records is unknown before it is read."""


@dataclass(frozen=True)
class RunEstimate:
    """Estimated resources of a run.

    Attributes:
        records: the number of records; if `guessed`, an estimate from the size of the file.
        guessed: whether the number of records is an estimate.
        tables: the number of tables to publish.
        maximal: the number of tables that are counted from the records; the others are aggregated from these.
        statistics: the number of distinct statistics.
        cells: the number of cells of these statistics, including empty cells.
        memory: the approximate memory in bytes.
        disk: the approximate maximum disk space in bytes.
        seconds: the approximate time in seconds.
    """

    records: int
    guessed: bool
    tables: int
    maximal: int
    statistics: int
    cells: int
    memory: int
    disk: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object."""
        return dict(vars(self))


def estimate(
    data: object,
    programme: Programme | str | Path,
    *,
    tables: Sequence[str] | None = None,
    unit: str | None = None,
    regions: Path | str | None = None,
    encoding: str | None = None,
    from_ids: bool = False,
) -> RunEstimate:
    """Return the estimated resources of `protect`; only the headers of the files are read.

    Args:
        data: as for protect.
        programme: as for protect.
        tables: as for protect.
        unit: as for protect.
        regions: as for protect.
        encoding: as for protect.
        from_ids: whether record keys are derived from ids; for many records this takes longer than all other steps.
    """
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    chosen = choose_tables(with_regions(spec, Path(regions)) if regions else spec, tables, unit)
    check_countable(chosen)
    with closing(open_source(data, encoding=encoding)) as source:
        bound = columns_of_topics(chosen, source.columns, source.name)
        records, guessed = _records(source)
    plans = [plan_tables(chosen, population) for population in chosen.populations.values()]
    widths = [1 if len(column.codes) < 1 << 8 else 2 for column in level_columns(chosen, "error").values()]
    maximal = sum(len(plan.maximal) for plan in plans)
    size = programme_size(chosen)
    # A record is in one cell of every combination of levels; levels with the same partition each publish the cell.
    shown = [
        min(table.cells, records * math.prod(len(column.levels) for column in table.columns))
        for plan in plans
        for table in plan.tables
    ]
    largest = max(_largest(plan) for plan in plans)
    return RunEstimate(
        records=records,
        guessed=guessed,
        tables=len(chosen.tables),
        maximal=maximal,
        statistics=size.statistics,
        cells=size.cells,
        memory=int(
            BYTES_TO_START
            + records * (sum(widths) + 4 + from_ids * BYTES_PER_ID)
            + largest * BYTES_PER_CELL
            + max(shown) * BYTES_PER_ROW_IN_MEMORY
        ),
        disk=int(sum(shown) * BYTES_PER_ROW),
        seconds=records * (len(bound) * SECONDS_PER_CODE + maximal * SECONDS_PER_GROUP + from_ids * SECONDS_PER_ID)
        + sum(table.cells for plan in plans for table in plan.tables) * SECONDS_PER_CELL
        + sum(shown) * SECONDS_PER_ROW
        + len(shown) * SECONDS_PER_TABLE,
    )


def _records(source: Source) -> tuple[int, bool]:
    if source.rows is not None:
        return source.rows, False
    return max(source.size // BYTES_PER_CSV_RECORD, 1), True


def _largest(plan: Plan) -> int:
    """Return the maximum number of cells in memory at one time: those of the largest table."""
    sizes = [sum(min(plan.size(statistic), DENSE_MOST) for statistic in table.statistics) for table in plan.tables]
    return max(sizes)
