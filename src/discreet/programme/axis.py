"""Every topic of a population as one axis: its partitions from coarse to fine, and how each sums up to the next.

Depth 0 is the total. Levels of one size are one partition, because levels are nested;
a level with a single category is the total. A position is the place of a category in
its partition; `ups[d]` gives for every position at depth d the position at depth d - 1
that contains it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InternalError, ProgrammeError
from discreet.programme.model import TOTAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Flags, Ints
    from discreet.programme.model import Level, Programme, Table, Topic


@dataclass(frozen=True)
class Runs:
    """How the positions at a fine depth fall into those at a coarse one, as runs that can be summed.

    Attributes:
        order: the fine positions so that those of one coarse position stand side by side; None if they do so already.
        starts: where every run begins, and where the last one ends.
    """

    order: Ints | None
    starts: Ints


@dataclass(frozen=True, eq=False)
class TopicAxis:
    """One topic: for every depth from 1 on the levels that are this partition, the first of them named first."""

    topic: str
    depths: tuple[tuple[Level, ...], ...]
    ups: tuple[Ints, ...]

    def size(self, depth: int) -> int:
        """Return the number of categories at a depth; the total has one."""
        return self.depths[depth - 1][0].size if depth else 1

    def depth_of(self, level: Level) -> int:
        """Return the depth of a level, 0 for one with a single category."""
        return next((d for d, levels in enumerate(self.depths, start=1) if level in levels), 0)

    def up(self, fine: int, coarse: int) -> Ints:
        """Return for every position at the fine depth the position at the coarse one that contains it."""
        found = np.arange(self.size(fine))
        for depth in range(fine, coarse, -1):
            found = self.ups[depth - 1][found]
        return found

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


@dataclass(frozen=True)
class ColumnLevel:
    """One level of a breakdown as a table shows it: where its cells are counted, and what they are called.

    Attributes:
        depth: the depth on the topic's axis.
        labels: the code of every position, as its number in the breakdown's list of codes.
        fresh: which positions have a code that no coarser level of the breakdown has; None where all are.
    """

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
    def finer(self) -> dict[int, int]:
        """Return for every depth that the column shows the next one it shows."""
        return dict(pairwise(sorted({level.depth for level in self.levels})))

    @cached_property
    def deepest(self) -> int:
        """Return the depth of the finest level."""
        return max((level.depth for level in self.levels), default=0)


def topic_axes(programme: Programme) -> dict[str, TopicAxis]:
    """Return the axis of every topic that the tables use, with the levels they use."""
    tables = programme.tables
    used = {level for table in tables for breakdown in table.breakdowns for level in breakdown.levels}
    topics = dict.fromkeys(breakdown.topic for table in tables for breakdown in table.breakdowns)
    return {topic: _axis(programme.topics[topic], used) for topic in topics}


def _axis(topic: Topic, used: set[Level]) -> TopicAxis:
    depths: list[tuple[Level, ...]] = []
    for level in topic.levels:
        if level not in used or level.size == 1:
            continue
        if depths and depths[-1][0].size == level.size:
            depths[-1] = (*depths[-1], level)
        else:
            depths.append((level,))
    ups = [np.zeros(depths[0][0].size, dtype=np.int64)] if depths else []
    ups += [containing(topic, coarse[0], fine[0]) for coarse, fine in pairwise(depths)]
    return TopicAxis(topic.name, tuple(depths), tuple(ups))


def containing(topic: Topic, coarse: Level, fine: Level) -> Ints:
    """Return for every category of the fine level the position of the coarse one that contains it."""
    found = topic.tree.above(codes(coarse), codes(fine)) if topic.tree else None
    if found is None:
        raise InternalError(f"Level {fine.name} is no refinement of {coarse.name}.")
    return np.array(found, dtype=np.int64)


def codes(level: Level) -> tuple[str, ...]:
    """Return the categories of a level; protect has refused levels without them before it gets here."""
    if level.codes is None:
        what = f"Level {level.name} has no list of categories."
        raise ProgrammeError(f"{what} Give the topic categories or a hierarchy.", topic=level.topic)
    return level.codes


def columns(table: Table, programme: Programme, axes: dict[str, TopicAxis]) -> tuple[TableColumn, ...]:
    """Return the columns of a table with the codes in the order in which they first appear, coarse to fine."""
    found = []
    for breakdown in table.breakdowns:
        axis, topic = axes[breakdown.topic], programme.topics[breakdown.topic]
        place: dict[str, int] = {}
        levels: list[ColumnLevel] = []
        if breakdown.total or not breakdown.levels:
            place[TOTAL] = 0
            levels.append(ColumnLevel(0, np.zeros(1, dtype=np.int32), None))
        for level in breakdown.levels:
            listed = in_counted_order(topic, axis, level)
            new = np.array([code not in place for code in listed])
            for code in listed:
                place.setdefault(code, len(place))
            if new.any():
                labels = np.array([place[code] for code in listed], dtype=np.int32)
                levels.append(ColumnLevel(axis.depth_of(level), labels, None if new.all() else new))
        # The narrowest numbers that hold all codes: a table has a number per row and column.
        kind = np.min_scalar_type(-len(place))
        narrow = tuple(replace(level, labels=level.labels.astype(kind)) for level in levels)
        found.append(TableColumn(breakdown.code, breakdown.topic, tuple(place), narrow))
    return tuple(found)


def in_counted_order(topic: Topic, axis: TopicAxis, level: Level) -> tuple[str, ...]:
    """Return the codes of a level in the order of the partition in which its cells are counted."""
    depth = axis.depth_of(level)
    counted = axis.depths[depth - 1][0] if depth else level
    if counted == level:
        return codes(level)
    # The same partition under other codes: each of its categories lies in exactly one of the counted ones.
    return tuple(codes(level)[k] for k in np.argsort(containing(topic, counted, level)))
