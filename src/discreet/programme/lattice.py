"""The statistics of a programme as one lattice, and sums over all finer or coarser statistics.

A statistic is a vector of depths, one per axis: 0 is the total, d the d-th level of
the axis. Under the rule `levels` an axis is a topic with all its levels; under `flat`
every breakdown is a separate axis with its finest level only. With N_d categories
at depth d, a statistic s has N_s = product of N cells, and a cell of a coarser
statistic a is the sum of k = N_s / N_a cells of s (on average, where blocks are unequal).

Sums over all finer (or all coarser) statistics are computed axis by axis, which avoids
10^10 comparisons for 10^5 statistics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ProgrammeError, UnknownNameError
from discreet.programme.axis import axis_of, topic_axes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Ints, Words
    from discreet.programme.axis import Axis
    from discreet.programme.model import Programme, Table

    OwnRows = Mapping[int, Flags]

MOST_MARGINS = 1 << 20
RULES = ("levels", "flat")

Statistic = tuple[int, ...]
"""The depth on every axis, in the order of the axes."""


def contains(fine: Statistic, coarse: Statistic) -> bool:
    """Return whether every cell of the coarse statistic is a sum of cells of the fine one."""
    return all(a >= b for a, b in zip(fine, coarse, strict=True))


def statistic_name(axes: Sequence[Axis], statistic: Statistic) -> str:
    """Return the name of a statistic: `total`, or its level names sorted and joined by a blank."""
    parts = [axis.levels[depth - 1] for axis, depth in zip(axes, statistic, strict=True) if depth]
    return " ".join(sorted(parts)) or "total"


@dataclass(frozen=True, eq=False)
class Lattice:
    """Every published statistic and every coarser one, as rows of depths in ascending order.

    Attributes:
        axes: the coordinates.
        depths: one row per statistic, one column per axis.
        tables: the number of tables that publish the statistic; 0 for a statistic that is only coarser than published
            ones.
        repeated: by statistic, the tables that show some of its cells in the row of a coarser statistic, because a
            category is not split further: the number of tables, and by axis which categories have separate rows.
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
        """Return for every cell of a statistic the number of tables that show it in a separate row.

        Args:
            statistic: the position of the statistic.
            categories: for every axis the selected categories; all by default.
        """
        selected = self._all_categories(statistic) if categories is None else categories
        repeated = self.repeated.get(statistic, ())
        whole = self.tables[statistic] - sum(times for times, _ in repeated)
        found = np.full([len(each) for each in selected], whole, dtype=np.int64)
        for times, own in repeated:
            found += times * _crossed(own, selected)
        return found.ravel()

    def moved(self, fine: int, coarse: int, categories: Sequence[Ints] | None = None) -> Flags | None:
        """Return which cells of a statistic appear only in the row of a coarser statistic; None for no such cells.

        Args:
            fine: the position of the statistic.
            coarse: the position of the next coarser published statistic along an axis.
            categories: for every axis the selected categories of the statistic; all by default.
        """
        axis, *more = np.flatnonzero(self.depths[fine] != self.depths[coarse]).tolist()
        split = [own[axis] for _, own in self.repeated.get(fine, ()) if axis in own]
        if more or not split:
            return None
        selected = self._all_categories(fine) if categories is None else categories
        unsplit = _crossed({axis: ~np.logical_and.reduce(split)}, selected).ravel()
        found: Flags = unsplit & (self.rows(fine, selected) == 0)
        return found

    def _all_categories(self, statistic: int) -> list[Ints]:
        sizes = zip(self.axes, self.depths[statistic].tolist(), strict=True)
        return [np.arange(axis.size(depth)) for axis, depth in sizes]

    def name(self, statistic: int) -> str:
        """Return the name of a statistic by its position."""
        return statistic_name(self.axes, tuple(self.depths[statistic].tolist()))

    def names(self) -> list[str]:
        """Return the name of every statistic."""
        return [statistic_name(self.axes, tuple(row)) for row in self.depths.tolist()]

    @cached_property
    def _words(self) -> NDArray[np.bytes_]:
        return _as_words(self.depths)

    def _next(self, axis: int, step: int) -> Ints:
        """Return the position of the statistic one step finer (or coarser) along an axis; -1 if it is absent."""
        if (axis, step) not in self._neighbours:
            moved = self.depths.copy()
            moved[:, axis] += np.int8(step)
            wanted = _as_words(moved)
            place = np.searchsorted(self._words, wanted).clip(max=len(self) - 1)
            self._neighbours[axis, step] = np.where(self._words[place] == wanted, place, -1)
        return self._neighbours[axis, step]

    def coarser(self, axis: int) -> Ints:
        """Return the position of the statistic one step coarser along an axis; -1 if it is absent."""
        return self._next(axis, -1)

    def over_finer(self, values: Floats) -> Floats:
        """Return for every statistic the sum of the values over itself and all finer statistics."""
        return self._over(values, step=1)

    def over_coarser(self, values: Floats) -> Floats:
        """Return for every statistic the sum of the values over itself and all coarser statistics."""
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
        """Return the positions of statistics of the lattice, by their depths."""
        wanted = np.array(depths, dtype=np.int8).reshape(len(depths), len(self.axes))
        return np.searchsorted(self._words, _as_words(wanted))

    def position(self, name: str) -> int:
        """Return the position of a published statistic by its name; level names can be in any order."""
        wanted = " ".join(sorted(name.split()))
        if wanted not in self._published_names:
            raise UnknownNameError.among("statistic", name, self._published_names)
        return self._published_names[wanted]

    def publishes(self, name: str) -> bool:
        """Return whether a statistic is published, by its name; level names can be in any order."""
        return " ".join(sorted(name.split())) in self._published_names

    @cached_property
    def _published_names(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names()) if self.published[place]}


