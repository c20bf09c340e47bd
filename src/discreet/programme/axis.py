"""The axis of a topic: its partitions from coarse to fine, their codes, and the aggregation to coarser partitions.

Depth 0 is the total. Nested levels of the same size are one partition; a level with a single category is the total. A
position is the index of a category in its partition. A table shows an axis as a column with the codes of one or several
partitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InternalError, ProgrammeError
from discreet.programme.model import TOTAL, TOTAL_LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Ints
    from discreet.programme.category_tree import CategoryTree
    from discreet.programme.model import Breakdown, Level, Programme, Table


@dataclass(frozen=True)
class Runs:
    """The fine positions grouped by coarse position, as runs that can be summed.

    Attributes:
        order: a permutation that makes the fine positions of one coarse position adjacent; None if they are already.
        starts: the start of every run, and the end of the last one.
    """

    order: Ints | None
    starts: Ints


@dataclass(frozen=True)
class Axis:
    """The partitions of one topic from coarse to fine, without the total.

    Attributes:
        name: the name of the topic, or of the breakdown if each breakdown is an axis.
        partitions: for every depth from 1 on, the levels that form this partition, which has the name of the first.
        tree: the tree of categories; None if it is not known.
    """

    name: str
    partitions: tuple[tuple[Level, ...], ...]
    tree: CategoryTree | None = field(default=None, repr=False, compare=False)

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Return the name of every partition."""
        return tuple(same[0].name for same in self.partitions)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of categories of every partition."""
        return tuple(same[0].size for same in self.partitions)

    @cached_property
    def codes(self) -> tuple[tuple[str, ...] | None, ...]:
        """Return the categories of every partition; None if only their number is known."""
        return tuple(same[0].codes for same in self.partitions)

    def size(self, depth: int) -> int:
        """Return the number of categories at a depth; the total has one."""
        return self.sizes[depth - 1] if depth else 1

    def depth_of(self, level: Level) -> int:
        """Return the depth of a level; 0 if the level is the total."""
        return next((d for d, same in enumerate(self.partitions, start=1) if level in same), 0)

    def depths_of(self, breakdown: Breakdown) -> tuple[int, ...]:
        """Return the depths that a breakdown publishes: 0 for the total, also for a total with the code of a level."""
        depths = {self.depth_of(level) for level in breakdown.levels}
        return tuple(sorted(depths | {0} if breakdown.total or not depths else depths))

    def codes_at(self, depth: int) -> tuple[str, ...]:
        """Return the categories of a partition, or raise an error if only their number is known."""
        return _listed(self.partitions[depth - 1][0])

    def codes_of(self, level: Level) -> tuple[str, ...]:
        """Return the codes of a level in the order of the equal categories of its partition."""
        counted = self.partitions[depth - 1][0] if (depth := self.depth_of(level)) else level
        if counted == level:
            return _listed(level)
        # The same partition with other codes: each category lies in exactly one of the counted categories.
        return tuple(_listed(level)[k] for k in np.argsort(_nested(counted, level, self.tree)))

    def check_nested(self) -> None:
        """Raise an error if the nesting of the categories is not known, since they cannot be tabulated then."""
        for coarse, fine in pairwise(self.partitions):
            _nested(coarse[0], fine[0], self.tree)

    def up(self, fine: int, coarse: int) -> Ints:
        """Return for every position at the fine depth the position at the coarse depth that contains it.

        If only the numbers of categories are known, the blocks have sizes as equal as possible.
        """
        if (fine, coarse) not in self._ups:
            self._ups[fine, coarse] = self._containing(fine, coarse)
        return self._ups[fine, coarse]

    def _containing(self, fine: int, coarse: int) -> Ints:
        if coarse == 0:
            return np.zeros(self.size(fine), dtype=np.int64)
        if fine == coarse:
            return np.arange(self.size(fine))
        above, below = self.codes[coarse - 1], self.codes[fine - 1]
        found = self.tree.above(above, below) if self.tree and above and below else None
        if found is None:
            return np.arange(self.size(fine)) * self.size(coarse) // self.size(fine)
        return np.array(found, dtype=np.int64)

    @cached_property
    def _ups(self) -> dict[tuple[int, int], Ints]:
        return {}

    def runs(self, fine: int, coarse: int) -> Runs:
        """Return the runs from a fine depth to a coarse one (cached)."""
        if (fine, coarse) not in self._runs:
            up = self.up(fine, coarse)
            sorted_already = bool((up[1:] >= up[:-1]).all())
            order = None if sorted_already else np.argsort(up, kind="stable")
            ends = np.flatnonzero(np.diff(up if order is None else up[order], prepend=-1))
            self._runs[fine, coarse] = Runs(order, np.append(ends, len(up)))
        return self._runs[fine, coarse]

    @cached_property
    def _runs(self) -> dict[tuple[int, int], Runs]:
        return {}

    def column(self, breakdown: Breakdown) -> TableColumn:
        """Return a breakdown by this axis as the column of a table (cached)."""
        if breakdown not in self._columns:
            self._columns[breakdown] = _column(breakdown, self)
        return self._columns[breakdown]

    @cached_property
    def _columns(self) -> dict[Breakdown, TableColumn]:
        return {}


def _nested(coarse: Level, fine: Level, tree: CategoryTree | None) -> Ints:
    """Return for every category of the fine level the position of the coarse one that contains it."""
    found = tree.above(_listed(coarse), _listed(fine)) if tree else None
    if found is None:
        raise InternalError(f"Level {fine.name} is not a refinement of {coarse.name}.")
    return np.array(found, dtype=np.int64)


def _listed(level: Level) -> tuple[str, ...]:
    """Return the categories of a level; `protect` rejects levels without categories earlier."""
    if level.codes is None:
        what = f"Level {level.name} has no list of categories."
        raise ProgrammeError(f"{what} Give the topic categories or a hierarchy.", topic=level.topic)
    return level.codes


def axis_of(name: str, levels: Sequence[Level], tree: CategoryTree | None, *, keep_single: bool = False) -> Axis:
    """Return the axis of levels from coarse to fine; with `keep_single` every level is a separate partition."""
    found: list[tuple[Level, ...]] = []
    for level in levels:
        if keep_single or level.size != (found[-1][0].size if found else 1):
            found.append((level,))
        elif found:
            found[-1] = (*found[-1], level)
    return Axis(name, tuple(found), tree)


def topic_axes(programme: Programme, tables: Sequence[Table], *, keep_single: bool = False) -> dict[str, Axis]:
    """Return the axis of every topic in the tables, with the levels in use, in the order of first use."""
    breakdowns = [breakdown for table in tables for breakdown in table.breakdowns]
    used = {level for breakdown in breakdowns for level in breakdown.levels}
    topics = [programme.topics[name] for name in dict.fromkeys(breakdown.topic for breakdown in breakdowns)]
    return {
        topic.name: axis_of(
            topic.name, [level for level in topic.levels if level in used], topic.tree, keep_single=keep_single
        )
        for topic in topics
    }


def counted_axes(programme: Programme) -> dict[str, Axis]:
    """Return the axes of all tables of a programme, checked to be nested for tabulation."""
    found = topic_axes(programme, programme.tables)
    for axis in found.values():
        axis.check_nested()
    return found


@dataclass(frozen=True)
class ColumnLevel:
    """One level of a breakdown in a table column: its depth on the axis and its codes.

    Attributes:
        name: its name in the programme.
        depth: the depth on the topic's axis.
        labels: the code of every position, as an index into the breakdown's list of codes.
        fresh: which positions have a code that no coarser level of the breakdown has; None if all have.
    """

    name: str
    depth: int
    labels: NDArray[np.signedinteger]
    fresh: Flags | None


@dataclass(frozen=True)
class TableColumn:
    """A breakdown as a column of a table: its codes, and its levels from the total to the finest."""

    name: str
    topic: str
    codes: tuple[str, ...]
    levels: tuple[ColumnLevel, ...]

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Return the depths that the column shows, in rising order."""
        return tuple(sorted({level.depth for level in self.levels}))

    @property
    def deepest(self) -> int:
        """Return the depth of the finest level."""
        return self.depths[-1]

    @cached_property
    def finer(self) -> dict[int, int]:
        """Return for every depth in the column the next finer depth in the column."""
        return dict(pairwise(self.depths))

    @cached_property
    def level_of_code(self) -> tuple[tuple[str, ...], NDArray[np.signedinteger]] | None:
        """Return names of levels, and for every code the index of its name; None if codes identify the level.

        A category that is not split further belongs to several levels. Its name joins their names by blanks.
        """
        if len(self.levels) - (self.codes[0] == TOTAL) <= 1:
            return None
        names = [""] * len(self.codes)
        for level in self.levels:
            for number in level.labels:
                names[number] = f"{names[number]} {level.name}".lstrip()
        found = tuple(dict.fromkeys(names))
        numbers = np.array([found.index(name) for name in names], dtype=np.min_scalar_type(-len(found)))
        return found, numbers

    @cached_property
    def own(self) -> dict[int, Flags]:
        """Return by depth which categories have a separate row, for depths where not all have one.

        A code that two levels share, because its category is not split further, has one row.
        """
        whole = {level.depth for level in self.levels if level.fresh is None}
        found: dict[int, Flags] = {}
        for level in self.levels:
            if level.fresh is not None and level.depth not in whole:
                found[level.depth] = found.get(level.depth, level.fresh) | level.fresh
        return {depth: flags for depth, flags in found.items() if not flags.all()}


def _column(breakdown: Breakdown, axis: Axis) -> TableColumn:
    """Return a column of a table with the codes in the order of first appearance, coarse to fine."""
    place: dict[str, int] = {}
    levels: list[ColumnLevel] = []
    if breakdown.total or not breakdown.levels:
        place[TOTAL] = 0
        levels.append(ColumnLevel(TOTAL_LEVEL, 0, np.zeros(1, dtype=np.int32), None))
    for level in breakdown.shown_levels:
        listed = axis.codes_of(level)
        new = np.array([code not in place for code in listed])
        for code in listed:
            place.setdefault(code, len(place))
        labels = np.array([place[code] for code in listed], dtype=np.int32)
        levels.append(ColumnLevel(level.marker, axis.depth_of(level), labels, None if new.all() else new))
    # The smallest integer type for all codes: a table has one number per row and column.
    kind = np.min_scalar_type(-len(place))
    narrow = tuple(replace(level, labels=level.labels.astype(kind)) for level in levels)
    return TableColumn(breakdown.code, breakdown.topic, tuple(place), narrow)
