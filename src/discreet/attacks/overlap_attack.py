"""Sliver attack: counts of the intersections of overlapping areas, found by subtraction.

Two topics divide the same country, as municipalities and grid cells do. A map shows which areas overlap: in a graph
with the areas of both topics as nodes, an edge joins two areas that overlap. The number x_e >= 0 of persons in an
intersection is not published, but the count of an area is the sum of x_e over its edges. If an edge e is a bridge, that
is if its removal separates its component, then for the areas S on one side of it

    x_e = | sum of the areas of one kind in S - sum of those of the other |,

a sum of |S| published counts with noise variance |S| V. The smaller side is used; an area that overlaps only one other
area is a sliver by itself, |S| = 1. Areas nested in one topic need no map: their sums are among the margin equations,
and the attack `projection` uses them.

Bridges are found in time linear in edges. In a depth-first tree every other edge leads from a node to one of its
ancestors. Hence a tree edge is a bridge if and only if no such edge leaves the subtree below it. Each such edge counts
+1 at its lower end and -1 at its upper end, summed over the subtree. Tarjan (1974), A note on finding the bridges of a
graph, Information Processing Letters 2.

Differencing of geographies: Duke-Williams and Rees (1998), Can census offices publish statistics for more than one
small area geography? International Journal of Geographical Information Science 12(6), 579-605.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attack_estimates import ATTACKS, AttackEstimates
from discreet.attacks.count_differences import averaged
from discreet.attacks.count_prior import SMALL, empirical_prior
from discreet.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attack_estimates import Truth
    from discreet.attacks.attacker_view import AssumedNoise, AttackerView, Overlaps, PopulationCounts
    from discreet.tabulation.cell_vector import CellVector


@dataclass(frozen=True, eq=False)
class Tree:
    """A depth-first tree of every component.

    Attributes:
        order: the nodes in preorder: a node, then its whole subtree.
        place: the position of each node in the order.
        parent: the parent of each node; -1 for a root.
        size: the number of nodes in the subtree of each node, itself included.
        top: the position of the root of the component of each node.
    """

    order: Ints
    place: Ints
    parent: Ints
    size: Ints
    top: Ints


@dataclass(frozen=True, eq=False)
class Bridges:
    """The bridges of a graph, each with the smaller of its two sides.

    Attributes:
        near: the end of the bridge that belongs to the smaller side.
        far: the other end.
        size: the number of nodes of the smaller side.
        tree: the depth-first tree.
        start: the position of the first node below the bridge.
        stop: the position after the last node below the bridge.
        below: whether the smaller side is the subtree below the bridge; otherwise the rest of the component.
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
        """Return for every bridge the sum over the nodes on its smaller side; `values` has a row per node."""
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
        nodes: the number of nodes.
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
    """Return the bridges of a graph without parallel edges, each with its smaller side.

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


FEW = 8
"""Maximum number of areas for which the noise distribution of their sum is computed; beyond, it is normal."""
OUTLIER = 8.0
"""Number of standard deviations beyond which noise does not explain a gap."""
MAX_HELD = 4_000_000
"""Maximum number of probabilities held in memory at once."""


@dataclass(frozen=True, eq=False)
class Map:
    """The graph of overlapping areas: the areas of the first topic, then those of the second.

    Attributes:
        topics: the two topics.
        codes: the codes of their areas.
        found: the bridges.
        part: the number of the component of every area.
    """

    topics: tuple[str, str]
    codes: tuple[tuple[str, ...], tuple[str, ...]]
    found: Bridges
    part: Ints

    @cached_property
    def sign(self) -> Ints:
        """Return +1 for bridges whose near end belongs to the first topic, -1 for others."""
        return np.where(self.found.near < len(self.codes[0]), 1, -1)

    @cached_property
    def kind(self) -> Ints:
        """Return +1 for areas of the first topic, -1 for those of the second."""
        return np.repeat([1, -1], [len(codes) for codes in self.codes])


def map_of(overlaps: Overlaps, codes: tuple[tuple[str, ...], tuple[str, ...]]) -> Map:
    """Return the graph of overlapping areas with its bridges; raise an error for unknown codes."""
    place = [{code: number for number, code in enumerate(known)} for known in codes]
    for pair in overlaps.pairs:
        for topic, code, known in zip(overlaps.topics, pair, place, strict=True):
            if code not in known:
                raise UnknownNameError.among(f"code of topic {topic} in the overlaps", code, known)
    pairs = dict.fromkeys(overlaps.pairs)
    ends = np.array([[place[0][a], place[1][b]] for a, b in pairs], dtype=np.int64).reshape(-1, 2).T
    ends[1] += len(codes[0])
    areas = len(codes[0]) + len(codes[1])
    return Map(overlaps.topics, codes, bridges(areas, ends), _parts_of(areas, ends))


def _parts_of(areas: int, ends: Ints) -> Ints:
    """Return the number of the component of every area."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(ends.shape[1], dtype=np.int8), tuple(ends)), shape=(areas, areas))
    found: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return found


