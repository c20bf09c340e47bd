"""The axis of a topic: its partitions from coarse to fine, their codes, and how each sums up to a coarser one.

Depth 0 is the total. Levels of one size are one partition, because levels are nested; a level with a single category is
the total. A position is the place of a category in its partition. A table shows an axis as a column: the codes of some
partitions below each other.
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
    """How the positions at a fine depth fall into those at a coarse one, as runs that can be summed.

    Attributes:
        order: the fine positions so that those of one coarse position stand side by side; None if they do so already.
        starts: where every run begins, and where the last one ends.
    """

    order: Ints | None
    starts: Ints


@dataclass(frozen=True)
class Axis:
    """The partitions of one topic from coarse to fine, without the total.

    Attributes:
        name: the topic, or the breakdown where each is an axis of its own.
        partitions: for every depth from 1 on the levels that are this partition, which is named after the first.
        tree: which category contains which, where that is known.
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
        """Return the categories of every partition, None where only their number is known."""
        return tuple(same[0].codes for same in self.partitions)

    def size(self, depth: int) -> int:
        """Return the number of categories at a depth; the total has one."""
        return self.sizes[depth - 1] if depth else 1

    def depth_of(self, level: Level) -> int:
        """Return the depth of a level, 0 for one that is the total."""
        return next((d for d, same in enumerate(self.partitions, start=1) if level in same), 0)

    def depths_of(self, breakdown: Breakdown) -> tuple[int, ...]:
        """Return the depths that a breakdown publishes: 0 for a total, also for one under the code of a level."""
        depths = {self.depth_of(level) for level in breakdown.levels}
        return tuple(sorted(depths | {0} if breakdown.total or not depths else depths))

    def codes_at(self, depth: int) -> tuple[str, ...]:
        """Return the categories of a partition, or refuse one of which only their number is known."""
        return _listed(self.partitions[depth - 1][0])

    def codes_of(self, level: Level) -> tuple[str, ...]:
        """Return the codes of a level, each at the position of the category of its partition that is the same."""
        counted = self.partitions[depth - 1][0] if (depth := self.depth_of(level)) else level
        if counted == level:
            return _listed(level)
        # The same partition under other codes: each of its categories lies in exactly one of the counted ones.
        return tuple(_listed(level)[k] for k in np.argsort(_nested(counted, level, self.tree)))

    def check_nested(self) -> None:
        """Refuse categories of which it is not known which contains which: nothing can be counted by them."""
        for coarse, fine in pairwise(self.partitions):
            _nested(coarse[0], fine[0], self.tree)

    def up(self, fine: int, coarse: int) -> Ints:
        """Return for every position at the fine depth the position at the coarse one that contains it.

        Where only numbers of categories are known, blocks are as equal as can be.
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
        """Return the runs from a fine depth to a coarse one, made once."""
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
        """Return a breakdown by this axis as the column of a table, made once."""
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
        raise InternalError(f"Level {fine.name} is no refinement of {coarse.name}.")
    return np.array(found, dtype=np.int64)


def _listed(level: Level) -> tuple[str, ...]:
    """Return the categories of a level; protect has refused levels without them before it gets here."""
    if level.codes is None:
        what = f"Level {level.name} has no list of categories."
        raise ProgrammeError(f"{what} Give the topic categories or a hierarchy.", topic=level.topic)
    return level.codes


def axis_of(name: str, levels: Sequence[Level], tree: CategoryTree | None, *, keep_single: bool = False) -> Axis:
    """Return the axis of levels from coarse to fine; with `keep_single` every level is a partition of its own."""
    found: list[tuple[Level, ...]] = []
    for level in levels:
        if keep_single or level.size != (found[-1][0].size if found else 1):
            found.append((level,))
        elif found:
            found[-1] = (*found[-1], level)
    return Axis(name, tuple(found), tree)


def topic_axes(programme: Programme, tables: Sequence[Table], *, keep_single: bool = False) -> dict[str, Axis]:
    """Return the axis of every topic that tables use, with the levels they use, by first use."""
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
    """Return the axes of all tables of a programme, by which records can be counted."""
    found = topic_axes(programme, programme.tables)
    for axis in found.values():
        axis.check_nested()
    return found


@dataclass(frozen=True)
class ColumnLevel:
    """One level of a breakdown as a table shows it: where its cells are counted, and what they are called.

    Attributes:
        name: its name in the programme.
        depth: the depth on the topic's axis.
        labels: the code of every position, as its number in the breakdown's list of codes.
        fresh: which positions have a code that no coarser level of the breakdown has; None where all are.
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
        """Return for every depth that the column shows the next one it shows."""
        return dict(pairwise(self.depths))

    @cached_property
    def level_of_code(self) -> tuple[tuple[str, ...], NDArray[np.signedinteger]] | None:
        """Return names of levels, and for every code the number of its own; None if codes alone tell the level.

        A category that is not split further belongs to several levels: all their names, joined by blanks.
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
        """Return by depth which categories have a row of their own, for depths where not all have.

        A code that two levels share, because its category is not split further, has one row.
        """
        whole = {level.depth for level in self.levels if level.fresh is None}
        found: dict[int, Flags] = {}
        for level in self.levels:
            if level.fresh is not None and level.depth not in whole:
                found[level.depth] = found.get(level.depth, level.fresh) | level.fresh
        return {depth: flags for depth, flags in found.items() if not flags.all()}


def _column(breakdown: Breakdown, axis: Axis) -> TableColumn:
    """Return a column of a table with the codes in the order in which they first appear, coarse to fine."""
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
    # The narrowest numbers that hold all codes: a table has a number per row and column.
    kind = np.min_scalar_type(-len(place))
    narrow = tuple(replace(level, labels=level.labels.astype(kind)) for level in levels)
    return TableColumn(breakdown.code, breakdown.topic, tuple(place), narrow)
