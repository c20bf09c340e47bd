"""The published cells of all universes of one unit, and every equation between them.

A table with a universe counts some of the units that other tables count: its cells are sums over cells of the whole
population, and cells with the same participants in two universes have the same noise. The equations are those of the
cells of the whole population, published or not:

    cell of a statistic s in universe U = sum of the cells of v inside U, v the coarsest refinement of s that U divides.

Every such v, with every common coarsening of two of them, is a node of one lattice. Unpublished nodes are free
variables: they have no noise and are eliminated. Depths of an axis are nested, so these equations are complete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.equations.least_squares import FreeSums, MarginSums, scaled_rows
from discreet.equations.margin_equations import MOST_CELLS, MarginEquations
from discreet.equations.unknowns import UnknownEquations
from discreet.errors import InternalError, ProgrammeError, TooLargeError
from discreet.programme.axis import Axis
from discreet.programme.lattice import Lattice, lattice
from discreet.programme.model import Level
from discreet.programme.universe import Universe, finest_codes, universe_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Floats, Ints
    from discreet.programme.model import Programme, Table, Topic

MOST_NODES = 20_000
SEED = 20_211_231
"""The seed of the weights of keys; fixed, so that a programme always has the same unknowns."""
PRIME = 2**31 - 1
WHOLE_POPULATION = Universe()


@dataclass(frozen=True, eq=False)
class UnitAxis(Axis):
    """One topic of the whole unit: the partitions that tables and universes use, from coarse to fine.

    Attributes:
        of: the category of each finest code, by depth.
    """

    of: tuple[Ints, ...] = ()

    def depth(self, size: int) -> int:
        """Return the depth of the partition with a number of categories; nested partitions of equal size are equal."""
        return 0 if size == 1 else 1 + self.sizes.index(size)

    def _containing(self, fine: int, coarse: int) -> Ints:
        found = np.zeros(self.size(fine), dtype=np.int64)
        found[self.of[fine]] = self.of[coarse]
        return found


@dataclass(frozen=True, eq=False)
class Part:
    """One population of the unit: its equations, the position of its cells, and its universe.

    Attributes:
        name: the population.
        equations: the equations between the cells of this population only.
        start: the index of its first cell among those of the unit.
        universe: the counted persons; None if the universe is only a name, which relates it to no other table.
        of: the category of each finest code, by axis and depth of its lattice.
    """

    name: str
    equations: MarginEquations
    start: int
    universe: Universe | None
    of: tuple[tuple[Ints, ...], ...]

    @property
    def lattice(self) -> Lattice:
        """Return the statistics of the population."""
        return self.equations.lattice

    def places(self, statistic: int) -> Ints:
        """Return the indices of the cells of a statistic among those of the unit."""
        inside = self.equations.cells_of(statistic)
        return np.arange(self.start + inside.start, self.start + inside.stop)

    @cached_property
    def largest(self) -> list[int]:
        """Return the statistics that no other statistic of the population refines."""
        depths = self.lattice.depths
        shown = self.equations.statistics
        return [s for s in shown.tolist() if (depths[shown] >= depths[s]).all(axis=1).sum() == 1]


@dataclass(frozen=True, eq=False)
class JointEquations(UnknownEquations):
    """The equations between the published cells of all populations that count one unit.

    The cells are ordered by population as in `parts`, and within each population as in its `MarginEquations`.

    Attributes:
        programme: the tables of the unit.
        spsn: whether a count has the same noise in all tables; if not, a statistic is the mean over its tables.
    """

    programme: Programme
    spsn: bool = True

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Return the populations in order; the one with the most tables comes first."""
        found, start = {}, 0
        for name, tables in self.programme.populations.items():
            own = lattice(self.programme, population=name)
            equations = MarginEquations(own, self.spsn)
            of = tuple(
                tuple(_of_leaves(self.programme.topics[axis.name], axis, d) for d in range(len(axis.sizes) + 1))
                for axis in own.axes
            )
            found[name] = Part(name, equations, start, _universe(self.programme, tables[0]), of)
            start += equations.cells
        _refuse_above(start)
        return found

    @property
    def cells(self) -> int:
        """Return the number of published cells."""
        return sum(part.equations.cells for part in self.parts.values())

    @cached_property
    def _system(self) -> _System:
        found = _Assembly(self.cells)
        related = tuple(part for part in self.parts.values() if part.universe is not None)
        named = [(replace(part, universe=WHOLE_POPULATION),) for part in self.parts.values() if part.universe is None]
        for number, populations in enumerate([related, *named] if related else named):
            _RelatedPopulations(self.programme, populations, number).add_to(found)
        if self.spsn:
            return found.reduced(None)
        # Without SPSN, cells share an unknown if tables show them in one row.
        shown, start = [], 0
        for part in self.parts.values():
            shown.append(part.equations.unknowns + start)
            start = int(shown[-1].max()) + 1
        return found.reduced(np.concatenate(shown))

    @property
    def unknowns(self) -> Ints:
        """Return the index of the unknown of every cell; with SPSN, cells with the same participants share one."""
        return self._system.unknown_of

    @property
    def sums(self) -> MarginSums | FreeSums:
        """Return the equations between unknowns."""
        return self._system.sums

    @property
    def possible(self) -> Flags:
        """Return which cells can be non-empty: a universe may exclude categories."""
        return self._system.possible

    @cached_property
    def terms(self) -> Ints:
        """Return the number of noise terms of the unknown of every cell: one, or one per row without SPSN."""
        return np.concatenate([part.equations.terms for part in self.parts.values()])

    @cached_property
    def spread(self) -> Floats:
        """Return the standard deviation of every published cell, in units of one noise term.

        Cells that share an unknown have the weight of one cell. A cell that must be empty is known to be 0.
        """
        found = np.sqrt(np.bincount(self.unknowns)[self.unknowns] / self.terms)
        return np.where(self.possible, found, 0.0)

    def part_of(self, place: int) -> Part:
        """Return the population that a cell belongs to."""
        return next(part for part in reversed(self.parts.values()) if part.start <= place)


