"""The cells of one statistic: how many records each holds, and the sum of their keys modulo the key space.

Dense: one number per cell, empty ones too, as flat arrays in the order of the axes.
Sparse: the occupied cells alone, with their flat index in rising order.
Counts and keys are both additive over disjoint cells, so a coarser statistic is a sum:
n(a) = sum of n(s) over the cells s in a, and k(a) = sum of k(s) mod K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.engines.base import Engine
    from discreet.tabulation.axes import TopicAxis

DENSE_MOST = 20_000_000
"""Cells of the largest statistic that is kept dense; above it empty cells cost more than they save."""
FINER = "finer"
"""The engine's table of sparse cells that are being summed up."""
WHOLE_SPACE = 1 << 32
"""The key space in which 32-bit sums wrap around by themselves."""


@dataclass(frozen=True)
class Cells:
    """Counts and keys of one statistic.

    Attributes:
        shape: the number of categories along each axis that is not summed over.
        count: records per cell.
        key: sum of the keys per cell, modulo the key space; 0 where nobody is.
        index: None if dense, else the flat index of every occupied cell.
    """

    shape: tuple[int, ...]
    count: NDArray[np.int64]
    key: NDArray[np.uint32]
    index: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """Return the number of cells, empty ones too."""
        return math.prod(self.shape)

    def occupied(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]:
        """Return flat index, count and key of the cells that hold someone."""
        if self.index is not None:
            return self.index, self.count, self.key
        index = np.flatnonzero(self.count)
        return index, self.count[index], self.key[index]


def from_groups(
    shape: tuple[int, ...], index: NDArray[np.int64], count: NDArray[np.int64], key: NDArray[np.uint32]
) -> Cells:
    """Return cells from the rows of a GROUP BY, dense if they are few enough."""
    size = math.prod(shape)
    if size > DENSE_MOST:
        order = np.argsort(index)
        return Cells(shape, count[order], key[order], index[order])
    dense_count, dense_key = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.uint32)
    dense_count[index] = count
    dense_key[index] = key
    return Cells(shape, dense_count, dense_key)


@dataclass(frozen=True)
class Step:
    """One axis summed up: which of a statistic's axes, its topic, the depth it has and the depth it gets."""

    place: int
    axis: TopicAxis
    fine: int
    coarse: int

    @cached_property
    def up(self) -> NDArray[np.int64]:
        """Return for every fine position the coarse one that contains it."""
        return self.axis.up(self.fine, self.coarse)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the coarser statistic; an axis at depth 0 is gone."""
        left = [self.axis.size(self.coarse)] if self.coarse else []
        return (*shape[: self.place], *left, *shape[self.place + 1 :])

    def block(self, shape: tuple[int, ...]) -> tuple[int, int, int]:
        """Return the finer shape as three: what comes before the axis, the axis, what comes after."""
        return math.prod(shape[: self.place]), shape[self.place], math.prod(shape[self.place + 1 :])


def roll_up(cells: Cells, step: Step, key_space: int, engine: Engine) -> Cells:
    """Return the cells with one axis summed up; the engine sums those that are sparse."""
    if cells.index is not None:
        return _sparse(cells, step, key_space, engine)
    block = step.block(cells.shape)
    count = _summed(cells.count.reshape(block), step, np.int64)
    if key_space == WHOLE_SPACE:
        key = _summed(cells.key.reshape(block), step, np.uint32)
    else:
        wide = _summed(cells.key.reshape(block), step, np.uint64)
        key = (wide % np.uint64(key_space)).astype(np.uint32)
    return Cells(step.shape(cells.shape), count.reshape(-1), key.reshape(-1))


def _summed(values: NDArray[np.integer], step: Step, kind: type[np.integer]) -> NDArray[Any]:
    """Return sums over the middle axis, by the coarse category that contains each fine one."""
    if not step.coarse:
        return np.asarray(values.sum(axis=1, dtype=kind))
    up = step.up
    if (up[1:] < up[:-1]).any():
        # Children of one parent must stand side by side to be summed as a run.
        order = np.argsort(up, kind="stable")
        values, up = values[:, order], up[order]
    starts = np.flatnonzero(np.diff(up, prepend=-1))
    return np.add.reduceat(values, starts, axis=1, dtype=kind)


def _sparse(cells: Cells, step: Step, key_space: int, engine: Engine) -> Cells:
    """Return the sums of occupied cells, grouped by the engine."""
    import pyarrow as pa

    _, size, inner = step.block(cells.shape)
    outer, rest = np.divmod(cells.occupied()[0], size * inner)
    middle, last = np.divmod(rest, inner)
    index = (outer * step.axis.size(step.coarse) + step.up[middle]) * inner + last
    engine.drop(FINER)
    engine.append(FINER, pa.record_batch({"i": index, "n": cells.count, "k": cells.key}))
    return grouped(step.shape(cells.shape), engine.table(_sums(key_space)))


def _sums(key_space: int) -> str:
    """Return the SQL that adds up cells of one index."""
    key = f"CAST(SUM(k) % {key_space} AS BIGINT)"
    return f"SELECT i, CAST(SUM(n) AS BIGINT) AS n, {key} AS k FROM {FINER} GROUP BY i"  # noqa: S608 - names are ours


def grouped(shape: tuple[int, ...], rows: pa.Table) -> Cells:
    """Return cells from the Arrow table of a GROUP BY with the columns i, n and k."""
    columns = [rows.column(name).to_numpy() for name in ("i", "n", "k")]
    return from_groups(shape, columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2].astype(np.uint32))
