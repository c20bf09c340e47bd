"""Words of cells where the universe joins topics by `or`: for sets of combinations of codes that are no product.

What the universe leaves in a cell is written as the product of as many factors as possible. A factor of one column
has the word of its set of codes (`cell_coordinates`), a factor of several columns

    g(columns, sum of m(h(column 1, code 1), h(column 2, code 2), ..) over its combinations)

with h and g keyed hashes and m a mixing function. So `AGE = Y or SEX = F` has in the cell AGE = Y the word that this
cell has in tables for everybody.
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
    """One column of a joint factor, with the categories by which the cells show it.

    Attributes:
        column: its name.
        hashes: the hash of every finest code.
        category: the number of the category that holds each finest code, -1 where none does.
        size: the number of categories, 1 where the column is summed over.
    """

    column: str
    hashes: Words
    category: Ints
    size: int

    @cached_property
    def order(self) -> Ints:
        """Return the finest codes so that those of one category stand side by side."""
        order = np.argsort(self.category, kind="stable")
        return order[self.category[order] >= 0]

    @cached_property
    def starts(self) -> Ints:
        """Return where the codes of a category begin in this order."""
        return np.flatnonzero(np.diff(self.category[self.order], prepend=-1))

    @cached_property
    def present(self) -> Ints:
        """Return the categories that hold finest codes."""
        return self.category[self.order][self.starts]


def joint_words(allowed: Flags, axes: Sequence[JointAxis], hashes: CodeHashes) -> tuple[Words, Flags]:
    """Return the word of every combination of categories, and whether the universe leaves nobody there."""
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
    """Return for every combination of categories the number and the hashes of the codes of one column in it."""
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
    """Return the word of one combination of categories whose codes are no product of a set per column."""
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