class _Assembly:
    """Equations under construction; the variables are the published cells, then the cells of unpublished nodes."""

    def __init__(self, cells: int) -> None:
        self.cells = cells
        self.variables = cells
        self.height = 0
        self.keys = [np.zeros(cells, dtype=np.int64)]
        self.possible = np.ones(cells, dtype=bool)
        self._entries: list[tuple[Ints, Ints, Floats]] = []

    def free(self, keys: Ints) -> Ints:
        """Add variables without noise and return their indices."""
        self.keys.append(keys)
        self.variables += len(keys)
        _refuse_above(self.variables)
        return np.arange(self.variables - len(keys), self.variables)

    def equate(self, parents: Ints, children: Ints, parent_of: Ints) -> None:
        """Add the equations parent = sum of children; `parent_of` is the index of the parent of each child."""
        rows = np.concatenate([np.arange(len(parents)), parent_of]) + self.height
        signs = np.concatenate([np.ones(len(parents)), -np.ones(len(children))])
        self._entries.append((rows, np.concatenate([parents, children]), signs))
        self.height += len(parents)

    def reduced(self, own: Ints | None) -> _System:
        """Return the equations with one variable per unknown, without uninformative equations.

        Args:
            own: the unknown of every cell; None if cells with the same participants share one.
        """
        from scipy.sparse import csr_array

        keys, spsn = np.concatenate(self.keys), own is None
        if own is None:
            # Cells that must be empty share one unknown, which is 0.
            keys[: self.cells][~self.possible] = -1
            own = np.unique(keys[: self.cells], return_inverse=True)[1].reshape(-1)
        unknowns = int(own.max()) + 1
        number = np.concatenate([own, np.zeros(self.variables - self.cells, dtype=np.int64)])
        number[self.cells :] = unknowns + np.unique(keys[self.cells :], return_inverse=True)[1].reshape(-1)
        if spsn:
            # A node with the same participants as a published cell is the same variable.
            shown, first = np.unique(keys[: self.cells], return_index=True)
            place = np.searchsorted(shown, keys[self.cells :]).clip(max=len(shown) - 1)
            same = shown[place] == keys[self.cells :]
            number[self.cells :][same] = own[first[place[same]]]
        self.equate(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
        rows, columns, signs = (np.concatenate(each) for each in zip(*self._entries, strict=True))
        empty = np.concatenate([~self.possible, np.zeros(self.variables - self.cells, dtype=bool)])[columns]
        shape = (self.height, int(number.max()) + 1)
        entries = (signs[~empty], (rows[~empty], number[columns[~empty]]))
        matrix = _without_redundant(csr_array(entries, shape=shape), unknowns)
        shown_part, free_part = matrix[:, :unknowns], matrix[:, unknowns:]
        free_part = free_part[:, np.flatnonzero(np.diff(free_part.tocsc().indptr))]
        sums = FreeSums(shown_part, free_part) if free_part.shape[1] else MarginSums(shown_part)
        return _System(own, unknowns, self.possible, sums)


@dataclass(frozen=True, eq=False)
class _System:
    """Equations between unknowns.

    Attributes:
        unknown_of: the index of the unknown of every published cell.
        unknowns: the number of unknowns.
        possible: which cells can be non-empty.
        sums: the equations.
    """

    unknown_of: Ints
    unknowns: int
    possible: Flags
    sums: MarginSums | FreeSums


def _without_redundant(matrix: Any, unknowns: int) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
    """Return the equations without those that only define a free variable; equal free variables are merged."""
    from scipy.sparse import csr_array

    random = np.random.default_rng(SEED)
    before = -1
    while matrix.nnz != before:
        before = matrix.nnz
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        matrix = matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)]
        # Of free variables with equal columns only the sum matters. Equal columns give equal sums, in the same order.
        mark = matrix[:, unknowns:].T @ random.random((matrix.shape[0], 2))
        _, first = np.unique(mark, axis=0, return_index=True)
        kept = np.zeros(mark.shape[0], dtype=bool)
        kept[first] = True
        free = matrix[:, unknowns:][:, np.flatnonzero(kept)].tocsc()
        times = np.diff(free.indptr)
        # A free variable in only one equation satisfies that equation for any values of the other variables.
        loose = np.unique(free.indices[np.repeat(times == 1, times)])
        rows = np.setdiff1d(np.arange(matrix.shape[0]), loose)
        columns = np.concatenate([np.arange(unknowns), unknowns + np.flatnonzero(kept)[times > 1]])
        matrix = csr_array(matrix[rows][:, columns])
    return scaled_rows(matrix)


