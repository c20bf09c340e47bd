"""The most exposed counts: those that the optimal linear attack estimates with the smallest variance.

The closed form ranks statistics with equal blocks. Real blocks differ, and several universes together have no closed
form. The search therefore compares every kind of cell in the equations themselves. With few unknowns it computes the
variance of every cell. Otherwise random probes estimate all variances at once, with a relative standard error of about
sqrt(2 / probes). This estimate and the closed form together rank the cells, and the first ones are solved. With too
many cells for probes, the closed form alone ranks them. The variance of a solved cell is exact to 1e-4 of its size.
It is likely but not proven that no other cell has a smaller variance: the figure is a lower bound of the risk.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.closed_form import best_ratios
from discreet.equations.grouped_equations import GroupedEquations
from discreet.equations.joint_equations import JointEquations
from discreet.equations.leverage import probe_leverages
from discreet.errors import TooLargeError
from discreet.programme.lattice import lattice, publishes_meets
from discreet.programme.programme_json import programme_to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Floats, Ints
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.progress import Progress

FEW = 1500
"""Unknowns up to which the variance of every cell is computed by dense algebra."""
MOST_GROUPS = 7_000_000
"""The largest number of groups of equivalent cells for which equations are solved; about 5 GB of memory."""
MANY_GROUPS = 1_000_000
"""Above this number of groups, every statistic has separate equations, which are several times smaller."""
PROBES = 16
CANDIDATES = 24
"""The number of cells that are solved first."""
CLOSER = 3
"""The number of leading statistics whose other cells and coarser statistics are solved next."""
MOST_KINDS = 8
"""The largest number of cells solved per statistic."""
MOST_SOLVED = 120
"""The number of solved cells after which no further statistics are tried."""
MOST_SIBLINGS = 24
"""The largest number of solved cells per axis that differ from the most exposed cell in one category only."""
PRIOR = 16.0
"""The weight of the closed form in the ranking: the precision of its logarithm as an estimate."""
PROBE_TOLERANCE, SOLVE_TOLERANCE = 1e-2, 1e-3
"""Early termination overstates the variance, by less than 1e-4 of its size at this tolerance (measured)."""
TINY = 1e-12
"""The smallest variance that is distinguished from 0."""
SEED = 2021
KEPT = 8
"""The number of cached searches."""


@dataclass(frozen=True)
class ExposedCell:
    """A count that was solved exactly.

    Attributes:
        statistic: the name of the statistic, with the population if there are several.
        codes: the codes of the cell, e.g. `SEX=F`.
        ratio: the variance of the best linear estimate of the count, in units of V.
        closed_form: the same ratio by the closed form for equal blocks, within the population of the count.
    """

    statistic: str
    codes: str
    ratio: float
    closed_form: float


@dataclass(frozen=True)
class ExactSearch:
    """The result of the search in the tables of one unit.

    Attributes:
        solved: the solved cells, by increasing variance.
        kinds: the number of compared cells; equivalent cells count once.
        cells: the number of cells.
        complete: whether all kinds of cells were solved.
        probed: whether random probes of all cells selected the solved cells; if not, the closed form did.
    """

    solved: tuple[ExposedCell, ...]
    kinds: int
    cells: int
    complete: bool
    probed: bool = True

    @property
    def worst(self) -> ExposedCell:
        """Return the most exposed count."""
        return self.solved[0]

    @property
    def by_statistic(self) -> dict[str, float]:
        """Return the smallest solved variance by statistic."""
        found: dict[str, float] = {}
        for cell in self.solved:
            found.setdefault(cell.statistic, cell.ratio)
        return found


_KEPT: OrderedDict[object, ExactSearch] = OrderedDict()


def most_exposed(
    programme: Programme,
    *,
    spsn: bool = True,
    known: str | None = None,
    statistics: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> ExactSearch:
    """Return the most exposed counts for the optimal linear attack on all tables of a programme together.

    Args:
        programme: tables that count one unit, in any universes.
        spsn: whether a count has the same noise in all tables.
        known: a statistic whose true counts the attacker knows, in every population that publishes it.
        statistics: statistics of which some cells are always solved.
        progress: a callback with the stage, the number of steps done and the total number of steps.
    """
    key = (json.dumps(programme_to_json(programme)), spsn, known, statistics)
    if key not in _KEPT:
        _KEPT[key] = _Search(programme, spsn, known, statistics, progress).found()
        if len(_KEPT) > KEPT:
            _KEPT.popitem(last=False)
    return _KEPT[key]


def solvable(programme: Programme) -> bool:
    """Return whether the tables of a unit are small enough for exact solutions."""
    search = _Search(programme, spsn=True)
    try:
        if search.equations.cells and not search.probed:
            search.smaller(min(search.places, key=lambda each: each.closed))
    except TooLargeError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class _Search:
    programme: Programme
    spsn: bool
    known: str | None = None
    statistics: tuple[str, ...] = ()
    progress: Progress | None = None

    @cached_property
    def lattices(self) -> dict[str, Lattice]:
        """Return the statistics of every population."""
        return {name: lattice(self.programme, population=name) for name in self.programme.populations}

    @cached_property
    def equations(self) -> GroupedEquations | JointEquations:
        """Return the equations, with equivalent cells grouped if the tables count one whole population."""
        if _whole(self.programme):
            return GroupedEquations(next(iter(self.lattices.values())), self.spsn)
        return JointEquations(self.programme, self.spsn)

    @property
    def probed(self) -> bool:
        """Return whether the number of cells is small enough to probe all of them."""
        return isinstance(self.equations, JointEquations) or self.equations.cells <= MOST_GROUPS

    def smaller(self, place: _StatisticCells) -> GroupedEquations | None:
        """Return equations that separate only the cells of one statistic; None if the number of all cells is small."""
        if isinstance(self.equations, JointEquations) or self.equations.cells <= MANY_GROUPS:
            return None
        found = GroupedEquations(place.lattice, self.spsn, place.statistic)
        if found.cells > MOST_GROUPS:
            raise TooLargeError(
                f"The equations for {place.name} have {found.cells:,} groups of cells; exact solutions are computed up "
                f"to {MOST_GROUPS:,}. Select fewer tables, or use the closed form (--closed-form).",
                parameter="programme",
            )
        return found

    @cached_property
    def places(self) -> list[_StatisticCells]:
        """Return the cell ranges of the statistics of every population, in order."""
        found, several = [], len(self.lattices) > 1
        equations = self.equations
        for name, own in self.lattices.items():
            times = (own.published if self.spsn else own.tables).astype(float)
            known = self.known if self.known and own.publishes(self.known) else None
            closed, names = best_ratios(own, times, known), own.names()
            start = 0 if isinstance(equations, GroupedEquations) else equations.parts[name].start
            shown = np.flatnonzero(own.published)
            for number, statistic in enumerate(shown.tolist()):
                title = f"{names[statistic]} of {name}" if several else names[statistic]
                if isinstance(equations, GroupedEquations):
                    size = int(equations.starts[number + 1] - equations.starts[number])
                else:
                    size = int(own.cells[statistic])
                found.append(_StatisticCells(title, own, statistic, start, size, float(closed[statistic])))
                start += size
        return found

    def found(self) -> ExactSearch:
        """Return the solved cells by increasing variance."""
        every = self.equations.spread.copy() if self.probed else np.ones(self.equations.cells)
        spread = self._unless_known(every, [*(place.start for place in self.places), self.equations.cells])
        tried = self._kinds(spread)
        if self.probed and int(self.equations.unknowns.max()) < FEW:
            ratios = self.equations.variance_ratios(spread)
            solved = {place: float(ratios[place]) for place in tried.tolist()}
        else:
            solved = self._searched(tried, spread)
        # Exclude counts that follow from known counts.
        cells = [self._cell(place, solved[place]) for place in self._ranked(solved) if solved[place] > TINY]
        complete = solved.keys() >= set(tried.tolist())
        return ExactSearch(tuple(cells), len(tried), self.equations.cells, complete, self.probed)

    def _unless_known(self, spread: Floats, starts: Sequence[int]) -> Floats:
        """Return the standard deviation of every cell, set to 0 for known cells."""
        for number in filter(self._is_known, range(len(self.places))):
            spread[starts[number] : starts[number + 1]] = 0.0
        return spread

    def _is_known(self, number: int) -> bool:
        """Return whether a statistic is known: a statistic coarser than a known one is also known."""
        place = self.places[number]
        own = place.lattice
        if self.known is None or not own.publishes(self.known):
            return False
        return bool((own.depths[place.statistic] <= own.depths[own.position(self.known)]).all())

    def _kinds(self, spread: Floats) -> Ints:
        """Return one unknown cell of every kind: the first of the cells that share an unknown.

        Cells of requested statistics come before all others.
        """
        single = spread > 0
        if isinstance(self.equations, GroupedEquations):
            single &= self.equations.members == 1
        cells = np.flatnonzero(single)
        if not self.probed:
            return cells
        if self.statistics:
            asked = np.array([place.name in self.statistics for place in self.places])[self._numbers[cells]]
            cells = np.concatenate([cells[asked], cells[~asked]])
        _, first = np.unique(self.equations.unknowns[cells], return_index=True)
        return cells[np.sort(first)]

    def _searched(self, tried: Ints, spread: Floats) -> dict[int, float]:
        """Return the variances of the cells that are likely to be most exposed, and of requested cells."""
        if not len(tried):
            return {}
        # Rounded, so that the result does not depend on the order of arithmetic of a machine.
        order = tried[np.argsort(np.round(self._scores(tried, spread), 9), kind="stable")]
        number = self._numbers[order]
        asked = [
            order[number == n][:MOST_KINDS] for n, place in enumerate(self.places) if place.name in self.statistics
        ]
        found = self._solved(np.concatenate([order[:CANDIDATES], *asked]), spread, {})
        # Neighbouring cells have similar variances: another one of them may be the most exposed.
        while len(found) < MOST_SOLVED:
            best = dict.fromkeys(int(self._numbers[cell]) for cell in self._ranked(found))
            near = [n for each in list(best)[:CLOSER] for n in (each, *self._coarser(each))]
            new = self._solved(np.concatenate([order[number == n][:MOST_KINDS] for n in near]), spread, found)
            if len(new) == len(found):
                break
            found = new
        return self._climbed(found, spread)

    def _climbed(self, found: dict[int, float], spread: Floats) -> dict[int, float]:
        """Add the variances of the neighbours of the most exposed cell until it remains the most exposed."""
        best, before = self._best(found), -1
        while best != before:
            near = self._neighbours(best)
            found = self._solved(near[spread[near] > 0], spread, found)
            best, before = self._best(found), best
        return found

    def _best(self, found: dict[int, float]) -> int:
        """Return the most exposed of the solved cells that do not follow from known counts."""
        return next((cell for cell in self._ranked(found) if found[cell] > TINY), next(iter(found)))

    def _neighbours(self, cell: int) -> Ints:
        """Return the cells that differ from a cell in one category, and its parents on one axis.

        On grouped axes only representatives are used; the parents of a representative are representatives.
        """
        number = int(self._numbers[cell])
        place, axes = self.places[number], range(len(self.places[number].lattice.axes))
        shape, depths = self._shape(place), place.lattice.depths
        here = [int(n) for n in np.unravel_index(cell - place.start, shape)]
        found = []
        for axis in axes:
            single = self._single(place, axis)
            found += [
                place.start + int(np.ravel_multi_index([*here[:axis], other, *here[axis + 1 :]], shape))
                for other in single[single != here[axis]][:MOST_SIBLINGS].tolist()
            ]
        for above in (self.places[n] for n in self._coarser(number)):
            up = [self._up(place, axis, int(depths[above.statistic, axis]))[here[axis]] for axis in axes]
            found.append(above.start + int(np.ravel_multi_index(up, self._shape(above))))
        return np.array(found, dtype=np.int64)

    def _shape(self, place: _StatisticCells) -> tuple[int, ...]:
        if isinstance(self.equations, GroupedEquations):
            return self.equations.shape(place.statistic)
        return self.equations.part_of(place.start).equations.shape(place.statistic)

    def _single(self, place: _StatisticCells, axis: int) -> Ints:
        """Return the groups of single categories that a statistic has on an axis."""
        if isinstance(self.equations, GroupedEquations):
            return np.flatnonzero(self.equations.axes[axis].members[place.lattice.depths[place.statistic, axis]] == 1)
        return np.arange(self._shape(place)[axis])

    def _up(self, place: _StatisticCells, axis: int, coarse: int) -> Ints:
        """Return, for every group of a statistic on an axis, its parent group at a coarser depth."""
        fine = int(place.lattice.depths[place.statistic, axis])
        if isinstance(self.equations, GroupedEquations):
            return self.equations.axes[axis].up(fine, coarse)
        return place.lattice.axes[axis].up(fine, coarse)

    @staticmethod
    def _ranked(found: dict[int, float]) -> list[int]:
        """Return the solved cells by increasing variance; ties in the order of the tables."""
        return sorted(found, key=lambda cell: (rounded_ratio(found[cell]), cell))

    def _coarser(self, number: int) -> list[int]:
        """Return the statistics of the same population that are coarser on exactly one axis."""
        own = self.places[number]
        found = []
        for other, place in enumerate(self.places):
            if place.lattice is own.lattice:
                step = own.lattice.depths[own.statistic] - own.lattice.depths[place.statistic]
                if (step >= 0).all() and (step > 0).sum() == 1:
                    found.append(other)
        return found

    def _scores(self, tried: Ints, spread: Floats) -> Floats:
        """Return an estimate of every log-variance: the weighted mean of the random estimate and the closed form."""
        closed = np.log(np.maximum([place.closed for place in self.places], TINY))[self._numbers[tried]]
        if not self.probed:
            return closed
        probed = probe_leverages(
            self.equations,
            np.random.default_rng(SEED),
            probes=PROBES,
            tolerance=PROBE_TOLERANCE,
            spread=spread,
            progress=self.progress,
        )
        unit = spread / np.sqrt(np.bincount(self.equations.unknowns)[self.equations.unknowns])
        estimate = np.log(np.maximum((probed * unit**2)[tried], TINY))
        # The closed form has a relative error that most statistics share.
        shared = float(np.median(estimate - closed))
        weight = PROBES / 2
        found: Floats = (PRIOR * (closed + shared) + weight * estimate) / (PRIOR + weight)
        return found

    @cached_property
    def _numbers(self) -> Ints:
        """Return the index of the statistic of every cell."""
        return np.repeat(np.arange(len(self.places)), [place.size for place in self.places])

    def _solved(self, cells: Ints, spread: Floats, found: dict[int, float]) -> dict[int, float]:
        """Return the given variances and those of further cells, within the memory limit."""
        new = np.array([cell for cell in dict.fromkeys(cells.tolist()) if cell not in found], dtype=np.int64)
        found, numbers, done = dict(found), self._numbers[new], 0
        for number in dict.fromkeys(numbers.tolist()):
            place = self.places[number]
            equations, own, shift = self.equations, spread, 0
            try:
                smaller = self.smaller(place)
            except TooLargeError:
                # Skip a statistic that was not requested if a solved one has a smaller closed form.
                if place.name in self.statistics or not self._beyond(place, found):
                    raise
                continue
            if smaller is not None:
                starts = smaller.starts.tolist()
                # The cells of the statistic itself are in the same order.
                shift = starts[number] - place.start
                equations, own = smaller, self._unless_known(smaller.spread.copy(), starts)
            for cell in new[numbers == number].tolist():
                found[cell] = equations.variance_ratio(cell + shift, own, tolerance=SOLVE_TOLERANCE)
                done += 1
                self._report("solving", done, len(new))
        return found

    def _beyond(self, place: _StatisticCells, found: dict[int, float]) -> bool:
        """Return whether a statistic with a smaller closed form was solved."""
        return any(self.places[self._numbers[cell]].closed < place.closed for cell in found)

    def _cell(self, cell: int, ratio: float) -> ExposedCell:
        place = self.places[self._numbers[cell]]
        if isinstance(self.equations, GroupedEquations):
            _, categories = self.equations.cell(cell)
        else:
            categories = tuple(int(n) for n in np.unravel_index(cell - place.start, self._shape(place)))
        return ExposedCell(place.name, codes(place.lattice, place.statistic, categories), ratio, place.closed)

    def _report(self, stage: str, done: int, of: int | None = None) -> None:
        if self.progress:
            self.progress(stage, done, of)


def _whole(programme: Programme) -> bool:
    """Return whether the tables count one whole population and published statistics give all equations."""
    return len(programme.populations) == 1 and not programme.tables[0].universe and publishes_meets(programme)


@dataclass(frozen=True)
class _StatisticCells:
    name: str
    lattice: Lattice
    statistic: int
    start: int
    size: int
    closed: float


def rounded_ratio(ratio: float) -> float:
    """Return a ratio rounded for sorting: ratios that differ only by the order of arithmetic are equal."""
    return float(f"{ratio:.8g}")


def codes(own: Lattice, statistic: int, cell: tuple[int, ...]) -> str:
    """Return the codes of a cell, or the numbers of its categories if the codes are unknown."""
    words = []
    for axis, depth, number in zip(own.axes, own.depths[statistic].tolist(), cell, strict=True):
        known = axis.codes[depth - 1] if depth else None
        if depth:
            words.append(f"{axis.levels[depth - 1]}={known[number] if known else number + 1}")
    return " ".join(words) or "the total"
