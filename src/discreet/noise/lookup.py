"""Noise for millions of keys: a guide table that answers most keys in one step.

The top bits of a key select a bucket. Nearly every bucket lies within one piece of
its row and holds the noise itself; the few that a boundary crosses are marked, and
only their keys are searched. Work goes through in chunks that stay in the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from discreet.noise.arrays import Ints
    from discreet.noise.rounded import RoundedRow

CHUNK = 1 << 14
MOST_BUCKETS = 1 << 12


def keys_in_space(keys: ArrayLike, key_space: int) -> NDArray[np.unsignedinteger]:
    """Return keys as unsigned whole numbers, or refuse what lies outside 0 .. key_space - 1."""
    array = np.asarray(keys)
    if not array.size:
        return np.zeros(array.shape, dtype=np.uint64)
    if array.dtype.kind not in "iu" or (array.dtype.kind == "i" and array.size and array.min() < 0):
        raise ParameterError(
            "keys must be whole numbers from 0 on; got another type or a negative key.", parameter="keys"
        )
    if array.size and int(array.max()) >= key_space:
        raise ParameterError(
            f"keys must be below the key space of {key_space}; at least one is not. "
            "Reduce cell keys modulo the key space, or use the p-table that belongs to them.",
            parameter="keys",
        )
    return array.astype(f"u{array.dtype.itemsize}", copy=False)


def in_chunks(function: Callable[..., NDArray[np.signedinteger]], *arrays: NDArray[np.integer]) -> Ints:
    """Return a function of whole arrays, computed piece by piece so that what lies between stays in the cache."""
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    flat = [np.broadcast_to(array, shape).ravel() for array in arrays]
    result = np.empty(len(flat[0]), dtype=np.int64)
    for start in range(0, len(result), CHUNK):
        part = slice(start, start + CHUNK)
        result[part] = function(*(array[part] for array in flat))
    return result.reshape(shape)


class Lookup:
    """The inverse of the rows of a rounded table, for keys of one key space."""

    def __init__(self, rows: Sequence[RoundedRow], key_space: int) -> None:
        self._rows = rows
        self._shift = max((key_space - 1).bit_length() - (MOST_BUCKETS.bit_length() - 1), 0)
        self._buckets = ((key_space - 1) >> self._shift) + 1
        widest = max(abs(value) for row in rows for value in row.values)
        self._type = np.dtype(next(code for code in ("i1", "i2", "i4", "i8") if widest < np.iinfo(code).max))
        self._crossed = int(np.iinfo(self._type).min)
        self._guide = np.concatenate([self._guide_row(row) for row in rows])
        # Inclusive upper keys: an exclusive one would not fit into 64 bits for 2^64 keys.
        self._tops = [np.array([upper - 1 for upper, _ in _noises(row)], dtype=np.uint64) for row in rows]
        self._noise = [np.array([noise for _, noise in _noises(row)], dtype=np.int64) for row in rows]

    def _guide_row(self, row: RoundedRow) -> NDArray[np.signedinteger]:
        guide = np.full(self._buckets, self._crossed, dtype=self._type)
        lower = 0
        for upper, noise in _noises(row):
            first = -(-lower >> self._shift)
            last = upper >> self._shift if upper < row.key_space else self._buckets
            guide[first:last] = noise
            lower = upper
        return guide

    def __call__(self, rows: Ints, keys: NDArray[np.unsignedinteger]) -> NDArray[np.signedinteger]:
        """Return the noise of each key in its row; keys must lie in the key space."""
        bucket = (keys >> keys.dtype.type(self._shift)).astype(np.int64) if self._shift else keys.astype(np.int64)
        if len(self._rows) > 1:
            bucket += rows * self._buckets
        noise = self._guide.take(bucket)
        crossed = np.flatnonzero(noise == self._crossed)
        if len(crossed):
            noise[crossed] = self._search(rows[crossed], keys[crossed])
        return noise

    def _search(self, rows: Ints, keys: NDArray[np.unsignedinteger]) -> Ints:
        noise = np.empty(len(keys), dtype=np.int64)
        for row in np.unique(rows):
            here = rows == row
            noise[here] = self._noise[row][np.searchsorted(self._tops[row], keys[here].astype(np.uint64))]
        return noise


def _noises(row: RoundedRow) -> list[tuple[int, int]]:
    """Return upper key and noise of every piece that holds a key."""
    triples = zip(row.upper, row.weights, row.values, strict=True)
    return [(upper, value) for upper, weight, value in triples if weight]