@dataclass(frozen=True, eq=False)
class _RelatedPopulations:
    """Populations whose universes are parts of one whole population."""

    programme: Programme
    parts: tuple[Part, ...]
    number: int

    @cached_property
    def axes(self) -> dict[str, UnitAxis]:
        """Return every topic that a table or a universe uses, in order of name."""
        used: dict[str, dict[int, Ints]] = {}
        for part in self.parts:
            for axis, of in zip(part.lattice.axes, part.of, strict=True):
                used.setdefault(axis.name, {}).update(zip((1, *axis.sizes), of, strict=True))
        for name, slices in self._slices.items():
            known = used.setdefault(name, {1: np.zeros(len(slices), dtype=np.int64)})
            known.update(_dividing(self.programme.topics[name], slices, known))
        return {name: _unit_axis(self.programme.topics[name], used[name]) for name in sorted(used)}

    @cached_property
    def _slices(self) -> dict[str, Flags]:
        """Return the members of all universes by topic and finest code."""
        found: dict[str, list[Flags]] = {}
        for part in self.parts:
            assert part.universe is not None  # noqa: S101 - related populations have one
            for number, name in enumerate(part.universe.topics):
                members = np.moveaxis(part.universe.members, number, 0)
                found.setdefault(name, []).append(members.reshape(len(members), -1))
        return {name: np.hstack(slices) for name, slices in found.items()}

    @cached_property
    def _needed(self) -> dict[str, int]:
        """Return the coarsest depth whose categories all universes divide, by topic of a universe."""
        return {
            name: next(d for d, of in enumerate(self.axes[name].of) if _divides(of, slices))
            for name, slices in self._slices.items()
        }

    def depths(self, part: Part, statistic: int) -> tuple[int, ...]:
        """Return the depths of a statistic on all axes."""
        own = {
            axis.name: axis.sizes[depth - 1]
            for axis, depth in zip(part.lattice.axes, part.lattice.depths[statistic].tolist(), strict=True)
            if depth
        }
        return tuple(axis.depth(own.get(name, 1)) for name, axis in self.axes.items())

    def refined(self, part: Part, statistic: int) -> tuple[int, ...]:
        """Return the coarsest depths that refine a statistic and that the universe divides."""
        assert part.universe is not None  # noqa: S101 - related populations have one
        return tuple(
            max(depth, self._needed[name] if name in part.universe.topics else 0)
            for depth, name in zip(self.depths(part, statistic), self.axes, strict=True)
        )

    @cached_property
    def nodes(self) -> MarginEquations:
        """Return the lattice of nodes, closed under common coarsening, with the equations between nodes."""
        rows = {self.refined(part, s) for part in self.parts for s in part.largest}
        for part in self.parts:
            if not part.universe or not part.universe.topics:
                rows |= {self.depths(part, s) for s in part.equations.statistics.tolist()}
        listed = sorted(_closed(rows))
        closed = np.array(listed, dtype=np.int8).reshape(len(listed), len(self.axes))
        axes = tuple(self.axes.values())
        return MarginEquations(Lattice(axes, closed, np.ones(len(closed), dtype=np.int64)), spsn=False)

    def add_to(self, found: _Assembly) -> None:
        """Add every equation of these populations."""
        for part in self.parts:
            for statistic in part.equations.statistics.tolist():
                places = part.places(statistic)
                found.keys[0][places] = self._keys(part, statistic)
                found.possible[places] = self._possible(part, statistic)
        variable = self._variables(found)
        for fine, coarse in self.nodes.pairs:
            below, above = self.nodes.cells_of(fine), self.nodes.cells_of(coarse)
            found.equate(variable[above], variable[below], self.nodes.parents(fine, coarse))
        for part in self.parts:
            if not part.universe or not part.universe.topics:
                continue
            for link in part.equations.links:
                children = part.start + link.fine + np.arange(len(link.parent))
                found.equate(part.start + link.coarse + np.arange(link.size), children, link.parent)
            for statistic in part.largest:
                cells, parent = self._inside(part, statistic)
                found.equate(part.places(statistic), variable[cells], parent)

    def _variables(self, found: _Assembly) -> Ints:
        """Return the variable of every cell of a node: the published cell or a free variable."""
        variable = np.full(self.nodes.cells, -1)
        by_depths = {tuple(row): s for s, row in enumerate(self.nodes.lattice.depths.tolist())}
        for part in self.parts:
            if part.universe and part.universe.topics:
                continue
            for statistic in part.equations.statistics.tolist():
                node = by_depths[self.depths(part, statistic)]
                variable[self.nodes.cells_of(node)] = part.places(statistic)[self._own_cell(part, statistic, node)]
        free = variable < 0
        keys = np.concatenate(
            [self._node_keys(s) for s in range(len(self.nodes.lattice))] or [np.zeros(0, dtype=np.int64)]
        )
        variable[free] = found.free(keys[free])
        return variable

    def _own_cell(self, part: Part, statistic: int, node: int) -> Ints:
        """Return the cell of a statistic of the population that contains each cell of a node."""
        found = np.zeros(1, dtype=np.int64)
        names = {axis.name: number for number, axis in enumerate(part.lattice.axes)}
        for (name, axis), depth in zip(self.axes.items(), self.nodes.lattice.depths[node].tolist(), strict=True):
            number = names.get(name)
            own = 0 if number is None else int(part.lattice.depths[statistic, number])
            above = np.zeros(axis.size(depth), dtype=np.int64)
            size = 1
            if own and number is not None:
                above[axis.of[depth]] = part.of[number][own]
                size = part.lattice.axes[number].sizes[own - 1]
            found = (found[:, None] * size + above[None, :]).ravel()
        return found

    def _inside(self, part: Part, statistic: int) -> tuple[Ints, Ints]:
        """Return the cells of the refining node inside the universe, and the containing cell of the statistic."""
        assert part.universe is not None  # noqa: S101 - related populations have one
        node = int(self.nodes.lattice.places([self.refined(part, statistic)])[0])
        shape = self.nodes.shape(node)
        member = part.universe.members
        for number, name in enumerate(part.universe.topics):
            place = list(self.axes).index(name)
            axis, depth = self.axes[name], int(self.nodes.lattice.depths[node, place])
            # Any finest code represents its category: the universe divides the categories of the node.
            first = np.zeros(axis.size(depth), dtype=np.int64)
            first[axis.of[depth]] = np.arange(len(axis.of[depth]))
            member = np.take(member, first, axis=number)
        order = [list(self.axes).index(name) for name in part.universe.topics]
        full = np.transpose(member, np.argsort(order)) if order else member
        spans = [size if number in order else 1 for number, size in enumerate(shape)]
        inside = np.flatnonzero(np.broadcast_to(full.reshape(spans), shape).ravel())
        start = self.nodes.place(node)
        return start + inside, self._own_cell(part, statistic, node)[inside]

    @cached_property
    def _weights(self) -> dict[str, Ints]:
        """Return two random weights modulo a prime for every finest code, with sum 1 over each topic."""
        found = {}
        for place, (name, axis) in enumerate(self.axes.items()):
            random = np.random.default_rng([SEED, self.number, place])
            weights = random.integers(1, PRIME, size=(2, len(axis.of[0])))
            weights[:, -1] = (1 - weights[:, :-1].sum(axis=1)) % PRIME
            found[name] = weights
        return found

    def _keys(self, part: Part, statistic: int) -> Ints:
        """Return a key for every cell of a statistic; cells with the same participants have the same key.

        The key is the sum over the finest combinations of the cell, each with the product of the random weights of its
        codes. Distinct sets have distinct polynomials. Two random points distinguish them, except with a probability
        of about 10^-17.
        """
        first, second = (self._measure(part, statistic, number) for number in range(2))
        return first * PRIME + second

    def _possible(self, part: Part, statistic: int) -> Flags:
        return self._measure(part, statistic, None) > 0

    def _measure(self, part: Part, statistic: int, which: int | None) -> Ints:
        """Return the measure of every cell modulo the prime, or, without weights, whether it can be non-empty."""
        assert part.universe is not None  # noqa: S101 - related populations have one
        depths = part.lattice.depths[statistic].tolist()
        names = [axis.name for axis in part.lattice.axes]
        block = part.universe.members.astype(np.int64)
        kept: list[str] = []
        for name in part.universe.topics:
            # The first axis of the block is this topic: weight it, sum it by category, and move it to the end.
            weights = np.ones(block.shape[0], dtype=np.int64) if which is None else self._weights[name][which]
            shaped = weights.reshape(-1, *([1] * (block.ndim - 1))) * block
            depth = depths[names.index(name)] if name in names else 0
            of = part.of[names.index(name)][depth] if depth else np.zeros(block.shape[0], dtype=np.int64)
            summed = np.zeros((int(of.max()) + 1, *block.shape[1:]), dtype=np.int64)
            np.add.at(summed, of, shaped if which is None else shaped % PRIME)
            block = np.moveaxis(summed % PRIME if which is not None else np.minimum(summed, 1), 0, -1)
            kept.append(name)
        spans = {name: block.shape[number] for number, name in enumerate(kept)}
        order = [kept.index(name) for name in names if name in kept]
        gone = [number for number, name in enumerate(kept) if name not in names]
        block = np.transpose(block, [*gone, *order]).reshape([spans.get(name, 1) for name in names])
        for number, (name, depth) in enumerate(zip(names, depths, strict=True)):
            if depth and name not in kept:
                of = part.of[number][depth]
                own = np.zeros(int(of.max()) + 1, dtype=np.int64)
                np.add.at(own, of, 1 if which is None else self._weights[name][which])
                own = np.minimum(own, 1) if which is None else own % PRIME
                block = block * own.reshape([-1 if place == number else 1 for place in range(len(names))])
                block = block if which is None else block % PRIME
        return block.ravel()

    def _node_keys(self, node: int) -> Ints:
        """Return the keys of the cells of a node."""
        found = [np.ones(1, dtype=np.int64), np.ones(1, dtype=np.int64)]
        for (name, axis), depth in zip(self.axes.items(), self.nodes.lattice.depths[node].tolist(), strict=True):
            for which in range(2):
                own = np.zeros(axis.size(depth), dtype=np.int64)
                np.add.at(own, axis.of[depth], self._weights[name][which])
                found[which] = (found[which][:, None] * (own % PRIME)[None, :] % PRIME).ravel()
        return found[0] * PRIME + found[1]


