"""Cells that two sets of tables have in common: statistics of one name with the same codes, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Ints
    from discreet.tabulation.layout import Layout


@dataclass(frozen=True, eq=False)
class CommonCells:
    """Where the cells of common statistics stand in two layouts.

    Attributes:
        names: the statistics.
        statistic_of: for every cell the number of its statistic in `names`.
        first: its place in the first layout.
        second: its place in the second.
        first_tables: how many noises of its own every statistic shows in the first, 1 where all tables show one.
        second_tables: the same for the second.
    """

    names: tuple[str, ...]
    statistic_of: Ints
    first: Ints
    second: Ints
    first_tables: Ints
    second_tables: Ints

    def chosen(self, those: Flags) -> CommonCells:
        """Return some of the cells, and the statistics that they belong to."""
        used, number = np.unique(self.statistic_of[those], return_inverse=True)
        return CommonCells(
            tuple(self.names[each] for each in used.tolist()),
            number,
            self.first[those],
            self.second[those],
            self.first_tables[used],
            self.second_tables[used],
        )


def statistics_of(parts: Sequence[tuple[str, CommonCells, Ints]]) -> tuple[tuple[str, ...], Ints]:
    """Return the names of all statistics, and for every estimate the number of its own.

    Args:
        parts: who is counted, to be told with every name, or nothing; what is common; which of its cells are estimated.
    """
    names: list[str] = []
    starts: dict[str, int] = {}
    for who, common, _ in parts:
        if who not in starts:
            starts[who] = len(names)
            names += [f"{name} of {who}" if who else name for name in common.names]
    numbers = [common.statistic_of[cells] + starts[who] for who, common, cells in parts]
    return tuple(names), np.concatenate(numbers)


def common_cells(first: Layout, second: Layout) -> CommonCells:
    """Return the cells of the statistics that both layouts have."""
    there = dict(zip(second.names, second.equations.statistics.tolist(), strict=True))
    names: list[str] = []
    numbers, places, others, tables = [], [], [], []
    for name, statistic in zip(first.names, first.equations.statistics.tolist(), strict=True):
        twin = there.get(name)
        if twin is None:
            continue
        matched = _matched(first, statistic, second, twin)
        if matched is None:
            continue
        cells = first.equations.cells_of(statistic)
        numbers.append(np.full(len(matched), len(names)))
        places.append(np.arange(cells.start, cells.stop))
        others.append(second.equations.cells_of(twin).start + matched)
        tables.append([first.equations.noises[statistic], second.equations.noises[twin]])
        names.append(name)
    times = np.array(tables, dtype=np.int64).reshape(-1, 2)
    return CommonCells(tuple(names), _joined(numbers), _joined(places), _joined(others), times[:, 0], times[:, 1])


def _matched(first: Layout, statistic: int, second: Layout, twin: int) -> Ints | None:
    """Return for every cell of a statistic the number of the cell of its twin that has the same codes."""
    here, there = _codes(first, statistic), _codes(second, twin)
    if here.keys() != there.keys() or any(
        not codes or set(codes) != set(there[topic]) for topic, codes in here.items()
    ):
        return None
    numbers = np.arange(int(second.lattice.cells[twin])).reshape([len(codes) for codes in there.values()])
    numbers = numbers.transpose([list(there).index(topic) for topic in here])
    chosen = []
    for topic, codes in here.items():
        place = {code: number for number, code in enumerate(there[topic])}
        chosen.append([place[code] for code in codes])
    return numbers[np.ix_(*chosen)].ravel() if chosen else numbers.ravel()


def _codes(layout: Layout, statistic: int) -> dict[str, tuple[str, ...]]:
    """Return the codes of a statistic by topic, in the order of its cells."""
    depths = layout.lattice.depths[statistic].tolist()
    return {
        axis.name: axis.codes[depth - 1] or () for axis, depth in zip(layout.lattice.axes, depths, strict=True) if depth
    }


def _joined(arrays: list[Ints]) -> Ints:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
