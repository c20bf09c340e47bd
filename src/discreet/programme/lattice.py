"""The statistics of a programme as one lattice, and sums over everything finer or coarser.

A statistic is a vector of depths, one per axis: 0 is the total, d the d-th level of
the axis. Under the rule `levels` an axis is a topic with all its levels; under `flat`
every breakdown is an axis of its own with its finest level only. With N_d categories
at depth d, a statistic s has N_s = product of N cells, and a cell of a coarser
statistic a is the sum of k = N_s / N_a cells of s (on average, where blocks are unequal).

Sums over all finer (or all coarser) statistics are taken axis by axis, so that even
10^5 statistics take a moment instead of 10^10 comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ProgrammeError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Ints, Words
    from discreet.programme.category_tree import CategoryTree
    from discreet.programme.model import Level, Programme, Table

    OwnRows = Mapping[int, Flags]

MOST_MARGINS = 1 << 20
RULES = ("levels", "flat")


@dataclass(frozen=True)
class Axis:
    """One coordinate of the lattice: names and sizes of its levels, coarse to fine, without the total.

    `codes` are the categories of every level where they are known, `tree` says which contains which.
    """

    name: str
    levels: tuple[str, ...]
    sizes: tuple[int, ...]
    codes: tuple[tuple[str, ...] | None, ...] = field(default=(), repr=False, compare=False)
    tree: CategoryTree | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class Lattice:
    """Every published statistic and every coarser one, as rows of depths in rising order.

    Attributes:
        axes: the coordinates.
        depths: one row per statistic, one column per axis.
        tables: how many tables publish the statistic; 0 for one that is only coarser than published ones.
        repeated: by statistic, the tables that show some of its cells in the row of a coarser statistic, because a
            category is not split further: how many tables, and by axis which categories have rows of their own.
    """

    axes: tuple[Axis, ...]
    depths: NDArray[np.int8]
    tables: Ints
    repeated: Mapping[int, Sequence[tuple[int, OwnRows]]] = field(default_factory=dict, repr=False)
    _neighbours: dict[tuple[int, int], Ints] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.depths)

    @property
    def published(self) -> Flags:
        """Return which statistics are published."""
        return self.tables > 0

    @cached_property
    def cells(self) -> Floats:
        """Return N_s, the number of cells of every statistic."""
        return self.along(lambda axis: [1, *axis.sizes])

    def along(self, values: Callable[[Axis], Sequence[float]]) -> Floats:
        """Return for every statistic the product over axes of a value that depends on axis and depth."""
        result = np.ones(len(self))
        for number, axis in enumerate(self.axes):
            result *= np.asarray(values(axis), dtype=float)[self.depths[:, number]]
        return result

    def rows(self, statistic: int, categories: Sequence[Ints] | None = None) -> Ints:
        """Return for every cell of a statistic how many tables show it in a row of its own.

        Args:
            statistic: its position.
            categories: for every axis the categories to look at; all if left out.
        """
        asked = self._all_categories(statistic) if categories is None else categories
        repeated = self.repeated.get(statistic, ())
        whole = self.tables[statistic] - sum(times for times, _ in repeated)
        found = np.full([len(each) for each in asked], whole, dtype=np.int64)
        for times, own in repeated:
            found += times * _crossed(own, asked)
        return found.ravel()

    def moved(self, fine: int, coarse: int, categories: Sequence[Ints] | None = None) -> Flags | None:
        """Return which cells of a statistic have no row of their own, but the row of a coarser statistic; None if none.

        Args:
            fine: the position of the statistic.
            coarse: that of the next coarser published one along an axis.
            categories: for every axis the categories of the statistic to look at; all if left out.
        """
        axis, *more = np.flatnonzero(self.depths[fine] != self.depths[coarse]).tolist()
        split = [own[axis] for _, own in self.repeated.get(fine, ()) if axis in own]
        if more or not split:
            return None
        asked = self._all_categories(fine) if categories is None else categories
        unsplit = _crossed({axis: ~np.logical_and.reduce(split)}, asked).ravel()
        found: Flags = unsplit & (self.rows(fine, asked) == 0)
        return found

    def _all_categories(self, statistic: int) -> list[Ints]:
        sizes = zip(self.axes, self.depths[statistic].tolist(), strict=True)
        return [np.arange(axis.sizes[depth - 1] if depth else 1) for axis, depth in sizes]

    def names(self) -> list[str]:
        """Return the name of every statistic: `total`, or its level names sorted and joined by a blank."""
        labels = [("", *axis.levels) for axis in self.axes]
        found = []
        for row in self.depths.tolist():
            parts = sorted(labels[number][depth] for number, depth in enumerate(row) if depth)
            found.append(" ".join(parts) or "total")
        return found

    @cached_property
    def _words(self) -> NDArray[np.bytes_]:
        return _as_words(self.depths)

    def _next(self, axis: int, step: int) -> Ints:
        """Return the position of the statistic one step finer (or coarser) along an axis, -1 if it is not here."""
        if (axis, step) not in self._neighbours:
            moved = self.depths.copy()
            moved[:, axis] += np.int8(step)
            wanted = _as_words(moved)
            place = np.searchsorted(self._words, wanted).clip(max=len(self) - 1)
            self._neighbours[axis, step] = np.where(self._words[place] == wanted, place, -1)
        return self._neighbours[axis, step]

    def coarser(self, axis: int) -> Ints:
        """Return the position of the statistic one step coarser along an axis, -1 if it is not here."""
        return self._next(axis, -1)

    def over_finer(self, values: Floats) -> Floats:
        """Return for every statistic the sum of the values over itself and everything finer."""
        return self._over(values, step=1)

    def over_coarser(self, values: Floats) -> Floats:
        """Return for every statistic the sum of the values over itself and everything coarser."""
        return self._over(values, step=-1)

    def _over(self, values: Floats, step: int) -> Floats:
        total = values.astype(float)
        for number, axis in enumerate(self.axes):
            # From the far end of the axis towards the near one, so that partial sums travel along it.
            order = range(len(axis.sizes) - 1, -1, -1) if step > 0 else range(1, len(axis.sizes) + 1)
            neighbour = self._next(number, step)
            for depth in order:
                here = np.flatnonzero((self.depths[:, number] == depth) & (neighbour >= 0))
                total[here] += total[neighbour[here]]
        return total

    @cached_property
    def signs(self) -> Words:
        """Return every statistic as bits, depth d as d ones on its axis: s refines a iff it has all bits of a."""
        bits = [
            self.depths[:, number] >= d for number, axis in enumerate(self.axes) for d in range(1, len(axis.sizes) + 1)
        ]
        words = -(-len(bits) // 64) or 1
        found = np.zeros((words, len(self)), dtype=np.uint64)
        for place, bit in enumerate(bits):
            found[place // 64] |= bit.astype(np.uint64) << np.uint64(place % 64)
        return found

    def places(self, depths: Sequence[tuple[int, ...]]) -> Ints:
        """Return the positions of statistics that are here, by their depths."""
        wanted = np.array(depths, dtype=np.int8).reshape(len(depths), len(self.axes))
        return np.searchsorted(self._words, _as_words(wanted))

    def position(self, name: str) -> int:
        """Return the position of a published statistic by its name; level names may stand in any order."""
        wanted = " ".join(sorted(name.split()))
        if wanted not in self._published_names:
            raise UnknownNameError.among("statistic", name, self._published_names)
        return self._published_names[wanted]

    def publishes(self, name: str) -> bool:
        """Say whether a statistic is published, by its name; level names may stand in any order."""
        return " ".join(sorted(name.split())) in self._published_names

    @cached_property
    def _published_names(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names()) if self.published[place]}


def _crossed(flags: OwnRows, categories: Sequence[Ints]) -> Flags:
    """Return flags of combinations of categories, with an axis for each; an axis without flags has them all."""
    chosen = [flags[n][each] if n in flags else np.ones(len(each), dtype=bool) for n, each in enumerate(categories)]
    return reduce(np.logical_and.outer, chosen, np.ones((), dtype=bool))


def _as_words(depths: NDArray[np.int8]) -> NDArray[np.bytes_]:
    """Return rows of depths as words that sort and compare as the rows do; no letter is zero."""
    letters = np.ascontiguousarray(depths + np.int8(2)).astype(np.uint8)
    if not letters.shape[1]:
        return np.full(len(letters), b"\x01")
    return letters.view(f"S{letters.shape[1]}")[:, 0]


def lattice(
    programme: Programme, rule: str = "levels", *, keep_single: bool = False, population: str | None = None
) -> Lattice:
    """Return the lattice of one population's statistics.

    Levels with a single category are the total, and levels as large as the next
    coarser one are that level: same participants, same noise. They are merged
    unless `keep_single`.
    """
    axes, published = _choices(programme, rule, keep_single=keep_single, population=population)
    # Where single categories are kept, every level counts as if it had rows of its own.
    whole = keep_single or rule == "flat"
    own = None if whole else [_own_rows(programme, table, axes) for table in programme.of(population)]
    return _close(axes, published, own)


def lattice_by_table(
    programme: Programme, rule: str = "levels", *, population: str | None = None
) -> tuple[Lattice, list[Ints]]:
    """Return the lattice of one population's statistics, and the places of those that each of its tables publishes."""
    axes, published = _choices(programme, rule, keep_single=False, population=population)
    found = _close(axes, published)
    names = [axis.name for axis in axes]
    return found, [found.places(list(_statistics(names, choices))) for choices in published]