def _universe(programme: Programme, table: Table) -> Universe | None:
    """Return the universe of a table; None if it is only a name without a condition on topics."""
    try:
        return universe_of(programme, table)
    except ProgrammeError:
        return None


def _divides(of: Ints, slices: Flags) -> bool:
    """Return whether every universe treats all finest codes of a category alike."""
    first = np.zeros(int(of.max()) + 1, dtype=np.int64)
    first[of] = np.arange(len(of))
    return bool((slices == slices[first[of]]).all())


def _dividing(topic: Topic, slices: Flags, used: dict[int, Ints]) -> dict[int, Ints]:
    """Return a partition that all universes divide, by its size: the coarsest one nested with those used."""
    own = np.unique(slices, axis=0, return_inverse=True)[1].reshape(-1)
    levels = [_of_level(topic, level.codes) for level in topic.levels]
    for of in (own, *(level for level in levels if _divides(level, slices)), np.arange(len(slices))):
        size = int(of.max()) + 1
        if all(_refines(of, other) if size >= many else _refines(other, of) for many, other in used.items()):
            return {size: used.get(size, of)}
    raise InternalError(f"The finest codes of {topic.name} do not refine its levels.")


def _refines(fine: Ints, coarse: Ints) -> bool:
    """Return whether every category of a partition is contained in one category of another."""
    above = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    above[fine] = coarse
    return bool((above[fine] == coarse).all())


