"""A published table as rows: codes, their levels and a value, sorted by statistic, then by code order.

Every cell of a table has an address: the flat index of its codes among all codes of its
columns. Addresses are computed for one statistic at a time, as a sum of one step per axis,
and converted to codes for all rows at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.programme.model import LEVEL, VALUE
from discreet.tabulation.cell_coordinates import summed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Ints
    from discreet.programme.axis import ColumnLevel
    from discreet.programme.lattice import Statistic
    from discreet.tabulation.plan import Plan, TablePlan


@dataclass(frozen=True)
class StatisticValues:
    """The cells of one statistic that are not 0: their flat indices in ascending order, and their values."""

    index: Ints
    value: NDArray[Any]


def rows(plan: Plan, table: TablePlan, values: Mapping[Statistic, StatisticValues]) -> pa.Table:
    """Return the rows of a table; a cell of the programme without a row is 0."""
    import pyarrow as pa

    layout = _Layout(plan, table)
    parts = [layout.part(choice, values) for choice in product(*(column.levels for column in table.columns))]
    address = np.concatenate([address for address, _ in parts])
    value = np.concatenate([value for _, value in parts])
    if layout.repeats:
        keep = address < table.cells
        address, value = address[keep], value[keep]
    found: dict[str, pa.Array] = {}
    for labels, column in zip(layout.labels(address), table.columns, strict=True):
        found[column.name] = pa.DictionaryArray.from_arrays(pa.array(labels), pa.array(column.codes))
        if column.level_of_code:
            names, level = column.level_of_code
            found[column.name + LEVEL] = pa.DictionaryArray.from_arrays(pa.array(level[labels]), pa.array(names))
    return pa.table({**found, VALUE: value})


@dataclass(frozen=True, eq=False)
class _Layout:
    """The addresses of the cells of a table."""

    plan: Plan
    table: TablePlan

    @cached_property
    def kind(self) -> np.dtype[np.unsignedinteger]:
        """Return a data type wide enough for every address, and for one step beyond the last on every axis."""
        # 32-bit arithmetic is about twice as fast.
        widest = self.table.cells * (len(self.table.columns) + 1)
        return np.dtype(np.uint32 if widest <= np.iinfo(np.uint32).max else np.uint64)

    @cached_property
    def repeats(self) -> bool:
        """Return whether a category belongs to two levels; its row is written only for the coarser level."""
        return any(level.fresh is not None for column in self.table.columns for level in column.levels)

    @cached_property
    def in_order(self) -> bool:
        """Return whether the columns are in axis order, so that cells are sorted by address."""
        return all(first < second for first, second in pairwise(self.table.places))

    @cached_property
    def strides(self) -> list[int]:
        """Return the distance in addresses between adjacent codes of each column."""
        sizes = [len(column.codes) for column in self.table.columns]
        return [math.prod(sizes[number + 1 :]) for number in range(len(sizes))]

    @cached_property
    def _moved(self) -> dict[tuple[int, ...], tuple[NDArray[np.unsignedinteger], NDArray[Any]]]:
        """Return cached addresses of choices of levels, without the offsets of levels at depth 0."""
        return {}

    @cached_property
    def _steps(self) -> dict[tuple[int, int], NDArray[np.unsignedinteger]]:
        """Return the address step of every position of every level; repeated categories get an address out of range."""
        found = {}
        for number, (column, stride) in enumerate(zip(self.table.columns, self.strides, strict=True)):
            for level in column.levels:
                steps = level.labels.astype(self.kind) * self.kind.type(stride)
                if level.fresh is not None:
                    steps[~level.fresh] = self.table.cells
                found[number, id(level)] = steps
        return found

    def part(
        self, choice: Sequence[ColumnLevel], values: Mapping[Statistic, StatisticValues]
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[Any]]:
        """Return the addresses and values of one choice of levels."""
        statistic = self.table.statistic([level.depth for level in choice])
        found = values[statistic]
        by_axis = sorted(range(len(choice)), key=self.table.places.__getitem__)
        steps = [self._steps[number, id(choice[number])] for number in by_axis]
        start = self.kind.type(sum(int(step[0]) for step, n in zip(steps, by_axis, strict=True) if not choice[n].depth))
        along = [step for step, n in zip(steps, by_axis, strict=True) if choice[n].depth]
        # A level of one category repeats the rows of the total under its own code: shift them instead of recomputing.
        known = tuple(id(level) for level in choice if level.depth)
        if known not in self._moved:
            address = summed(along, self.plan.shape(statistic), found.index, self.kind)
            order = None if self.in_order else np.argsort(address)
            self._moved[known] = (address, found.value) if order is None else (address[order], found.value[order])
        address, value = self._moved[known]
        return address + start, value

    def labels(self, address: NDArray[np.unsignedinteger]) -> Iterator[NDArray[np.signedinteger]]:
        """Yield for each column the index of the code of every row."""
        for column, stride in zip(self.table.columns, self.strides, strict=True):
            kind = np.min_scalar_type(-len(column.codes))
            # Division by a scalar is faster than division by an array.
            found = address // self.kind.type(stride)
            address = address - found * self.kind.type(stride)
            yield found.astype(kind)
