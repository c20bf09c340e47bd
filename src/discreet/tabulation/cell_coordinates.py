"""A 64-bit word per cell that depends only on its coordinates: the combinations of codes that the cell allows.

For every topic, a cell allows a set of finest codes: those that are in the category of the cell and in the universe of
the table. With keyed hashes h and g,

    word(c) = sum over columns of g(column, sum of h(column, code) over the set) mod 2^64

where a set of all codes contributes 0. A cell without restrictions, the grand total, has a hash of version label and
unit instead of 0. The word of a cell therefore depends neither on the table nor on the names of its categories. An only
child and its parent category, a region of the same areas and a universe that allows the same codes all have the same
word. If their words differed, cells that must contain the same persons would have different noise only if they are
empty, which would disclose that they are empty.

A universe that joins topics by `or` may allow combinations of codes that are not a product of sets: see `joint_words`.
"""

from __future__ import annotations

import hashlib
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.programme.universe import finest_codes, universe_of
from discreet.tabulation.joint_words import JointAxis, joint_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Ints, Words
    from discreet.programme.axis import Axis
    from discreet.programme.lattice import Statistic
    from discreet.programme.model import Programme, Table, Topic
    from discreet.programme.universe import Factor
    from discreet.tabulation.plan import Plan

    AxisDepth = tuple[Axis, int]

# The finalizer of splitmix64 (Steele, Lea and Flood 2014): every input bit affects every output bit.
MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


class CodeHashes:
    """Hashes for one version label and one unit.

    Args:
        version: the version label; another label gives other hashes.
        unit: the unit that is counted.
    """

    def __init__(self, version: str, unit: str) -> None:
        self._key = hashlib.blake2b(f"{version}\0{unit}".encode(), digest_size=32).digest()
        self._known: dict[str, dict[str, int]] = {}

    @property
    def unrestricted(self) -> int:
        """Return the word of a cell that allows all codes of all columns."""
        return self._hash("unrestricted")

    def codes(self, topic: Topic) -> dict[str, int]:
        """Return the hash of every finest code of a topic."""
        column = column_of(topic)
        if column not in self._known:
            self._known[column] = {code: self._hash(f"code of {column}\0{code}") for code in finest_codes(topic)}
        return self._known[column]

    def sets(self, column: str, sums: Words) -> Words:
        """Return the words of sets of codes of one column, each set given by the sum of the hashes of its codes."""
        different, place = np.unique(sums, return_inverse=True)
        words = np.array([self._hash(f"set of {column}\0{total}") for total in different.tolist()], dtype=np.uint64)
        return words[place.reshape(-1)].reshape(sums.shape)

    def combinations(self, columns: Sequence[str], allowed: Flags, hashes: Sequence[Words]) -> int:
        """Return the word of a set of combinations of codes of several columns.

        Args:
            columns: the columns in the order of the axes; the word does not depend on this order.
            allowed: a mask of the combinations in the set.
            hashes: the hash of every code along each axis.
        """
        chosen = np.nonzero(allowed)
        mixed = np.zeros(len(chosen[0]), dtype=np.uint64)
        order = sorted(range(len(columns)), key=columns.__getitem__)
        for axis in order:
            mixed = _mixed(mixed + hashes[axis][chosen[axis]])
        names = "\0".join(columns[axis] for axis in order)
        return self._hash(f"combinations of {names}\0{mixed.sum(dtype=np.uint64)}")

    def _hash(self, text: str) -> int:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=self._key).digest(), "little")


def column_of(topic: Topic) -> str:
    """Return the column of a topic; topics with the same column have the same codes for a person."""
    return topic.column or topic.name


def _mixed(values: Words) -> Words:
    for shift, factor in MIXING:
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values


MAX_CELL_RATIO = 8
"""Maximum ratio of all cells to requested cells for which sums are computed for all cells."""


def summed(
    steps: Sequence[NDArray[np.unsignedinteger[Any]]],
    shape: tuple[int, ...],
    index: Ints,
    kind: np.dtype[np.unsignedinteger[Any]],
) -> NDArray[np.unsignedinteger[Any]]:
    """Return the sum of one step per axis at every index; for few indices, sum cell by cell."""
    if math.prod(shape) <= MAX_CELL_RATIO * len(index):
        total = np.zeros(1, dtype=kind)
        for step in steps:
            total = (total[:, None] + step).reshape(-1)
        return total[index]
    total = np.zeros(len(index), dtype=kind)
    for step, place in zip(steps, _positions(shape, index), strict=True):
        total += step[place]
    return total


