"""The margin equations with equivalent cells grouped: exact variances of any census on a laptop.

Categories that can be exchanged without changing any block (equal subtrees below equal parents) are equivalent, and so
are cells whose categories are equivalent on every axis: their best linear estimates have the same variance. On every
axis one category of each kind is kept as a representative, whose parent is the representative of its own kind. The
other categories are grouped by kind. A group of m cells has one value, the mean, published with variance V / m, and

    parent = sum over groups of (members of the group in one parent) * value.

A cell whose categories are all representatives is a group of one cell, and its variance equals that in the whole
system. The 3 million cells of Luxembourg become about ten thousand groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.least_squares import MarginSums, scaled_rows
from discreet.equations.margin_equations import containing_cells, linked
from discreet.equations.unknowns import UnknownEquations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Floats, Ints
    from discreet.programme.axis import Axis
    from discreet.programme.lattice import Lattice


@dataclass(frozen=True, eq=False)
class GroupedAxis:
    """One axis with equivalent categories grouped, by depth starting at the total.

    Attributes:
        members: the number of categories of every group.
        ups: the group at the next coarser depth that contains each group.
        first: the first category of every group.
    """

    members: tuple[Ints, ...]
    ups: tuple[Ints, ...]
    first: tuple[Ints, ...]

    def size(self, depth: int) -> int:
        """Return the number of groups at a depth."""
        return len(self.members[depth])

    def up(self, fine: int, coarse: int) -> Ints:
        """Return the group at the coarse depth that contains each group at the fine depth."""
        found = np.arange(self.size(fine))
        for depth in range(fine, coarse, -1):
            found = self.ups[depth][found]
        return found


def grouped(axis: Axis, marks: Sequence[Ints] | None = None, apart: int | None = None) -> GroupedAxis:
    """Return an axis with equivalent categories grouped, except one representative of each kind.

    Args:
        axis: the axis with its tree.
        marks: a number for each category, by depth from 1 on; equivalent categories have the same number.
        apart: the finest depth with representatives, by default the finest depth of the axis; deeper categories are
            grouped without representatives.

    >>> from discreet.programme.axis import axis_of
    >>> from discreet.programme.model import Level
    >>> age = axis_of("AGE", (Level("AGE", "AGE1", 3), Level("AGE", "AGE2", 6)), None)
    >>> [each.tolist() for each in grouped(age).members]
    [[1], [1, 2], [1, 1, 4]]
    >>> [each.tolist() for each in grouped(age, apart=1).members]
    [[1], [1, 2], [2, 4]]
    """
    deepest = len(axis.sizes)
    above = [axis.up(depth, depth - 1) for depth in range(1, deepest + 1)]
    forms = [marks[-1] if marks else np.zeros(axis.size(deepest), dtype=np.int64)]
    for depth in range(deepest, 0, -1):
        size = axis.size(depth - 1)
        below: list[list[int]] = [[] for _ in range(size)]
        for category, own_form in zip(above[depth - 1].tolist(), forms[0].tolist(), strict=True):
            below[category].append(own_form)
        own_mark = marks[depth - 2].tolist() if marks and depth > 1 else [0] * size
        known: dict[tuple[int, ...], int] = {}
        kinds = [(mark, *sorted(each)) for mark, each in zip(own_mark, below, strict=True)]
        forms.insert(0, np.array([known.setdefault(each, len(known)) for each in kinds]))
    groups, chosen = [np.zeros(1, dtype=np.int64)], np.ones(1, dtype=bool)
    members, ups, firsts = [np.ones(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    for depth in range(1, deepest + 1):
        parent, form = above[depth - 1], forms[depth]
        kind = groups[-1][parent] * (int(form.max()) + 1) + form
        _, first = np.unique(kind, return_index=True)
        own = np.zeros(len(kind), dtype=bool)
        if apart is None or depth <= apart:
            # The first child of a kind below a representative is the representative of its kind.
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
    """The equations between groups of equivalent cells of all published statistics.

    Attributes:
        lattice: the statistics.
        spsn: whether a statistic has the same noise in all tables; if not, it is the mean over its tables.
        target: the statistic whose representatives are single cells; by default every statistic. With a target the
            system is many times smaller, and exact for the representatives of that statistic.
    """

    lattice: Lattice
    spsn: bool = True
    target: int | None = None

    @cached_property
    def axes(self) -> tuple[GroupedAxis, ...]:
        """Return every axis with its groups."""
        every = range(len(self.lattice.axes))
        marks = [None if self.spsn else self._marks(number) for number in every]
        apart = [None for _ in every] if self.target is None else self.lattice.depths[self.target].tolist()
        return tuple(map(grouped, self.lattice.axes, marks, apart))

    def _marks(self, number: int) -> list[Ints]:
        """Return a number for each category of an axis by depth; equal for categories with rows in the same tables."""
        sizes = self.lattice.axes[number].sizes
        flags: list[dict[bytes, Flags]] = [{b"": np.ones(size, dtype=bool)} for size in sizes]
        for statistic, repeated in self.lattice.repeated.items():
            for _, own in repeated:
                if number in own:
                    flags[self.lattice.depths[statistic, number] - 1][own[number].tobytes()] = own[number]
        return [np.unique(list(each.values()), axis=1, return_inverse=True)[1].reshape(-1) for each in flags]

    @cached_property
    def statistics(self) -> Ints:
        """Return the positions of the published statistics in the lattice."""
        return np.flatnonzero(self.lattice.published)

    def shape(self, statistic: int) -> tuple[int, ...]:
        """Return the number of groups of a statistic by axis."""
        depths = self.lattice.depths[statistic].tolist()
        return tuple(axis.size(depth) for axis, depth in zip(self.axes, depths, strict=True))

    @cached_property
    def starts(self) -> Ints:
        """Return the index of the first group of every published statistic, and the end of the last."""
        sizes = np.array([np.prod(self.shape(s), dtype=np.int64) for s in self.statistics.tolist()])
        return np.concatenate([[0], np.cumsum(sizes)])

    @property
    def cells(self) -> int:
        """Return the number of groups."""
        return int(self.starts[-1])

    @cached_property
    def members(self) -> Floats:
        """Return the number of cells of every group."""
        found = []
        for statistic in self.statistics.tolist():
            members = np.ones(1)
            for axis, depth in zip(self.axes, self.lattice.depths[statistic].tolist(), strict=True):
                members = (members[:, None] * axis.members[depth][None, :]).ravel()
            found.append(members)
        return np.concatenate(found)

    @cached_property
    def _rows(self) -> Ints:
        """Return the number of tables that show each cell of a group in a separate row."""
        return np.concatenate([self.lattice.rows(s, self._first(s)) for s in self.statistics.tolist()])

    def _first(self, statistic: int) -> list[Ints]:
        """Return the first category of each group, by axis of a statistic."""
        depths = self.lattice.depths[statistic].tolist()
        return [axis.first[depth] for axis, depth in zip(self.axes, depths, strict=True)]

    @cached_property
    def terms(self) -> Ints:
        """Return the number of noise terms of every cell of a group: one, or one per row without SPSN."""
        if self.spsn:
            return np.ones(self.cells, dtype=np.int64)
        # One of the cells that share an unknown has separate rows.
        found: Ints = np.bincount(self.unknowns, self._rows).astype(np.int64)[self.unknowns]
        return found

    @cached_property
    def spread(self) -> Floats:
        """Return the standard deviation of the mean of every group, in units of one noise term."""
        found: Floats = np.sqrt(np.bincount(self.unknowns)[self.unknowns] / (self.members * self.terms))
        return found

    @property
    def sums(self) -> MarginSums:
        """Return the equations between unknowns."""
        return self._system[0]

    @property
    def unknowns(self) -> Ints:
        """Return the unknown of every group."""
        return self._system[1]

    def cell(self, place: int) -> tuple[int, tuple[int, ...]]:
        """Return the statistic and the categories of a group with a single cell."""
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
        joined = np.arange(self.cells)
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
            moved = None if self.spsn else self.lattice.moved(fine, coarse, self._first(fine))
            if moved is not None:
                joined[below[moved]] = above[parent[moved]]
        empty = np.zeros(0, dtype=np.int64)
        entries = (
            np.concatenate([*values, empty]),
            (np.concatenate([*rows, empty]), np.concatenate([*columns, empty])),
        )
        matrix = csr_array(coo_array(entries, shape=(height, self.cells)))
        if self.spsn:
            # A category with a single child equals that child, published twice with the same noise.
            single = np.flatnonzero(np.diff(matrix.indptr) == 2)
            ends = matrix.indices[matrix.indptr[single][:, None] + np.arange(2)]
            same = np.abs(matrix.data[matrix.indptr[single][:, None] + np.arange(2)]).max(axis=1) == 1
            ends = ends[same]
        else:
            ends = np.column_stack([np.arange(self.cells), joined])
        graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(self.cells, self.cells))
        unknowns = connected_components(graph, directed=False)[1].astype(np.int64)
        by_unknown = csr_array((np.ones(self.cells), (np.arange(self.cells), unknowns)))
        matrix = csr_array(matrix @ by_unknown)
        matrix.eliminate_zeros()
        matrix = matrix[np.flatnonzero(np.diff(matrix.indptr))]
        return MarginSums(scaled_rows(matrix)), unknowns

    def _parents(self, fine: int, coarse: int) -> Ints:
        depths = self.lattice.depths
        return containing_cells(self.axes, depths[fine].tolist(), depths[coarse].tolist())
