"""The graph of areas that overlap, and the edges that alone hold it together.

Nodes are the areas of two partitions of one country, an edge joins two that meet. An edge whose
removal separates its component is a bridge. In a depth-first tree every other edge leads from a
node to one of its ancestors, so a tree edge is a bridge if and only if no such edge leaves the
nodes below it: that is counted with +1 at the lower end and -1 at the upper one, summed over the
nodes below. Tarjan (1974), A note on finding the bridges of a graph, Information Processing
Letters 2; linear in edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Flags, Floats, Ints


@dataclass(frozen=True, eq=False)
class Tree:
    """A depth-first tree of every component.

    Attributes:
        order: the nodes, each before what is below it; a node and all below it stand together.
        place: where each node stands in the order.
        parent: the node above each, -1 at the top.
        size: how many nodes hang on each, itself among them.
        top: the first place of the component of each node.
    """

    order: Ints
    place: Ints
    parent: Ints
    size: Ints
    top: Ints


@dataclass(frozen=True, eq=False)
class Bridges:
    """Edges that separate the graph, each with the smaller of its two sides.

    Attributes:
        near: the end of the edge that belongs to the side.
        far: the other end.
        size: how many nodes the side has.
        tree: where the nodes stand.
        start: the place of the first node below the edge.
        stop: the place behind the last.
        below: whether the side is what is below the edge, or the rest of the component.
    """

    near: Ints
    far: Ints
    size: Ints
    tree: Tree
    start: Ints
    stop: Ints
    below: Flags

    def __len__(self) -> int:
        return len(self.near)

    def side(self, number: int) -> Ints:
        """Return the nodes on the smaller side of a bridge."""
        start, stop = int(self.start[number]), int(self.stop[number])
        if self.below[number]:
            return self.tree.order[start:stop]
        first = int(self.tree.top[self.tree.order[start]])
        last = first + int(self.tree.size[self.tree.order[first]])
        return np.concatenate([self.tree.order[first:start], self.tree.order[stop:last]])

    def sums(self, values: Floats) -> Floats:
        """Return for every bridge the sum over its side of values by node, of one row or column each."""
        cumulated = np.zeros((len(values) + 1, *values.shape[1:]))
        np.cumsum(values[self.tree.order], axis=0, out=cumulated[1:])
        inside = cumulated[self.stop] - cumulated[self.start]
        first = self.tree.top[self.tree.order[self.start]]
        whole = cumulated[first + self.tree.size[self.tree.order[first]]] - cumulated[first]
        below = self.below.reshape(-1, *[1] * (values.ndim - 1))
        found: Floats = np.where(below, inside, whole - inside)
        return found


def depth_first(nodes: int, ends: Ints) -> Tree:
    """Return the depth-first trees of a graph, without recursion.

    Args:
        nodes: how many there are.
        ends: two rows, the ends of every edge.
    """
    both = np.concatenate([ends, ends[::-1]], axis=1)
    neighbours = both[1][np.argsort(both[0], kind="stable")].tolist()
    starts = np.concatenate([[0], np.cumsum(np.bincount(both[0], minlength=nodes))]).tolist()
    parent, place, top = [-1] * nodes, [-1] * nodes, [0] * nodes
    order: list[int] = []
    following = starts[:-1].copy()
    for root in range(nodes):
        if place[root] >= 0:
            continue
        first = place[root] = len(order)
        top[root] = first
        order.append(root)
        node = root
        while node >= 0:
            if following[node] == starts[node + 1]:
                node = parent[node]
                continue
            found = neighbours[following[node]]
            following[node] += 1
            if place[found] < 0:
                parent[found], place[found], top[found] = node, len(order), first
                order.append(found)
                node = found
    size = [1] * nodes
    for node in reversed(order):
        if parent[node] >= 0:
            size[parent[node]] += size[node]
    return Tree(*(np.array(part, dtype=np.int64) for part in (order, place, parent, size, top)))


def bridges(nodes: int, ends: Ints) -> Bridges:
    """Return the bridges of a graph without double edges, each with its smaller side.

    >>> found = bridges(4, np.array([[0, 1, 2, 2], [1, 2, 0, 3]]))
    >>> list(zip(found.near.tolist(), found.far.tolist(), found.size.tolist()))
    [(3, 2, 1)]
    """
    tree = depth_first(nodes, ends)
    first, last = tree.place[ends[0]], tree.place[ends[1]]
    lower = np.where(first > last, ends[0], ends[1])
    upper = np.where(first > last, ends[1], ends[0])
    other = tree.parent[lower] != upper
    leaving = np.bincount(tree.place[lower[other]], minlength=nodes) - np.bincount(
        tree.place[upper[other]], minlength=nodes
    )
    cumulated = np.concatenate([[0], np.cumsum(leaving)])
    start = tree.place
    alone = (tree.parent >= 0) & (cumulated[start + tree.size] == cumulated[start])
    child = np.flatnonzero(alone)
    whole = tree.size[tree.order[tree.top[child]]]
    below = 2 * tree.size[child] <= whole
    return Bridges(
        near=np.where(below, child, tree.parent[child]),
        far=np.where(below, tree.parent[child], child),
        size=np.where(below, tree.size[child], whole - tree.size[child]),
        tree=tree,
        start=tree.place[child],
        stop=tree.place[child] + tree.size[child],
        below=below,
    )
