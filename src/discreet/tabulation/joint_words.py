"""Words of cells if the universe joins topics by `or`, for sets of combinations of codes that are not a product.

The set of combinations that a cell allows is factorised into as many factors as possible. A factor of one column has
the word of its set of codes (`cell_coordinates`). A factor of several columns has the word

    g(columns, sum of m(h(column 1, code 1), h(column 2, code 2), ..) over its combinations)

with keyed hashes h and g and a mixing function m. For the universe `AGE = Y or SEX = F`, the cell AGE = Y therefore has
the same word as in tables of the whole population.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.programme.universe import factored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Ints, Words
    from discreet.tabulation.cell_coordinates import CodeHashes


@dataclass(frozen=True, eq=False)
class JointAxis:
    """One column of a joint factor, with its categories in the cells.

    Attributes:
        column: the name of the column.
        hashes: the hash of every finest code.
        category: the index of the category that contains each finest code, or -1.
        size: the number of categories; 1 if the column is summed over.
    """

    column: str
    hashes: Words
    category: Ints
    size: int

    @cached_property
    def order(self) -> Ints:
        """Return the indices of the finest codes, sorted by category."""
        order = np.argsort(self.category, kind="stable")
        return order[self.category[order] >= 0]

    @cached_property
    def starts(self) -> Ints:
        """Return the offset of the first code of every category in this order."""
        return np.flatnonzero(np.diff(self.category[self.order], prepend=-1))

    @cached_property
    def present(self) -> Ints:
        """Return the categories that contain finest codes."""
        return self.category[self.order][self.starts]


def joint_words(allowed: Flags, axes: Sequence[JointAxis], hashes: CodeHashes) -> tuple[Words, Flags]:
    """Return the word of every combination of categories, and a mask of those that the universe excludes."""
    sets = allowed[np.ix_(*(axis.order for axis in axes))]
    total = sets.astype(np.int64)
    for number, axis in enumerate(axes):
        total = np.add.reduceat(total, axis.starts, axis=number)
    words, product = np.zeros(total.shape, dtype=np.uint64), np.ones_like(total)
    for number, axis in enumerate(axes):
        counts, sums = _projected(sets, axes, number)
        words += np.where(counts == len(axis.hashes), np.uint64(0), hashes.sets(axis.column, sums))
        product *= counts
    for place in np.argwhere(total != product).tolist():
        words[tuple(place)] = _word(sets, axes, place, hashes)
    found, empty = (np.full([axis.size for axis in axes], fill) for fill in (np.uint64(0), True))
    there = np.ix_(*(axis.present for axis in axes))
    found[there], empty[there] = words, total == 0
    return found, empty


def _projected(sets: Flags, axes: Sequence[JointAxis], kept: int) -> tuple[Ints, Words]:
    """Return the number of codes of one column in every combination of categories, and the sum of their hashes."""
    there: NDArray[Any] = sets
    for number, axis in enumerate(axes):
        if number != kept:
            there = np.logical_or.reduceat(there, axis.starts, axis=number)
    axis = axes[kept]
    hashes = axis.hashes[axis.order].reshape([-1 if number == kept else 1 for number in range(len(axes))])
    return (
        np.add.reduceat(there.astype(np.int64), axis.starts, axis=kept),
        np.add.reduceat(there * hashes, axis.starts, axis=kept),
    )


def _word(sets: Flags, axes: Sequence[JointAxis], place: Sequence[int], hashes: CodeHashes) -> int:
    """Return the word of one combination of categories whose codes are not a product of one set per column."""
    ends = [np.append(axis.starts, len(axis.order)) for axis in axes]
    cut = [slice(end[at], end[at + 1]) for end, at in zip(ends, place, strict=True)]
    by_column = {axis.column: axis.hashes[axis.order][here] for axis, here in zip(axes, cut, strict=True)}
    whole = {axis.column: len(axis.hashes) for axis in axes}
    word = 0
    for factor in factored([axis.column for axis in axes], sets[tuple(cut)]):
        if len(factor.topics) > 1:
            word += hashes.combinations(factor.topics, factor.allowed, [by_column[name] for name in factor.topics])
        elif factor.allowed.sum() < whole[factor.topics[0]]:
            sums = by_column[factor.topics[0]][factor.allowed].sum(dtype=np.uint64)
            word += int(hashes.sets(factor.topics[0], np.array([sums]))[0])
    return word % (1 << 64)