def publishes_meets(programme: Programme, *, population: str | None = None) -> bool:
    """Say whether the finest common coarsening of any two published statistics is published too.

    Then the equations between published statistics imply all there are; else what two tables have in common may be a
    sum that nobody publishes. A table shows every choice of its depths, so that two tables are compared axis by axis.
    """
    axes, published = _choices(programme, "levels", keep_single=False, population=population)
    names = [axis.name for axis in axes]
    shown = {depths for choices in published for depths in _statistics(names, choices)}
    own = {tuple(tuple(choices.get(name, [0])) for name in names) for choices in published}
    return all(
        depths in shown
        for first, second in combinations(sorted(own), 2)
        for depths in product(
            *(sorted({min(a, b) for a in mine for b in other}) for mine, other in zip(first, second, strict=True))
        )
    )


def _choices(
    programme: Programme, rule: str, *, keep_single: bool, population: str | None
) -> tuple[list[Axis], list[dict[str, list[int]]]]:
    """Return the axes, and the depths that every table publishes on each."""
    if rule not in RULES:
        raise UnknownNameError.among("rule", rule, RULES)
    tables = programme.of(population)
    axes = _flat_axes(tables) if rule == "flat" else _level_axes(programme, tables)
    if not keep_single:
        axes = {name: _merged(levels) for name, levels in axes.items()}
    published = [_depth_choices(table, axes, rule) for table in tables]
    return [_axis(programme, name, depths) for name, depths in axes.items() if depths], published


