"""The margin equations with cells that are alike taken together: exact variances of any census on a laptop.

Categories that can be exchanged without changing any block (equal subtrees below equal parents) are alike, and so are
cells whose categories are alike on every axis: the best linear estimate knows them equally well. On every axis one
category of each kind is kept as a representative, its parent being the representative of its own kind; the others are
grouped by kind. A group of m cells has one value, the mean, published with variance V / m, and

    parent = sum over groups of (members of the group in one parent) * value.

A cell whose categories are all representatives stands alone, so that its variance here is its variance in the whole
system; Luxembourg's 3 million cells become some ten thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.margins import containing, linked
from discreet.equations.sums import MarginSums, scaled_rows
from discreet.equations.unknowns import UnknownEquations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.programme.lattice import Axis, Lattice

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupedAxis:
    """One axis with alike categories grouped, by depth from the total on.

    Attributes:
        members: how many categories every group has.
        ups: the group at the depth above that contains each group.
        first: the first category of every group.
    """

    members: tuple[Ints, ...]
    ups: tuple[Ints, ...]
    first: tuple[Ints, ...]

    def up(self, fine: int, coarse: int) -> Ints:
        """Return for every group at the fine depth the group at the coarse depth that contains it."""
        found = np.arange(len(self.members[fine]))
        for depth in range(fine, coarse, -1):
            found = self.ups[depth][found]
        return found


def grouped(axis: Axis) -> GroupedAxis:
    """Return an axis with alike categories grouped around one representative of each kind.

    >>> from discreet.programme.lattice import Axis
    >>> [each.tolist() for each in grouped(Axis("AGE", ("AGE1", "AGE2"), (3, 6), (None, None))).members]
    [[1], [1, 2], [1, 1, 4]]
    """
    deepest = len(axis.sizes)
    above = [containing(axis, depth, depth - 1) for depth in range(1, deepest + 1)]
    forms = [np.zeros(axis.sizes[-1] if deepest else 1, dtype=np.int64)]
    for depth in range(deepest, 0, -1):
        size = axis.sizes[depth - 2] if depth > 1 else 1
        below: list[list[int]] = [[] for _ in range(size)]
        for category, own_form in zip(above[depth - 1].tolist(), forms[0].tolist(), strict=True):
            below[category].append(own_form)
        known: dict[tuple[int, ...], int] = {}
        forms.insert(0, np.array([known.setdefault(tuple(sorted(each)), len(known)) for each in below]))
    groups, chosen = [np.zeros(1, dtype=np.int64)], np.ones(1, dtype=bool)
    members, ups, firsts = [np.ones(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    for depth in range(1, deepest + 1):
        parent, form = above[depth - 1], forms[depth]
        kind = groups[-1][parent] * (int(form.max()) + 1) + form
        _, first = np.unique(kind, return_index=True)
        own = np.zeros(len(kind), dtype=bool)
        # The first child of a kind below a representative represents it.
        own[first] = chosen[parent[first]]
        _, first, group, count = np.unique(2 * kind + ~own, return_index=True, return_inverse=True, return_counts=True)
        groups.append(group.reshape(-1))
        members.append(count)
        ups.append(groups[-2][parent[first]])
        firsts.append(first)
        chosen = own
    return GroupedAxis(tuple(members), tuple(ups), tuple(firsts))


@dataclass(frozen=True, eq=False)
class GroupedEquations(UnknownEquations):
    """The equations between groups of alike cells of all published statistics.

    Attributes:
        lattice: the statistics.
        spsn: whether a statistic has one noise; if not, it is the mean of one noise per table.
    """

    lattice: Lattice
    spsn: bool = True

    @cached_property
    def axes(self) -> tuple[GroupedAxis, ...]:
        """Return every axis with its groups."""
        return tuple(map(grouped, self.lattice.axes))

    @cached_property
    def statistics(self) -> Ints:
        """Return the positions of the published statistics in the lattice."""
        return np.flatnonzero(self.lattice.published)

    def shape(self, statistic: int) -> tuple[int, ...]:
        """Return the number of groups per axis of a statistic."""
        depths = self.lattice.depths[statistic].tolist()
        return tuple(len(axis.members[depth]) for axis, depth in zip(self.axes, depths, strict=True))

    @cached_property
    def starts(self) -> Ints:
        """Return where the groups of every published statistic begin, and where the last end."""
        sizes = np.array([np.prod(self.shape(s), dtype=np.int64) for s in self.statistics.tolist()])
        return np.concatenate([[0], np.cumsum(sizes)])

    @property
    def cells(self) -> int:
        """Return the number of groups."""
        return int(self.starts[-1])

    @cached_property
    def members(self) -> Floats:
        """Return how many cells every group has."""
        found = []
        for statistic in self.statistics.tolist():
            members = np.ones(1)
            for axis, depth in zip(self.axes, self.lattice.depths[statistic].tolist(), strict=True):
                members = (members[:, None] * axis.members[depth][None, :]).ravel()
            found.append(members)
        return np.concatenate(found)

    @cached_property
    def spread(self) -> Floats:
        """Return the standard deviation of the mean of every group, in units of one noise term."""
        times = (self.lattice.published if self.spsn else self.lattice.tables)[self.statistics]
        found: Floats = 1 / np.sqrt(self.members * np.repeat(times, np.diff(self.starts)))
        return found * np.sqrt(np.bincount(self.unknowns)[self.unknowns])

    @property
    def sums(self) -> MarginSums:
        """Return the equations between unknowns."""
        return self._system[0]

    @property
    def unknowns(self) -> Ints:
        """Return the unknown of every group."""
        return self._system[1]

    def cell(self, place: int) -> tuple[int, tuple[int, ...]]:
        """Return the statistic and the categories of a group that is a single cell."""
        number = int(np.searchsorted(self.starts, place, side="right")) - 1
        statistic = int(self.statistics[number])
        groups = np.unravel_index(place - self.starts[number], self.shape(statistic))
        depths = self.lattice.depths[statistic].tolist()
        return statistic, tuple(
            int(axis.first[depth][group]) for axis, depth, group in zip(self.axes, depths, groups, strict=True)
        )

    @cached_property
    def _system(self) -> tuple[MarginSums, Ints]:
        """Return the equations between unknowns, and the unknown of every group."""
        from scipy.sparse import coo_array, csr_array
        from scipy.sparse.csgraph import connected_components

        place = dict(zip(self.statistics.tolist(), range(len(self.statistics)), strict=True))
        rows: list[Ints] = []
        columns: list[Ints] = []
        values: list[Floats] = []
        height, starts, members = 0, self.starts.tolist(), self.members
        for fine, coarse in linked(self.lattice):
            a, b = place[fine], place[coarse]
            parent = self._parents(fine, coarse)
            below = np.arange(starts[a], starts[a + 1])
            above = np.arange(starts[b], starts[b + 1])
            rows += [np.arange(len(above)) + height, parent + height]
            columns += [above, below]
            values += [np.ones(len(above)), -members[below] / members[above][parent]]
            height += len(above)
        empty = np.zeros(0, dtype=np.int64)
        entries = (
            np.concatenate([*values, empty]),
            (np.concatenate([*rows, empty]), np.concatenate([*columns, empty])),
        )
        matrix = csr_array(coo_array(entries, shape=(height, self.cells)))
        unknowns = np.arange(self.cells)
        if self.spsn:
            # A category with a single child is that child, published twice with one noise.
            single = np.flatnonzero(np.diff(matrix.indptr) == 2)
            ends = matrix.indices[matrix.indptr[single][:, None] + np.arange(2)]
            same = np.abs(matrix.data[matrix.indptr[single][:, None] + np.arange(2)]).max(axis=1) == 1
            pairs = (np.ones(int(same.sum())), (ends[same, 0], ends[same, 1]))
            graph = coo_array(pairs, shape=(self.cells, self.cells))
            unknowns = connected_components(graph, directed=False)[1].astype(np.int64)
            joined = csr_array((np.ones(self.cells), (np.arange(self.cells), unknowns)))
            matrix = csr_array(matrix @ joined)
            matrix.eliminate_zeros()
            matrix = matrix[np.flatnonzero(np.diff(matrix.indptr))]
        return MarginSums(scaled_rows(matrix)), unknowns

    def _parents(self, fine: int, coarse: int) -> Ints:
        position = np.zeros(1, dtype=np.int64)
        depths = self.lattice.depths
        for axis, a, b in zip(self.axes, depths[fine].tolist(), depths[coarse].tolist(), strict=True):
            if a:
                position = (position[:, None] * len(axis.members[b]) + axis.up(a, b)[None, :]).ravel()
        return position
