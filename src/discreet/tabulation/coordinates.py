"""A word per cell that depends on its coordinates alone: on who could be in it, by the codes of the programme.

Every topic leaves a set of finest codes: those below the category of the cell that the universe of the table allows.
With h and g keyed hashes,

    word(c) = sum over columns of g(column, sum of h(column, code) over the set) mod 2^64

and a set of all codes adds nothing. So the word of a cell does not depend on the table it is shown in, nor on how its
categories are called: a category that is the only one below another, a region of the same areas and a universe that
leaves the same codes all have the same word. If they differed, cells that must hold the same persons would have
different noise only if nobody is there, and so tell that.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.programme.universe import parse_universe
from discreet.tabulation.axes import codes
from discreet.tabulation.steps import summed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.programme.model import Programme, Table, Topic
    from discreet.tabulation.axes import TopicAxis
    from discreet.tabulation.plan import Plan, Statistic


class Places:
    """The cells of one population.

    Args:
        programme: with the categories of every topic.
        table: any table of the population: its unit and its universe count.
        version: a label; another one gives other words.
    """

    def __init__(self, programme: Programme, table: Table, version: str) -> None:
        self._programme = programme
        self._conditions = parse_universe(table.universe or "", programme, table.id)
        self._key = hashlib.blake2b(f"{version}\0{table.unit}".encode(), digest_size=32).digest()
        self._known: dict[tuple[str, int], tuple[NDArray[np.uint64], NDArray[np.uint8]]] = {}

    def words(self, plan: Plan, statistic: Statistic, index: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the word of cells of a statistic, each told by its flat index."""
        shown = self._shown(plan, statistic)
        steps = [self._of_axis(axis, depth)[0] for axis, depth in shown]
        found = summed(steps, plan.shape(statistic), index, np.dtype(np.uint64))
        columns = {_column(self._programme.topics[axis.topic]) for axis, _ in shown}
        # What the universe says of a column that the statistic sums over holds for all of its cells.
        rest = sum(word for column, word in self._of_universe.items() if column not in columns)
        words: NDArray[np.uint64] = found + np.uint64(rest % (1 << 64))
        return words

    def possible(self, plan: Plan, statistic: Statistic) -> NDArray[np.int64]:
        """Return the flat index of the cells that somebody can be in: the universe may leave a category empty."""
        every = np.arange(plan.size(statistic))
        steps = [self._of_axis(axis, depth)[1] for axis, depth in self._shown(plan, statistic)]
        if not any(step.any() for step in steps):
            return every
        marks = summed(steps, plan.shape(statistic), every, np.dtype(np.uint8))
        return np.flatnonzero(marks == 0)

    def left_empty(self, axis: TopicAxis, depth: int) -> NDArray[np.bool_]:
        """Say of every category at a depth whether the universe leaves nobody in it."""
        topic = self._programme.topics[axis.topic]
        restricted = {_column(self._programme.topics[condition.topic]) for condition in self._conditions}
        if not depth or _column(topic) not in restricted:
            return np.zeros(axis.size(depth), dtype=bool)
        return self._of_axis(axis, depth)[1].astype(bool)

    @staticmethod
    def _shown(plan: Plan, statistic: Statistic) -> list[tuple[TopicAxis, int]]:
        return [(axis, depth) for axis, depth in zip(plan.axes, statistic, strict=True) if depth]

    def _of_axis(self, axis: TopicAxis, depth: int) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Return the word of every category at a depth, and a mark on those that the universe leaves empty."""
        if (axis.topic, depth) not in self._known:
            topic = self._programme.topics[axis.topic]
            listed = codes(axis.depths[depth - 1][0])
            place = {code: number for number, code in enumerate(listed)}
            below: list[list[str]] = [[] for _ in listed]
            for leaf in self._allowed(_column(topic), topic):
                below[next(place[step] for step in _path(topic, leaf) if step in place)].append(leaf)
            words = [self._word(topic, leaves) for leaves in below]
            empty = [not leaves for leaves in below]
            self._known[axis.topic, depth] = np.array(words, dtype=np.uint64), np.array(empty, dtype=np.uint8)
        return self._known[axis.topic, depth]

    @cached_property
    def _of_universe(self) -> dict[str, int]:
        """Return the word of every column that the universe restricts, where it is summed over."""
        topics = {_column(self._programme.topics[c.topic]): self._programme.topics[c.topic] for c in self._conditions}
        return {column: self._word(topic, self._allowed(column, topic)) for column, topic in topics.items()}

    def _allowed(self, column: str, topic: Topic) -> list[str]:
        """Return the finest codes of a topic that the universe allows, whichever topic of the column it speaks of."""
        said = [c.codes for c in self._conditions if _column(self._programme.topics[c.topic]) == column]
        return [leaf for leaf in _leaves(topic) if all(leaf in allowed for allowed in said)]

    def _word(self, topic: Topic, leaves: list[str]) -> int:
        if len(leaves) == len(_leaves(topic)):
            return 0
        hashes = self._leaf_hashes(topic)
        total = sum(hashes[leaf] for leaf in leaves) % (1 << 64)
        return self._hash(f"set of {_column(topic)}\0{total}")

    def _leaf_hashes(self, topic: Topic) -> Mapping[str, int]:
        column = _column(topic)
        if column not in self._hashes:
            self._hashes[column] = {leaf: self._hash(f"code of {column}\0{leaf}") for leaf in _leaves(topic)}
        return self._hashes[column]

    @cached_property
    def _hashes(self) -> dict[str, Mapping[str, int]]:
        return {}

    def _hash(self, text: str) -> int:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=self._key).digest(), "little")


def _column(topic: Topic) -> str:
    """Return the column of a topic: topics of one column say the same of a person."""
    return topic.column or topic.name


def _leaves(topic: Topic) -> tuple[str, ...]:
    return topic.tree.leaves if topic.tree else codes(topic.levels[-1])


def _path(topic: Topic, leaf: str) -> tuple[str, ...]:
    return topic.tree.path(leaf) if topic.tree else (leaf,)
