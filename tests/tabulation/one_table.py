"""One table of a programme, laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.tabulation.table_grid import population_grids

if TYPE_CHECKING:
    from discreet.programme.model import Programme
    from discreet.tabulation.table_grid import TableGrid


def table_grid(programme: Programme, table: str) -> TableGrid:
    """Return the layout of a table, by its id."""
    (grid,) = population_grids(programme, [each for each in programme.tables if each.id == table])
    return grid