def _unit_axis(topic: Topic, used: dict[int, Ints]) -> UnitAxis:
    """Return the axis of a topic from partitions of its finest codes by number of categories."""
    sizes = tuple(size for size in sorted(used) if size > 1)
    levels = tuple((Level(topic.name, f"{topic.name}/{size}", size),) for size in sizes)
    return UnitAxis(topic.name, levels, of=tuple(used[size] for size in (1, *sizes)))


def _of_leaves(topic: Topic, axis: Axis, depth: int) -> Ints:
    """Return the category at a depth for every finest code, or for every finest category if codes are unknown."""
    if any(level.codes is None for level in topic.levels):
        return axis.up(len(axis.sizes), depth)
    if depth == 0:
        return np.zeros(len(finest_codes(topic)), dtype=np.int64)
    return _of_level(topic, axis.codes[depth - 1])


def _of_level(topic: Topic, codes: Sequence[str] | None) -> Ints:
    leaves = finest_codes(topic)
    assert codes is not None  # noqa: S101 - called only if codes are known
    above = topic.tree.above(codes, leaves) if topic.tree else [codes.index(leaf) for leaf in leaves]
    assert above is not None  # noqa: S101 - levels are partitions of the tree
    return np.array(above, dtype=np.int64)


def _closed(rows: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Return the statistics closed under the finest common coarsening of pairs."""
    found, new = set(rows), set(rows)
    while new:
        new = {tuple(map(min, zip(a, b, strict=True))) for a in new for b in found} - found
        found |= new
        if len(found) > MOST_NODES:
            raise TooLargeError(
                f"The universes of this programme relate more than {MOST_NODES:,} statistics. Select fewer tables.",
                parameter="programme",
            )
    return found


def _refuse_above(cells: int) -> None:
    if cells > MOST_CELLS:
        raise TooLargeError(
            f"The universes of this programme relate {cells:,} cells; exact variances are computed up to "
            f"{MOST_CELLS:,}. Select fewer tables.",
            parameter="programme",
        )
