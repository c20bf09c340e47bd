"""Frequencies of pairs of a true and a published count, the basis of all measures of single cells.

Ten million cells have about ten thousand distinct pairs, because most counts are small. A measure of single cells is a
sum over these pairs, so the cells are read only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import whole
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from discreet.arrays import Flags, Floats, Ints

CELLS = 1 << 17
"""The number of cells processed at a time, small enough for the processor cache."""
TALLIED = 1 << 17
"""The number of pairs of small counts tallied in a table; other pairs are sorted."""
PILE = 1 << 20
"""The number of buffered pairs of several tables before they are merged."""
FARTHEST = 2**62
"""The upper bound of counts, so that their differences fit in 64 bits."""


@dataclass(frozen=True, eq=False)
class CountPairs:
    """The distinct pairs of a true and a published count, sorted by true, then by published count.

    Attributes:
        true: the true counts, 0 or more.
        published: the corresponding published counts.
        times: the number of cells with each pair, including cells that are 0 in both.
    """

    true: Ints
    published: Ints
    times: Ints

    def __len__(self) -> int:
        return len(self.times)

    @cached_property
    def noise(self) -> Ints:
        """Return published minus true counts."""
        return self.published - self.true

    @cached_property
    def cells(self) -> int:
        """Return the number of cells."""
        return int(self.times.sum())

    @cached_property
    def by_noise(self) -> tuple[Ints, Ints]:
        """Return the distinct noise values in increasing order, and the number of cells with each."""
        lowest = int(self.noise.min(initial=0))
        if int(self.noise.max(initial=0)) - lowest < TALLIED:
            noise, place = np.arange(lowest, lowest + TALLIED), self.noise - lowest
        else:
            noise, place = np.unique(self.noise, return_inverse=True)
        # Sums of doubles are exact, because there are fewer than 2^53 cells.
        cells = np.bincount(place, self.times).astype(np.int64)
        found = np.flatnonzero(cells)
        return noise[found], cells[found]

    @cached_property
    def occupied(self) -> CountPairs:
        """Return the pairs with a true count above 0."""
        return self.where(self.true > 0)

    def where(self, chosen: Flags | slice) -> CountPairs:
        """Return the selected pairs."""
        return CountPairs(self.true[chosen], self.published[chosen], self.times[chosen])

    def among(self, chosen: Flags) -> int:
        """Return the number of cells with a selected pair."""
        return int(self.times[chosen].sum())


def pair_times(true: ArrayLike, published: ArrayLike) -> CountPairs:
    """Return the frequency of each pair of a true and a published count.

    Args:
        true: true counts of cells, 0 or more.
        published: the published counts of the same cells in the same order; they may be negative.

    >>> found = pair_times([0, 3, 3, 0, 7], [0, 4, 4, 0, 5])
    >>> list(zip(found.true.tolist(), found.published.tolist(), found.times.tolist()))
    [(0, 0, 2), (3, 4, 2), (7, 5, 1)]
    """
    before, after = whole(true, "true"), whole(published, "published")
    if before.shape != after.shape:
        raise ParameterError(
            f"True counts have the shape {before.shape}, published counts the shape {after.shape}. Give both for the "
            "same cells, with 0 for a cell without a row.",
            parameter="published",
        )
    before, after = before.reshape(-1), after.reshape(-1)
    if (before < 0).any():
        raise ParameterError("A true count is negative. True counts must be 0 or more.", parameter="true")
    packing = _packing(before, after)
    small, large = np.zeros(TALLIED, dtype=np.int64), []
    for start in range(0, len(before), CELLS):
        keys = packing.keys(before[start : start + CELLS], after[start : start + CELLS])
        tallied = keys < TALLIED
        small += np.bincount(keys[tallied], minlength=TALLIED)
        large.append(keys[~tallied])
    sorted_keys, times = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *large]), return_counts=True)
    found = np.flatnonzero(small)
    return packing.pairs(np.concatenate([found, sorted_keys]), np.concatenate([small[found], times]))


def merged(parts: Iterable[CountPairs]) -> CountPairs:
    """Return the frequency of each pair in all parts together, e.g. in the tables of a release."""
    pile: list[CountPairs] = []
    waiting = 0
    for part in parts:
        pile.append(part)
        waiting += len(part)
        # Sort again only after the number of pairs has doubled.
        if waiting > max(PILE, 2 * len(pile[0])):
            pile = [_added_up(pile)]
            waiting = len(pile[0])
    return _added_up(pile)


def _added_up(parts: Sequence[CountPairs]) -> CountPairs:
    none = np.empty(0, dtype=np.int64)
    true, published, times = (
        np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in ("true", "published", "times")
    )
    packing = _packing(true, published)
    keys = packing.keys(true, published)
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    return packing.pairs(distinct, np.add.reduceat(times[order], first) if len(first) else none)


@dataclass(frozen=True, eq=False)
class Ranked:
    """A measure of cells in increasing order: its values, and the cumulative number of cells."""

    values: Floats
    until: Ints

    def quantiles(self, levels: Sequence[float]) -> list[float]:
        """Return quantiles over the cells, interpolated linearly, as numpy and R do by default."""
        place = np.asarray(levels, dtype=np.float64) * (self.until[-1] - 1)
        below = np.floor(place)
        low, high = (self.values[np.searchsorted(self.until, rank, side="right")] for rank in (below, np.ceil(place)))
        found: list[float] = (low + (high - low) * (place - below)).tolist()
        return found

    def within(self, limits: Sequence[float]) -> list[float]:
        """Return the share of cells that do not exceed each limit."""
        cells = np.concatenate([[0], self.until])[np.searchsorted(self.values, limits, side="right")]
        found: list[float] = (cells / self.until[-1]).tolist()
        return found


def ranked(values: Ints | Floats, times: Ints) -> Ranked:
    """Return values with their numbers of cells, in increasing order.

    >>> ranked(np.array([5, 1]), np.array([1, 3])).quantiles([0.5, 1])
    [1.0, 5.0]
    """
    order = np.argsort(values)
    return Ranked(values[order].astype(np.float64), np.cumsum(times[order]))


@dataclass(frozen=True)
class _Packing:
    """A pair packed into one number: the true count times the range of the noise, plus the noise minus its minimum."""

    lowest: int
    span: int

    def keys(self, true: Ints, published: Ints) -> Ints:
        return true * self.span + (published - true - self.lowest)

    def pairs(self, keys: Ints, times: Ints) -> CountPairs:
        true, above = np.divmod(keys, self.span)
        return CountPairs(true, true + above + self.lowest, times)


def _packing(true: Ints, published: Ints) -> _Packing:
    """Return a packing in which all pairs fit in 64 bits."""
    if not len(true):
        return _Packing(0, 1)
    farthest = max(int(true.max()), int(published.max()), -int(published.min()))
    if farthest < FARTHEST:
        lowest, highest = _noise_range(true, published)
        packing = _Packing(lowest, highest - lowest + 1)
        if (int(true.max()) + 1) * packing.span < 2 * FARTHEST:
            return packing
    raise ParameterError(
        "Counts and their noise are too large to compare: the largest true count times the range of the noise must be "
        "below 2^63. Check that both columns contain counts and not codes.",
        parameter="published",
    )


def _noise_range(true: Ints, published: Ints) -> tuple[int, int]:
    """Return the smallest and the largest noise."""
    lowest, highest = FARTHEST, -FARTHEST
    for start in range(0, len(true), CELLS):
        noise = published[start : start + CELLS] - true[start : start + CELLS]
        lowest, highest = min(lowest, int(noise.min())), max(highest, int(noise.max()))
    return lowest, highest