def _statistics(names: Sequence[str], choices: dict[str, list[int]]) -> Iterator[tuple[int, ...]]:
    """Give the statistics of a table as depths on the axes named."""
    return product(*(choices.get(name, [0]) for name in names))


@dataclass(frozen=True)
class _Depth:
    """One depth of an axis: its name, and the levels that are this one partition."""

    name: str
    size: int
    levels: tuple[Level, ...]


_Axes = dict[str, list[_Depth]]


def _flat_axes(tables: Sequence[Table]) -> _Axes:
    """Return an axis per breakdown with its finest level, called after the breakdown."""
    found = {b.code: b.levels[-1] for table in tables for b in table.breakdowns if b.levels}
    return {code: [_Depth(code, found[code].size, (found[code],))] for code in sorted(found)}


def _level_axes(programme: Programme, tables: Sequence[Table]) -> _Axes:
    """Return an axis per topic with every level that some table uses."""
    used = {level for table in tables for b in table.breakdowns for level in b.levels}
    return {
        topic: [_Depth(v.name, v.size, (v,)) for v in programme.topics[topic].levels if v in used]
        for topic in sorted({level.topic for level in used})
    }


def _merged(depths: list[_Depth]) -> list[_Depth]:
    """Join levels of one size, which are one partition because levels are nested, and drop those of size 1."""
    found: list[_Depth] = []
    for depth in depths:
        if found and found[-1].size == depth.size:
            found[-1] = _Depth(found[-1].name, depth.size, found[-1].levels + depth.levels)
        elif depth.size > 1:
            found.append(depth)
    return found