def _crossed(flags: OwnRows, categories: Sequence[Ints]) -> Flags:
    """Return flags of combinations of categories, with one axis for each; an axis without flags includes all."""
    chosen = [flags[n][each] if n in flags else np.ones(len(each), dtype=bool) for n, each in enumerate(categories)]
    return reduce(np.logical_and.outer, chosen, np.ones((), dtype=bool))


def _as_words(depths: NDArray[np.int8]) -> NDArray[np.bytes_]:
    """Return rows of depths as byte strings with the same order as the rows, without zero bytes."""
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
    axes, tables = _on_axes(programme, rule, keep_single=keep_single, population=population)
    # If single categories are kept, every level counts as if all its categories had separate rows.
    return _close(axes, tables, own_rows=not keep_single and rule != "flat")


def lattice_by_table(
    programme: Programme, rule: str = "levels", *, population: str | None = None
) -> tuple[Lattice, list[Ints]]:
    """Return the lattice of one population, and for each of its tables the positions of the published statistics."""
    axes, tables = _on_axes(programme, rule, population=population)
    found = _close(axes, tables, own_rows=False)
    return found, [found.places(list(product(*_depths(table, axes)))) for table in tables]


def publishes_meets(programme: Programme, *, population: str | None = None) -> bool:
    """Return whether the finest common coarsening of any two published statistics is published too.

    If so, the equations between published statistics imply all equations. Otherwise two tables may share a sum that is
    not published. A table shows every combination of its depths, so that two tables are compared axis by axis.
    """
    axes, tables = _on_axes(programme, "levels", population=population)
    own = {_depths(table, axes) for table in tables}
    shown = {statistic for depths in own for statistic in product(*depths)}
    return all(
        statistic in shown
        for first, second in combinations(sorted(own), 2)
        for statistic in product(
            *(sorted({min(a, b) for a in mine for b in other}) for mine, other in zip(first, second, strict=True))
        )
    )


