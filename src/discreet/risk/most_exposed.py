"""The most exposed counts: those that the optimal linear attack estimates with the smallest variance.

The closed form ranks statistics with equal blocks. Real blocks differ, and several universes together have no closed
form, so that the search compares every kind of cell in the equations themselves. With few unknowns it computes the
variance of every cell. Otherwise random probes estimate all variances at once, with a relative standard error of about
sqrt(2 / probes). This estimate and the closed form together rank the cells, and the first ones are solved. With too
many cells for probes, the closed form alone ranks them. The variance of a solved cell is exact to 1e-4 of its size.
That no other cell has a smaller one is likely and not proven: the figure is a lower bound of the risk.
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
"""Groups of alike cells up to which equations are solved; about 5 GB of memory."""
MANY_GROUPS = 1_000_000
"""Groups from which on every statistic gets equations of its own, which are several times smaller."""
PROBES = 16
CANDIDATES = 24
"""Cells that are solved first."""
CLOSER = 3
"""Statistics with the best known cells so far: their other cells and coarser statistics are solved next."""
MOST_KINDS = 8
"""Cells that are solved of one statistic."""
MOST_SOLVED = 120
"""Solved cells after which no more statistics are tried."""
MOST_SIBLINGS = 24
"""Cells that differ from the best known one in one category alone and are solved, by axis."""
PRIOR = 16.0
"""How much the closed form counts in the ranking: as the logarithm of an estimate with this precision."""
PROBE_TOLERANCE, SOLVE_TOLERANCE = 1e-2, 1e-3
"""A solve that ends early overstates the variance, by less than 1e-4 of it at this tolerance (measured)."""
TINY = 1e-12
"""The smallest variance that is told from 0."""
SEED = 2021
KEPT = 8
"""Searches that are remembered within a run."""


@dataclass(frozen=True)
class ExposedCell:
    """One count that was solved exactly.

    Attributes:
        statistic: the name of its statistic, with its population where there are several.
        codes: its codes, as in `SEX=F`.
        ratio: the variance of the best linear estimate of the count in units of V.
        closed_form: the same by the closed form for equal blocks within its own population.
    """

    statistic: str
    codes: str
    ratio: float
    closed_form: float


@dataclass(frozen=True)
class ExactSearch:
    """What was found about a unit.

    Attributes:
        solved: cells that were solved, the best known first.
        kinds: how many cells were compared, of those that are alike one.
        cells: how many cells there are.
        complete: whether all of them were solved.
        probed: whether probes of all cells chose those that were solved; if not, the closed form did.
    """

    solved: tuple[ExposedCell, ...]
    kinds: int
    cells: int
    complete: bool
    probed: bool = True

    @property
    def worst(self) -> ExposedCell:
        """Return the count that is known best."""
        return self.solved[0]

    @property
    def by_statistic(self) -> dict[str, float]:
        """Return the smallest variance that was solved, by statistic."""
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
    """Return the counts that the best linear attack knows best, of all tables of a programme together.

    Args:
        programme: tables that count one unit, in whatever universes.
        spsn: whether a count has one noise in all tables.
        known: a statistic whose true counts the attacker knows, in every population that publishes it.
        statistics: statistics to solve in any case, some cells of each.
        progress: called with a stage, what is done and what there is to do.
    """
    key = (json.dumps(programme_to_json(programme)), spsn, known, statistics)
    if key not in _KEPT:
        _KEPT[key] = _Search(programme, spsn, known, statistics, progress).found()
        if len(_KEPT) > KEPT:
            _KEPT.popitem(last=False)
    return _KEPT[key]


def solvable(programme: Programme) -> bool:
    """Say whether the tables of a unit are few enough for exact solutions."""
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
        """Return the equations, with alike cells grouped where the tables count one whole population."""
        if _whole(self.programme):
            return GroupedEquations(next(iter(self.lattices.values())), self.spsn)
        return JointEquations(self.programme, self.spsn)

    @property
    def probed(self) -> bool:
        """Say whether there are few enough cells for probes of all of them."""
        return isinstance(self.equations, JointEquations) or self.equations.cells <= MOST_GROUPS

    def smaller(self, place: _StatisticCells) -> GroupedEquations | None:
        """Return the equations in which the cells of one statistic alone stand apart; None where all cells are few."""
        if isinstance(self.equations, JointEquations) or self.equations.cells <= MANY_GROUPS:
            return None
        found = GroupedEquations(place.lattice, self.spsn, place.statistic)
        if found.cells > MOST_GROUPS:
            raise TooLargeError(
                f"The equations for {place.name} have {found.cells:,} groups of cells; exact solutions are computed up "
                f"to {MOST_GROUPS:,}. Take fewer tables, or the closed form (--closed-form).",
                parameter="programme",
            )
        return found

    @cached_property
    def places(self) -> list[_StatisticCells]:
        """Return where the statistics of every population stand, in order."""
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
        """Return the solved cells, the best known first."""
        every = self.equations.spread.copy() if self.probed else np.ones(self.equations.cells)
        spread = self._unless_known(every, [*(place.start for place in self.places), self.equations.cells])
        tried = self._kinds(spread)
        if self.probed and int(self.equations.unknowns.max()) < FEW:
            ratios = self.equations.variance_ratios(spread)
            solved = {place: float(ratios[place]) for place in tried.tolist()}
        else:
            solved = self._searched(tried, spread)
        # What follows from what is known is no discovery.
        cells = [self._cell(place, solved[place]) for place in self._ranked(solved) if solved[place] > TINY]
        complete = solved.keys() >= set(tried.tolist())
        return ExactSearch(tuple(cells), len(tried), self.equations.cells, complete, self.probed)

    def _unless_known(self, spread: Floats, starts: Sequence[int]) -> Floats:
        """Return the standard deviation of every cell, set to 0 where it is known."""
        for number in filter(self._is_known, range(len(self.places))):
            spread[starts[number] : starts[number + 1]] = 0.0
        return spread

    def _is_known(self, number: int) -> bool:
        """Say whether a statistic is known: what is coarser than a known statistic is known too."""
        place = self.places[number]
        own = place.lattice
        if self.known is None or not own.publishes(self.known):
            return False
        return bool((own.depths[place.statistic] <= own.depths[own.position(self.known)]).all())

    def _kinds(self, spread: Floats) -> Ints:
        """Return one cell of every kind that is not known: of cells that are one unknown the first.

        Those of statistics that were asked for come before all others.
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
        """Return the variances of the cells that are likely to be known best, and of those asked for."""
        if not len(tried):
            return {}
        # Rounded, so that the order of arithmetic on a machine decides nothing.
        order = tried[np.argsort(np.round(self._scores(tried, spread), 9), kind="stable")]
        number = self._numbers[order]
        asked = [
            order[number == n][:MOST_KINDS] for n, place in enumerate(self.places) if place.name in self.statistics
        ]
        found = self._solved(np.concatenate([order[:CANDIDATES], *asked]), spread, {})
        # Neighbours are known about equally well: the best known cell may be another one of them.
        while len(found) < MOST_SOLVED:
            best = dict.fromkeys(int(self._numbers[cell]) for cell in self._ranked(found))
            near = [n for each in list(best)[:CLOSER] for n in (each, *self._coarser(each))]
            new = self._solved(np.concatenate([order[number == n][:MOST_KINDS] for n in near]), spread, found)
            if len(new) == len(found):
                break
            found = new
        return self._climbed(found, spread)

    def _climbed(self, found: dict[int, float], spread: Floats) -> dict[int, float]:
        """Return the variances with those of the neighbours of the best known cell, until it stays the best known."""
        best, before = self._best(found), -1
        while best != before:
            near = self._neighbours(best)
            found = self._solved(near[spread[near] > 0], spread, found)
            best, before = self._best(found), best
        return found

    def _best(self, found: dict[int, float]) -> int:
        """Return the best known of the solved cells that do not follow from what is known."""
        return next((cell for cell in self._ranked(found) if found[cell] > TINY), next(iter(found)))

    def _neighbours(self, cell: int) -> Ints:
        """Return the cells that differ from one in a single category, and those coarser on one axis that contain it.

        On grouped axes representatives alone are taken, and the cells that contain one are representatives.
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
        """Return for every group that a statistic has on an axis the one at a coarser depth that contains it."""
        fine = int(place.lattice.depths[place.statistic, axis])
        if isinstance(self.equations, GroupedEquations):
            return self.equations.axes[axis].up(fine, coarse)
        return place.lattice.axes[axis].up(fine, coarse)

    @staticmethod
    def _ranked(found: dict[int, float]) -> list[int]:
        """Return solved cells, the best known first; of those known equally well in the order of the tables."""
        return sorted(found, key=lambda cell: (in_order(found[cell]), cell))

    def _coarser(self, number: int) -> list[int]:
        """Return the statistics of the same population that are coarser on one axis alone."""
        own = self.places[number]
        found = []
        for other, place in enumerate(self.places):
            if place.lattice is own.lattice:
                step = own.lattice.depths[own.statistic] - own.lattice.depths[place.statistic]
                if (step >= 0).all() and (step > 0).sum() == 1:
                    found.append(other)
        return found

    def _scores(self, tried: Ints, spread: Floats) -> Floats:
        """Return about the logarithm of every variance: of a random estimate and the closed form the weighted mean."""
        closed = np.log(np.maximum([place.closed for place in self.places], TINY))[self._numbers[tried]]
        if not self.probed:
            return closed
        self._tell("probing", 0)
        probed = probe_leverages(
            self.equations, np.random.default_rng(SEED), probes=PROBES, tolerance=PROBE_TOLERANCE, spread=spread
        )
        unit = spread / np.sqrt(np.bincount(self.equations.unknowns)[self.equations.unknowns])
        estimate = np.log(np.maximum((probed * unit**2)[tried], TINY))
        # The closed form is off by a factor that most statistics share.
        shared = float(np.median(estimate - closed))
        weight = PROBES / 2
        found: Floats = (PRIOR * (closed + shared) + weight * estimate) / (PRIOR + weight)
        return found

    @cached_property
    def _numbers(self) -> Ints:
        """Return for every cell the number of its statistic among the places."""
        return np.repeat(np.arange(len(self.places)), [place.size for place in self.places])

    def _solved(self, cells: Ints, spread: Floats, found: dict[int, float]) -> dict[int, float]:
        """Return the variances that were found and those of more cells, as far as memory allows."""
        new = np.array([cell for cell in dict.fromkeys(cells.tolist()) if cell not in found], dtype=np.int64)
        found, numbers, done = dict(found), self._numbers[new], 0
        for number in dict.fromkeys(numbers.tolist()):
            place = self.places[number]
            equations, own, shift = self.equations, spread, 0
            try:
                smaller = self.smaller(place)
            except TooLargeError:
                # Others may be left out where the closed form takes a solved one for more exposed.
                if place.name in self.statistics or not self._beyond(place, found):
                    raise
                continue
            if smaller is not None:
                starts = smaller.starts.tolist()
                # The cells of the statistic itself stand in the same order.
                shift = starts[number] - place.start
                equations, own = smaller, self._unless_known(smaller.spread.copy(), starts)
            for cell in new[numbers == number].tolist():
                found[cell] = equations.variance_ratio(cell + shift, own, tolerance=SOLVE_TOLERANCE)
                done += 1
                self._tell("solving", done, len(new))
        return found

    def _beyond(self, place: _StatisticCells, found: dict[int, float]) -> bool:
        """Say whether a statistic with a smaller closed form was solved."""
        return any(self.places[self._numbers[cell]].closed < place.closed for cell in found)

    def _cell(self, cell: int, ratio: float) -> ExposedCell:
        place = self.places[self._numbers[cell]]
        if isinstance(self.equations, GroupedEquations):
            _, categories = self.equations.cell(cell)
        else:
            categories = tuple(int(n) for n in np.unravel_index(cell - place.start, self._shape(place)))
        return ExposedCell(place.name, codes(place.lattice, place.statistic, categories), ratio, place.closed)

    def _tell(self, stage: str, done: int, of: int | None = None) -> None:
        if self.progress:
            self.progress(stage, done, of)


def _whole(programme: Programme) -> bool:
    """Say whether the tables count one whole population and the equations between published statistics are all."""
    return len(programme.populations) == 1 and not programme.tables[0].universe and publishes_meets(programme)


@dataclass(frozen=True)
class _StatisticCells:
    name: str
    lattice: Lattice
    statistic: int
    start: int
    size: int
    closed: float


def in_order(ratio: float) -> float:
    """Return a ratio to sort by: cells whose ratios differ by the order of arithmetic alone are equal."""
    return float(f"{ratio:.8g}")


def codes(own: Lattice, statistic: int, cell: tuple[int, ...]) -> str:
    """Return the codes of a cell, or the numbers of its categories where codes are not known."""
    words = []
    for axis, depth, number in zip(own.axes, own.depths[statistic].tolist(), cell, strict=True):
        known = axis.codes[depth - 1] if depth else None
        if depth:
            words.append(f"{axis.levels[depth - 1]}={known[number] if known else number + 1}")
    return " ".join(words) or "the total"