def _depth_choices(table: Table, axes: _Axes, rule: str) -> dict[str, list[int]]:
    """Return the depths a table publishes per axis, the total among them unless the breakdown has none."""
    choices = {}
    for breakdown in table.breakdowns:
        axis = breakdown.code if rule == "flat" else breakdown.topic
        offered = set(breakdown.levels[-1:] if rule == "flat" else breakdown.levels)
        depths = [d for d, depth in enumerate(axes.get(axis, ()), start=1) if offered.intersection(depth.levels)]
        choices[axis] = [0, *depths] if breakdown.total or not depths else depths
    return choices


def _axis(programme: Programme, name: str, depths: list[_Depth]) -> Axis:
    levels = [depth.levels[0] for depth in depths]
    tree = programme.topics[levels[0].topic].tree
    return Axis(
        name,
        tuple(depth.name for depth in depths),
        tuple(depth.size for depth in depths),
        tuple(level.codes for level in levels),
        tree,
    )


def _check_size(choices: dict[str, list[int]]) -> None:
    """Refuse a table with more margins than can be listed."""
    margins = math.prod(max(depths) + 1 for depths in choices.values())
    if margins > MOST_MARGINS:
        raise ProgrammeError(
            f"A table by {', '.join(list(choices)[:5])}, .. has {margins:,} margins; at most {MOST_MARGINS:,} are "
            "counted. Break it down by fewer topics.",
            topic="",
        )


def _own_rows(programme: Programme, table: Table, axes: Sequence[Axis]) -> dict[tuple[int, int], Flags]:
    """Return by axis and depth which categories a table shows in rows of their own, where not all of them.

    A code that two levels of a breakdown share, because its category is not split further, has one row.
    """
    found = {}
    numbers = {axis.name: number for number, axis in enumerate(axes)}
    for breakdown in table.breakdowns:
        number, tree = numbers.get(breakdown.topic), programme.topics[breakdown.topic].tree
        if number is None or tree is None:
            continue
        own: dict[int, Flags] = {}
        seen: set[str] = set()
        for level in breakdown.levels:
            depth = axes[number].sizes.index(level.size) + 1 if level.size > 1 else 0
            counted = axes[number].codes[depth - 1] if depth else None
            places = tree.above(counted, level.codes) if counted and level.codes else None
            if places is not None and level.codes is not None:
                new = np.zeros(level.size, dtype=bool)
                new[places] = [code not in seen for code in level.codes]
                own[depth] = own[depth] | new if depth in own else new
            seen.update(level.codes or ())
        found.update({(number, depth): flags for depth, flags in own.items() if not flags.all()})
    return found


def _close(
    axes: Sequence[Axis],
    published: Sequence[dict[str, list[int]]],
    own: Sequence[dict[tuple[int, int], Flags]] | None = None,
) -> Lattice:
    """Count how many tables publish each statistic, and in which rows, and add the coarser ones between."""
    names = [axis.name for axis in axes]
    times: dict[tuple[int, ...], int] = {}
    closure: set[tuple[int, ...]] = set()
    repeated: dict[tuple[int, ...], dict[tuple[tuple[int, bytes], ...], tuple[int, OwnRows]]] = {}
    for choices, partly in zip(published, own or [{}] * len(published), strict=True):
        _check_size(choices)
        for depths in _statistics(names, choices):
            times[depths] = times.get(depths, 0) + 1
            if flags := {n: partly[n, depth] for n, depth in enumerate(depths) if (n, depth) in partly}:
                alike = repeated.setdefault(depths, {})
                key = tuple((n, each.tobytes()) for n, each in flags.items())
                alike[key] = (alike.get(key, (0,))[0] + 1, flags)
        # Everything coarser than the finest cell of the table, whether its breakdowns say so or not.
        closure.update(product(*(range(max(choices.get(name, [0])) + 1) for name in names)))
    rows = sorted(closure)
    matrix = np.array(rows, dtype=np.int8).reshape(len(rows), len(names))
    tables = np.array([times.get(row, 0) for row in rows])
    shown_before = {place: tuple(repeated[row].values()) for place, row in enumerate(rows) if row in repeated}
    return Lattice(tuple(axes), matrix, tables, shown_before)
