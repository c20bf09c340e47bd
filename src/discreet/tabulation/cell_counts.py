"""The cells of one statistic: the number of records in each, and the sum of their keys modulo the key space.

Counts and keys are both additive over disjoint cells, so a coarser statistic is a sum:
n(a) = sum of n(s) over the cells s in a, and k(a) = sum of k(s) mod K. Both are stored in one
64-bit word per cell, k * 2^32 + n: sums of words add counts in the lower half and keys,
modulo 2^32, in the upper half at the same time.

Dense: one word per cell, including empty cells, in the order of the axes. Sparse: only the
non-empty cells, with their flat index in ascending order. The word of an empty cell is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Ints, Words
    from discreet.engines.engine import Engine
    from discreet.programme.axis import Axis

DENSE_MOST = 20_000_000
"""Maximum number of cells of a dense statistic; larger statistics are stored sparse."""
FINER = "finer"
"""The engine's table of sparse cells to be aggregated."""
HALF = np.uint64(32)
LOWER = np.uint64(0xFFFFFFFF)
WIDE = 2048
"""Number of adjacent cells from which a loop over runs is faster than reduceat (measured)."""


def packed(count: NDArray[np.integer], key: NDArray[np.integer]) -> Words:
    """Return words k * 2^32 + n; counts are below 2^32, while sums of halves of weights may carry over."""
    return (key.astype(np.uint64) << HALF) + count.astype(np.uint64)


def counts_of(words: Words) -> Ints:
    """Return the counts in words."""
    return (words & LOWER).astype(np.int64)


def keys_of(words: Words) -> NDArray[np.uint32]:
    """Return the keys in words."""
    return (words >> HALF).astype(np.uint32)


@dataclass(frozen=True)
class Cells:
    """Counts and keys of one statistic.

    Attributes:
        shape: the number of categories along each axis that is not summed over.
        words: the count and key of every cell.
        index: the flat index of every non-empty cell; None if the cells are dense.
    """

    shape: tuple[int, ...]
    words: Words
    index: Ints | None = None

    def at(self, index: Ints) -> Words:
        """Return the words of cells, 0 for empty cells."""
        if self.index is None:
            return self.words[index]
        place = np.searchsorted(self.index, index).clip(max=max(len(self.index) - 1, 0))
        if not len(self.index):
            return np.zeros(len(index), dtype=np.uint64)
        found: Words = np.where(self.index[place] == index, self.words[place], np.uint64(0))
        return found

    def occupied(self) -> tuple[Ints, Words]:
        """Return the flat indices and words of the non-empty cells."""
        if self.index is not None:
            return self.index, self.words
        index = np.flatnonzero(self.words)
        return index, self.words[index]


def from_groups(shape: tuple[int, ...], index: NDArray[np.integer], words: Words) -> Cells:
    """Return cells from non-empty cells in any order; dense if the statistic is small enough."""
    if math.prod(shape) > DENSE_MOST:
        order = np.argsort(index)
        return Cells(shape, words[order], index[order].astype(np.int64))
    dense = np.zeros(math.prod(shape), dtype=np.uint64)
    dense[index] = words
    return Cells(shape, dense)


def grouped(shape: tuple[int, ...], rows: pa.Table, key_space: int) -> Cells:
    """Return cells from the result of a GROUP BY: index i, count n, and sum of keys k before the modulo."""
    index, count, key = (rows.column(name).to_numpy() for name in ("i", "n", "k"))
    return from_groups(shape, index, packed(count, key % key_space))


@dataclass(frozen=True)
class Step:
    """The aggregation of one axis: its position in the statistic, the axis, and its old and new depth."""

    place: int
    axis: Axis
    fine: int
    coarse: int

    @cached_property
    def up(self) -> Ints:
        """Return the coarse position of every fine position."""
        return self.axis.up(self.fine, self.coarse)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the coarser statistic, without axes of depth 0."""
        left = [self.axis.size(self.coarse)] if self.coarse else []
        return (*shape[: self.place], *left, *shape[self.place + 1 :])

    def block(self, shape: tuple[int, ...]) -> tuple[int, int, int]:
        """Return the finer shape as three sizes: all axes before this one, this axis, all axes after it."""
        return math.prod(shape[: self.place]), shape[self.place], math.prod(shape[self.place + 1 :])


def roll_up(cells: Cells, step: Step, key_space: int, engine: Engine) -> Cells:
    """Return the cells with one axis aggregated; the engine aggregates sparse cells."""
    if cells.index is not None:
        return _sparse(cells, step, key_space, engine)
    words = cells.words.reshape(step.block(cells.shape))
    if (1 << 32) % key_space == 0:
        # K divides 2^32, so sums modulo 2^32 can be reduced modulo K afterwards.
        total = _summed(words, step)
        found = total if key_space == 1 << 32 else _reduced(total, key_space)
    else:
        keys = _summed(words >> HALF, step) % np.uint64(key_space)
        found = (keys << HALF) | _summed(words & LOWER, step)
    return Cells(step.shape(cells.shape), found.reshape(-1))


def _reduced(words: Words, key_space: int) -> Words:
    return ((words >> HALF) % np.uint64(key_space) << HALF) | (words & LOWER)


def _summed(words: Words, step: Step) -> Words:
    """Return sums over the middle axis, by coarse category."""
    if not step.coarse:
        total: Words = words.sum(axis=1, dtype=np.uint64)
        return total
    runs = step.axis.runs(step.fine, step.coarse)
    if runs.order is not None:
        words = words[:, runs.order]
    if words.shape[0] * words.shape[2] < WIDE:
        return np.add.reduceat(words, runs.starts[:-1], axis=1, dtype=np.uint64)
    return _summed_in_runs(words, runs.starts.tolist())


def _summed_in_runs(words: Words, ends: list[int]) -> Words:
    """Return the sums run by run, which is faster than reduceat if the other axes are long."""
    found = np.empty((words.shape[0], len(ends) - 1, words.shape[2]), dtype=np.uint64)
    for number, (first, last) in enumerate(pairwise(ends)):
        np.add.reduce(words[:, first:last], axis=1, out=found[:, number])
    return found


def _sparse(cells: Cells, step: Step, key_space: int, engine: Engine) -> Cells:
    """Return the sums of non-empty cells, aggregated by the engine."""
    import pyarrow as pa

    index, words = cells.occupied()
    _, size, inner = step.block(cells.shape)
    outer, rest = np.divmod(index, size * inner)
    middle, last = np.divmod(rest, inner)
    coarse = (outer * step.axis.size(step.coarse) + step.up[middle]) * inner + last
    engine.drop(FINER)
    engine.append(FINER, pa.record_batch({"i": coarse, "n": counts_of(words), "k": keys_of(words)}))
    return grouped(step.shape(cells.shape), engine.table(SUMS), key_space)


SUMS = f"SELECT i, CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(k) AS BIGINT) AS k FROM {FINER} GROUP BY i"  # noqa: S608 - names are ours