@dataclass(frozen=True, eq=False)
class AreaIntersections:
    """The slivers of two statistics that differ only in the topic of their areas.

    Attributes:
        view: the published counts of the population.
        map: the graph of overlapping areas.
        places: the positions of the counts: a row per area, a column per category of the other topics.
        tables: the number of independent noise terms in a count, for each of the two statistics.
    """

    view: PopulationCounts
    map: Map
    places: Ints
    tables: tuple[int, int]

    @cached_property
    def raw(self) -> Floats:
        """Return the signed sums of published counts, a row per bridge."""
        areas = self.view.published[self.places] * self.map.kind[:, None]
        found: Floats = self.map.found.sums(areas) * self.map.sign[:, None]
        return found

    def check(self, noise: AssumedNoise) -> None:
        """Raise an error for a wrong map: in each component both topics must contain the same persons."""
        kind, part = self.map.kind[:, None], self.map.part
        areas = np.bincount(part)
        gap = np.stack([np.bincount(part, column) for column in (kind * self.view.published[self.places]).T], axis=1)
        limit = np.minimum(noise.bound * areas, OUTLIER * np.sqrt(noise.variance * areas) + noise.reach)
        wrong = np.flatnonzero((np.abs(gap) > limit[:, None]).any(axis=1))
        if len(wrong):
            area = int(np.flatnonzero(part == wrong[0])[0])
            first, second = self.map.topics
            of, code = (first if area < len(self.map.codes[0]) else second), sum(self.map.codes, ())[area]
            raise ParameterError(
                f"The overlaps of {first} and {second} contradict the published counts. Near {code} of {of}, in a "
                f"component of {areas[wrong[0]]:,} areas, noise cannot explain the difference. Correct the overlaps.",
                parameter="overlaps",
            )

    def true(self, truth: Truth) -> Ints:
        """Return the true counts."""
        areas = truth.counts(self.view.layout.name)[self.places] * self.map.kind[:, None]
        return np.rint(self.map.found.sums(areas.astype(float)) * self.map.sign[:, None]).astype(np.int64)

    def confidence(self, noise: AssumedNoise, estimate: Ints) -> Floats:
        """Return the posterior probability of every estimate, given the published counts; counts are non-negative."""
        published = np.rint(self.view.published[self.places]).astype(np.int64)
        behind = [
            NoisePosterior.learnt(published[self.map.kind == kind], averaged(noise, tables))
            for kind, tables in zip((1, -1), self.tables, strict=True)
        ]
        mean, variance = np.zeros(published.shape), np.zeros(published.shape)
        for kind, law in zip((1, -1), behind, strict=True):
            here = self.map.kind == kind
            mean[here], variance[here] = law.moments(published[here])
        size = self.map.found.size
        found = np.empty(estimate.shape)
        many = size > FEW
        bias = self.map.found.sums(mean * self.map.kind[:, None]) * self.map.sign[:, None]
        spread = self.map.found.sums(variance)
        found[many] = _normal(estimate[many], (self.raw - bias)[many], spread[many])
        for areas in np.unique(size[~many]).tolist():
            those = np.flatnonzero(size == areas)
            step = max(1, MAX_HELD // (published.shape[1] * areas * behind[0].length(areas)))
            for part in np.array_split(those, -(-len(those) // step)):
                found[part] = self._few(part, published, behind, estimate[part])
        return found

    def _few(self, those: Ints, published: Ints, behind: list[NoisePosterior], estimate: Ints) -> Floats:
        """Return the posterior of slivers with equally many areas, by convolution of their noise distributions."""
        sides = np.stack([self.map.found.side(number) for number in those.tolist()])
        areas = sides.shape[1]
        length = behind[0].length(areas)
        weight = self.map.kind[sides] * self.map.sign[those][:, None]
        total: NDArray[np.complex128] = np.ones((1, 1, 1), dtype=complex)
        for number in range(areas):
            first = (self.map.kind[sides[:, number]] == 1)[:, None, None]
            seen = published[sides[:, number]]
            laws = np.where(first, behind[0].law(seen), behind[1].law(seen))
            shape = np.fft.rfft(laws, length)
            # The distribution of a negated noise term has the conjugate transform.
            total = total * np.where(weight[:, number, None, None] > 0, shape, np.conj(shape))
        pmf = np.maximum(np.fft.irfft(total, length), 0.0)
        # A distribution starts at -reach; a reversed one ends there.
        turned = (weight > 0).sum(axis=1) - (weight < 0).sum(axis=1)
        reach = behind[0].reach
        noise = np.arange(-areas * reach, areas * reach + 1)
        index = (noise[None, :] + turned[:, None] * reach) % length
        chance = np.take_along_axis(pmf, np.broadcast_to(index[:, None, :], (*pmf.shape[:2], len(noise))), axis=2)
        left = np.rint(self.raw[those])[..., None] - noise
        possible = np.where(left >= 0, chance, 0.0)
        behind_it = possible.sum(axis=2)
        hit = np.where(left == estimate[..., None], possible, 0.0).sum(axis=2)
        found: Floats = np.divide(hit, behind_it, out=np.zeros_like(hit), where=behind_it > 0)
        return found


@dataclass(frozen=True, eq=False)
class NoisePosterior:
    """The posterior noise distribution given the published count, for areas of one topic.

    Attributes:
        table: the probability of noise -reach .. reach, by published count from `first` to `last`.
        first: the smallest published count with its own row.
        last: the largest one; all larger counts have the distribution of the last row.
    """

    table: Floats
    first: int
    last: int

    @classmethod
    def learnt(cls, published: Ints, noise: AssumedNoise) -> NoisePosterior:
        """Return the posterior with a prior estimated from the published counts of all areas of this topic."""
        prior = empirical_prior(published.ravel().astype(float), noise)
        first, last = -noise.reach, SMALL
        seen, error = np.arange(first, last + 1), np.arange(-noise.reach, noise.reach + 1)
        true = seen[:, None] - error
        share = np.where(true < len(prior), prior[np.clip(true, 0, len(prior) - 1)], 0.0) * (true >= 0)
        joint = share * noise.chance(true, seen[:, None])
        behind = joint.sum(axis=1, keepdims=True)
        large = np.mean(noise.laws[-noise.repeat :], axis=0)
        posterior = np.divide(joint, behind, out=np.broadcast_to(large, joint.shape).copy(), where=behind > 0)
        return cls(np.concatenate([posterior, large[None, :]]), first, last)

    @property
    def reach(self) -> int:
        """Return the largest absolute noise."""
        return int(self.table.shape[1]) // 2

    def length(self, areas: int) -> int:
        """Return the length of a Fourier transform for the sum of this number of noise terms."""
        return 1 << (2 * areas * self.reach + 1).bit_length()

    def law(self, published: Ints) -> Floats:
        """Return the posterior noise distribution of published counts."""
        return self.table[np.clip(published, self.first, self.last + 1) - self.first]

    def moments(self, published: Ints) -> tuple[Floats, Floats]:
        """Return posterior mean and variance of the noise of published counts."""
        error = np.arange(-self.reach, self.reach + 1)
        mean = self.table @ error
        variance = self.table @ error**2 - mean**2
        row = np.clip(published, self.first, self.last + 1) - self.first
        return mean[row], variance[row]


def _normal(estimate: Ints, centre: Floats, variance: Floats) -> Floats:
    """Return the posterior of non-negative whole numbers under a normal distribution."""
    from scipy.special import ndtr

    spread = np.sqrt(np.maximum(variance, 1e-12))
    low, high = (estimate - 0.5 - centre) / spread, (estimate + 0.5 - centre) / spread
    all_of_it = ndtr(-(-0.5 - centre) / spread)
    hit = ndtr(high) - ndtr(low)
    found: Floats = np.divide(hit, all_of_it, out=np.zeros_like(hit), where=all_of_it > 0)
    return np.minimum(found, 1.0)


@ATTACKS.register("slivers")
def slivers(attacker: AttackerView) -> list[AttackEstimates]:
    """Return the counts of all intersections of areas that subtraction isolates."""
    overlaps = attacker.knowledge.overlaps
    if overlaps is None:
        return []
    parts = [part for view in attacker.views() for part in _parts(view, overlaps) if len(part.map.found)]
    if not parts:
        return []
    done: list[tuple[AreaIntersections, Ints, Floats]] = []
    for number, part in enumerate(parts):
        part.check(attacker.noise)
        estimate = np.maximum(np.rint(part.raw), 0).astype(np.int64)
        done.append((part, estimate, part.confidence(attacker.noise, estimate)))
        if attacker.progress:
            attacker.progress("slivers", number + 1, len(parts))
    return [_finding(done, overlaps)]


def _parts(view: PopulationCounts, overlaps: Overlaps) -> list[AreaIntersections]:
    """Return the pairs of published statistics that differ only in the topic of their areas."""
    layout = view.layout
    axes = {axis.name: number for number, axis in enumerate(layout.lattice.axes)}
    if not all(topic in axes for topic in overlaps.topics):
        return []
    first, second = (axes[topic] for topic in overlaps.topics)
    codes = [layout.lattice.axes[axis].codes[-1] for axis in (first, second)]
    if not codes[0] or not codes[1] or not _finest(layout, overlaps):
        return []
    found = map_of(overlaps, (codes[0], codes[1]))
    whole = {first: len(layout.lattice.axes[first].sizes), second: len(layout.lattice.axes[second].sizes)}
    rows = {tuple(layout.lattice.depths[s].tolist()): s for s in layout.equations.statistics.tolist()}
    parts = []
    for depths, statistic in rows.items():
        if depths[first] != whole[first] or depths[second]:
            continue
        moved = {**dict(enumerate(depths)), first: 0, second: whole[second]}
        twin = rows.get(tuple(moved.values()))
        if twin is not None:
            places = np.concatenate([_places(layout, statistic, first), _places(layout, twin, second)])
            noises = layout.equations.noise_term_counts
            parts.append(AreaIntersections(view, found, places, (int(noises[statistic]), int(noises[twin]))))
    return parts


def _finest(layout: CellVector, overlaps: Overlaps) -> bool:
    """Return whether the areas of the map are published, and not only larger ones."""
    topics = layout.programme.topics
    published = {axis.name: set(axis.codes[-1] or ()) for axis in layout.lattice.axes}
    return all(published[topic] == set(topics[topic].levels[-1].codes or ()) for topic in overlaps.topics)


def _places(layout: CellVector, statistic: int, axis: int) -> Ints:
    """Return the positions of the cells of a statistic, a row per category of one axis."""
    cells = layout.equations.cells_of(statistic)
    numbers = np.arange(cells.start, cells.stop).reshape(layout.equations.shape(statistic))
    return np.moveaxis(numbers, axis, 0).reshape(numbers.shape[axis], -1)


def _finding(done: list[tuple[AreaIntersections, Ints, Floats]], overlaps: Overlaps) -> AttackEstimates:
    estimate = np.concatenate([found.ravel() for _, found, _ in done])
    areas = np.concatenate([np.repeat(part.map.found.size, part.places.shape[1]) for part, _, _ in done])
    sizes, group_of = np.unique(areas, return_inverse=True)
    first, second = overlaps.topics

    def actual(truth: Truth) -> Ints:
        return np.concatenate([part.true(truth).ravel() for part, _, _ in done])

    return AttackEstimates(
        attack="slivers",
        subject=f"slivers between {first} and {second}",
        estimate=estimate,
        confidence=np.concatenate([sure.ravel() for _, _, sure in done]),
        # An area that overlaps only one other area is itself published.
        naive=np.where(areas == 1, estimate, 0),
        actual=actual,
        groups=tuple(f"sums of {size:,} areas" if size > 1 else "single areas" for size in sizes.tolist()),
        group_of=group_of.ravel(),
        rerun=True,
        method=f"areas of {first} minus areas of {second} on one side of an overlap that is the only link to the rest",
        assumptions=(
            "the map is correct: no person lives in an overlap that it does not list",
            f"noise is independent between areas; sums of more than {FEW} noise terms are normal",
        ),
    )