def _positions(shape: tuple[int, ...], index: Ints) -> list[NDArray[np.integer[Any]]]:
    """Return the position along every axis."""
    found: list[NDArray[np.integer[Any]]] = []
    rest: NDArray[np.integer[Any]] = index.astype(np.uint32) if math.prod(shape) < 1 << 32 else index
    for number in range(len(shape)):
        stride = rest.dtype.type(math.prod(shape[number + 1 :]))
        place = rest // stride
        rest = rest - place * stride
        found.append(place)
    return found


class CellCoordinates:
    """The coordinate words of the cells of one population.

    Args:
        programme: the programme, with the categories of every topic.
        table: any table of the population, for its unit and universe.
        version: the version label; another label gives other words.
        labelled_total: whether the word of the grand total depends on label and unit; otherwise it is 0.
    """

    def __init__(self, programme: Programme, table: Table, version: str, *, labelled_total: bool = True) -> None:
        self._programme = programme
        self._labelled_total = labelled_total
        self._hashes = CodeHashes(version, table.unit)
        factors = universe_of(programme, table).factors
        # By column: topics with the same column have the same codes for a person.
        self._alone: dict[str, Factor] = {self._columns(one)[0]: one for one in factors if len(one.topics) == 1}
        self._joint = [factor for factor in factors if len(factor.topics) > 1]
        self._known: dict[tuple[str, int], tuple[Words, NDArray[np.uint8]]] = {}
        self._known_joint: dict[tuple[object, ...], tuple[Words, Flags]] = {}

    def words(self, plan: Plan, statistic: Statistic, index: Ints) -> Words:
        """Return the words of cells of a statistic, given by flat index."""
        shown = self._shown(plan, statistic)
        joined = {number for factor in self._joint for number in self._axes(factor, shown)}
        steps = [
            np.zeros(axis.size(depth), dtype=np.uint64) if number in joined else self._of_axis(axis, depth)[0]
            for number, (axis, depth) in enumerate(shown)
        ]
        found = summed(steps, plan.shape(statistic), index, np.dtype(np.uint64))
        columns = {self._column(axis) for axis, _ in shown}
        # The restriction of the universe on a column that the statistic sums over applies to all cells.
        rest = sum(word for column, word in self._of_universe.items() if column not in columns)
        words: Words = found + np.uint64(rest % (1 << 64))
        for factor in self._joint:
            at = self._at(factor, shown, index)
            words += self._of_factor(factor, shown)[0][at]
        if self._labelled_total:
            words[words == 0] = self._hashes.unrestricted
        return words

    def possible(self, plan: Plan, statistic: Statistic) -> Ints:
        """Return the flat indices of the cells that the universe allows."""
        every = np.arange(plan.size(statistic))
        shown = self._shown(plan, statistic)
        steps = [self._of_axis(axis, depth)[1] for axis, depth in shown]
        if any(step.any() for step in steps):
            marks = summed(steps, plan.shape(statistic), every, np.dtype(np.uint8))
            every = np.flatnonzero(marks == 0)
        for factor in self._joint:
            every = every[~self._of_factor(factor, shown)[1][self._at(factor, shown, every)]]
        return every

    def excluded(self, axis: Axis, depth: int) -> Flags:
        """Return a mask of the categories at a depth that the universe excludes."""
        if not depth or self._column(axis) not in self._alone:
            return np.zeros(axis.size(depth), dtype=bool)
        return self._of_axis(axis, depth)[1].astype(bool)

    @property
    def joins_topics(self) -> bool:
        """Return whether the universe has conditions on several topics joined by `or`."""
        return bool(self._joint)

    def jointly_excluded(self, shown: Sequence[AxisDepth]) -> Flags | None:
        """Return a mask of the cells that conditions joined by `or` exclude; None if there are no such conditions.

        Args:
            shown: the axes that are not summed over, and their depths.
        """
        shape = tuple(axis.size(depth) for axis, depth in shown)
        found: Flags | None = None
        for factor in self._joint:
            found = np.zeros(shape, dtype=bool) if found is None else found
            at = self._at(factor, shown, np.arange(found.size))
            found |= self._of_factor(factor, shown)[1][at].reshape(shape)
        return found

    @staticmethod
    def _shown(plan: Plan, statistic: Statistic) -> list[AxisDepth]:
        return [(axis, depth) for axis, depth in zip(plan.axes, statistic, strict=True) if depth]

    def _column(self, axis: Axis) -> str:
        return column_of(self._programme.topics[axis.name])

    def _columns(self, factor: Factor) -> list[str]:
        return [column_of(self._programme.topics[name]) for name in factor.topics]

    def _axes(self, factor: Factor, shown: Sequence[AxisDepth]) -> list[int | None]:
        """Return the index of the axis of each topic of a factor; None if the topic is summed over."""
        columns = [self._column(axis) for axis, _ in shown]
        return [columns.index(column) if column in columns else None for column in self._columns(factor)]

    def _at(self, factor: Factor, shown: Sequence[AxisDepth], index: Ints) -> tuple[Ints, ...]:
        """Return the positions of cells among the combinations of categories of a factor."""
        # Without an axis there is one cell.
        places = np.unravel_index(index, [axis.size(depth) for axis, depth in shown]) if shown else ()
        nowhere = np.zeros(len(index), dtype=np.int64)
        return tuple(nowhere if number is None else places[number] for number in self._axes(factor, shown))

    def _of_factor(self, factor: Factor, shown: Sequence[AxisDepth]) -> tuple[Words, Flags]:
        """Return the word of every combination of categories of a factor, and a mask of the excluded ones."""
        levels = [None if number is None else shown[number] for number in self._axes(factor, shown)]
        key = (*factor.topics, *((axis.name, depth) for axis, depth in filter(None, levels)))
        if key not in self._known_joint:
            axes = [
                self._joint_axis(self._programme.topics[name], level)
                for name, level in zip(factor.topics, levels, strict=True)
            ]
            self._known_joint[key] = joint_words(factor.allowed, axes, self._hashes)
        return self._known_joint[key]

    def _joint_axis(self, topic: Topic, level: AxisDepth | None) -> JointAxis:
        hashes = self._hashes.codes(topic)
        finest = finest_codes(topic)
        category, size = np.zeros(len(finest), dtype=np.int64), 1
        if level is not None:
            axis, depth = level
            within = self._categories(axis, depth)
            category, size = np.array([within.get(code, -1) for code in finest]), axis.size(depth)
        return JointAxis(column_of(topic), np.array([hashes[code] for code in finest], dtype=np.uint64), category, size)

    def _categories(self, axis: Axis, depth: int) -> dict[str, int]:
        """Return the index of the category at a depth that contains each finest code."""
        topic = self._programme.topics[axis.name]
        place = {code: number for number, code in enumerate(axis.codes_at(depth))}
        return {leaf: next(place[step] for step in _path(topic, leaf) if step in place) for leaf in finest_codes(topic)}

    def _of_axis(self, axis: Axis, depth: int) -> tuple[Words, NDArray[np.uint8]]:
        """Return the word of every category at a depth, and a mask of those that the universe excludes."""
        if (axis.name, depth) not in self._known:
            topic = self._programme.topics[axis.name]
            within = self._categories(axis, depth)
            below: list[list[str]] = [[] for _ in range(axis.size(depth))]
            for leaf in self._allowed(topic):
                below[within[leaf]].append(leaf)
            words = [self._word(topic, leaves) for leaves in below]
            empty = [not leaves for leaves in below]
            self._known[axis.name, depth] = np.array(words, dtype=np.uint64), np.array(empty, dtype=np.uint8)
        return self._known[axis.name, depth]

    @cached_property
    def _of_universe(self) -> dict[str, int]:
        """Return the word of every column with its own restriction in the universe, for when it is summed over."""
        topics = {column: self._programme.topics[factor.topics[0]] for column, factor in self._alone.items()}
        return {column: self._word(topic, self._allowed(topic)) for column, topic in topics.items()}

    def _allowed(self, topic: Topic) -> list[str]:
        """Return the finest codes of a topic that the universe allows, by a condition on any topic of its column."""
        factor = self._alone.get(column_of(topic))
        if factor is None:
            return list(finest_codes(topic))
        listed = finest_codes(self._programme.topics[factor.topics[0]])
        allowed = {code for code, flag in zip(listed, factor.allowed.tolist(), strict=True) if flag}
        return [leaf for leaf in finest_codes(topic) if leaf in allowed]

    def _word(self, topic: Topic, leaves: list[str]) -> int:
        if len(leaves) == len(finest_codes(topic)):
            return 0
        hashes = self._hashes.codes(topic)
        total = sum(hashes[leaf] for leaf in leaves) % (1 << 64)
        return int(self._hashes.sets(column_of(topic), np.array([total], dtype=np.uint64))[0])


def _path(topic: Topic, leaf: str) -> tuple[str, ...]:
    return topic.tree.path(leaf) if topic.tree else (leaf,)
