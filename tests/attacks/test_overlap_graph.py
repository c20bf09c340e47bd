from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.overlap_attack import bridges, depth_first

if TYPE_CHECKING:
    from discreet.arrays import Ints

Edges = list[tuple[int, int]]
Graph = tuple[int, Edges]


def component(nodes: int, edges: Edges, start: int) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        for a, b in edges:
            for here, there in ((a, b), (b, a)):
                if here == node and there not in found:
                    found.add(there)
                    waiting.append(there)
    assert len(found) <= nodes
    return found


def bridges_by_hand(nodes: int, edges: Edges) -> dict[frozenset[int], set[frozenset[int]]]:
    """Return every edge without which its ends are apart, with the sides that have the fewer nodes."""
    found = {}
    for edge in edges:
        rest = [other for other in edges if other != edge]
        left, right = component(nodes, rest, edge[0]), component(nodes, rest, edge[1])
        if edge[1] not in left:
            fewer = min(len(left), len(right))
            found[frozenset(edge)] = {frozenset(side) for side in (left, right) if len(side) == fewer}
    return found


def ends(edges: Edges) -> Ints:
    return np.array(edges, dtype=np.int64).reshape(-1, 2).T


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    nodes = draw(st.integers(2, 12))
    pairs = [(a, b) for a in range(nodes) for b in range(a)]
    return nodes, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16))


@given(graphs())
def test_bridges_are_the_edges_whose_removal_separates(graph: Graph) -> None:
    nodes, edges = graph
    found = bridges(nodes, ends(edges))
    wanted = bridges_by_hand(nodes, edges)
    assert {frozenset(pair) for pair in zip(found.near.tolist(), found.far.tolist(), strict=True)} == wanted.keys()
    for number in range(len(found)):
        side = found.side(number).tolist()
        edge = frozenset((int(found.near[number]), int(found.far[number])))
        assert frozenset(side) in wanted[edge]
        assert len(side) == found.size[number] == len(set(side))
        assert found.near[number] in side
        assert found.far[number] not in side


@given(graphs(), st.integers(0, 100))
def test_sums_are_those_over_the_side(graph: Graph, seed: int) -> None:
    nodes, edges = graph
    values = np.random.default_rng(seed).integers(-9, 9, (nodes, 2)).astype(float)
    found = bridges(nodes, ends(edges))
    for number, total in enumerate(found.sums(values)):
        assert total.tolist() == values[found.side(number)].sum(axis=0).tolist()


@given(graphs())
def test_other_edges_of_a_depth_first_tree_lead_to_ancestors(graph: Graph) -> None:
    nodes, edges = graph
    tree = depth_first(nodes, ends(edges))
    assert sorted(tree.order.tolist()) == list(range(nodes))
    for a, b in edges:
        low, high = sorted((a, b), key=lambda node: -tree.place[node])
        assert tree.place[high] <= tree.place[low] < tree.place[high] + tree.size[high]


def test_a_graph_without_edges_has_no_bridges() -> None:
    assert len(bridges(3, ends([]))) == 0


def test_a_long_path_needs_no_recursion() -> None:
    nodes = 50_000
    found = bridges(nodes, np.stack([np.arange(nodes - 1), np.arange(1, nodes)]))
    assert max(found.size.tolist()) == nodes // 2
    assert len(found) == nodes - 1


@pytest.mark.slow
def test_a_hundred_thousand_edges_take_a_moment() -> None:
    random = np.random.default_rng(1)
    pairs = np.unique(random.integers(0, 80_000, (2, 100_000)), axis=1)
    pairs = np.unique(np.sort(pairs[:, pairs[0] != pairs[1]], axis=0), axis=1)
    start = time.monotonic()
    found = bridges(80_000, pairs)
    assert time.monotonic() - start < 5
    # As many as scipy's components say for some of them.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    def components(kept: Ints) -> int:
        graph = coo_array((np.ones(kept.shape[1]), (kept[0], kept[1])), shape=(80_000, 80_000))
        return int(connected_components(graph, directed=False)[0])

    whole = components(pairs)
    are = {frozenset(pair) for pair in zip(found.near.tolist(), found.far.tolist(), strict=True)}
    for number in random.choice(pairs.shape[1], 12, replace=False).tolist():
        more = components(np.delete(pairs, number, axis=1)) - whole
        assert more == (frozenset(pairs[:, number].tolist()) in are)


@pytest.mark.parametrize("turned", [False, True])
def test_the_side_does_not_depend_on_how_an_edge_is_written(turned: bool) -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 4)]
    found = bridges(5, ends([(b, a) for a, b in edges] if turned else edges))
    assert sorted(found.size.tolist()) == [1, 1, 2, 2]