def _on_axes(
    programme: Programme, rule: str, *, keep_single: bool = False, population: str | None
) -> tuple[tuple[Axis, ...], tuple[Table, ...]]:
    """Return the axes of a population, ordered by name, and its tables with breakdowns by these axes."""
    if rule not in RULES:
        raise UnknownNameError.among("rule", rule, RULES)
    tables = programme.of(population)
    if rule == "flat":
        tables = tuple(_flat(table) for table in tables)
        levels = {b.code: b.levels for table in tables for b in table.breakdowns if b.levels}
        trees = {code: programme.topics[level.topic].tree for code, (level,) in levels.items()}
        axes = {code: axis_of(code, levels[code], trees[code], keep_single=keep_single) for code in levels}
    else:
        axes = topic_axes(programme, tables, keep_single=keep_single)
    return tuple(axes[name] for name in sorted(axes) if axes[name].partitions), tables


def _flat(table: Table) -> Table:
    """Return a table with each breakdown as a separate axis: its finest level, with the name of the breakdown."""
    return replace(
        table,
        breakdowns=tuple(
            replace(b, topic=b.code, levels=tuple(replace(level, name=b.code) for level in b.levels[-1:]))
            for b in table.breakdowns
        ),
    )


def _depths(table: Table, axes: Sequence[Axis]) -> tuple[tuple[int, ...], ...]:
    """Return the depths that a table publishes on every axis; its statistics are all combinations of them."""
    breakdowns = {breakdown.topic: breakdown for breakdown in table.breakdowns}
    return tuple(axis.depths_of(breakdowns[axis.name]) if axis.name in breakdowns else (0,) for axis in axes)


def _check_size(table: Table, finest: Statistic) -> None:
    """Raise an error for a table with too many margins."""
    margins = math.prod(depth + 1 for depth in finest)
    if margins > MOST_MARGINS:
        raise ProgrammeError(
            f"A table by {', '.join([b.topic for b in table.breakdowns][:5])}, .. has {margins:,} margins; the maximum "
            f"is {MOST_MARGINS:,}. Use fewer topics in the table.",
            topic="",
        )


def _own_rows(table: Table, axes: Sequence[Axis]) -> dict[int, dict[int, Flags]]:
    """Return by axis and depth which categories a table shows in separate rows, unless it shows all of them so."""
    found = {}
    breakdowns = {breakdown.topic: breakdown for breakdown in table.breakdowns}
    for number, axis in enumerate(axes):
        breakdown = breakdowns.get(axis.name)
        if breakdown is None or axis.tree is None or None in (*axis.codes, *(v.codes for v in breakdown.levels)):
            continue
        if own := axis.column(breakdown).own:
            found[number] = own
    return found


def _close(axes: tuple[Axis, ...], tables: Sequence[Table], *, own_rows: bool) -> Lattice:
    """Count the tables that publish each statistic, record their rows, and add all coarser statistics."""
    times: dict[Statistic, int] = {}
    closure: set[Statistic] = set()
    repeated: dict[Statistic, dict[tuple[tuple[int, bytes], ...], tuple[int, OwnRows]]] = {}
    for table in tables:
        shown = _depths(table, axes)
        finest = tuple(depths[-1] for depths in shown)
        _check_size(table, finest)
        partly = _own_rows(table, axes) if own_rows else {}
        for statistic in product(*shown):
            times[statistic] = times.get(statistic, 0) + 1
            if flags := {n: own[statistic[n]] for n, own in partly.items() if statistic[n] in own}:
                alike = repeated.setdefault(statistic, {})
                key = tuple((n, each.tobytes()) for n, each in flags.items())
                alike[key] = (alike.get(key, (0,))[0] + 1, flags)
        # All statistics coarser than the finest cell of the table, whether its breakdowns publish them or not.
        closure.update(product(*(range(depth + 1) for depth in finest)))
    rows = sorted(closure)
    matrix = np.array(rows, dtype=np.int8).reshape(len(rows), len(axes))
    counts = np.array([times.get(row, 0) for row in rows])
    shown_before = {place: tuple(repeated[row].values()) for place, row in enumerate(rows) if row in repeated}
    return Lattice(axes, matrix, counts, shown_before)
