"""Curating the output: what leaving out tables or coarsening breakdowns buys.

Every cut is tried alone and ranked by the variance that averaging then asks for. Then cuts are taken one after the
other, greedily: each time the one that buys most for what is given up,

    log(V before / V after) / log(cells before / cells after);

of equals the one with the smaller variance, then the first. Where nothing is left, the way ends with a cut that leaves
something, at the place where most cells are kept then. The same programme always gives the same way. Coarsening takes
the finest level off a breakdown wherever it is used; a breakdown of one level is left out.

A cut takes noises away and nothing else, so that all cuts are weighed on one lattice.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.calibration.constraints import PAPER
from discreet.equations.closed_form import ratios_beside
from discreet.programme.lattice import lattice_by_table
from discreet.risk.averaging import smallest_greedy, variance_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discreet.arrays import Flags, Ints
    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.progress import Progress

    Weighed = tuple["Cut", "CuttableOutput"]

TABLE, BREAKDOWN = "table", "breakdown"
FINE = 1e-3
"""The share to which the largest variance that is accepted is found."""
ALIKE = 1e-9
"""Variances that differ by less than this share are the same."""


@dataclass(frozen=True)
class Cut:
    """One cut, alone or after those before it.

    Attributes:
        kind: `table` or `breakdown`; nothing for the output as it is.
        name: of the table or the breakdown.
        words: what is done.
        variance: that averaging then asks for.
        statistic: that is then the most exposed.
        ratio: the variance of its best estimate in units of V.
        cells: that are still published, a statistic that several tables show counted once.
        feasible: whether an acceptable setting is then left.
    """

    kind: str
    name: str
    words: str
    variance: float
    statistic: str
    ratio: float
    cells: int
    feasible: bool = False


@dataclass(frozen=True)
class Curation:
    """What cuts buy.

    Attributes:
        whole: the output as it is.
        alone: every cut for itself, the one that buys most first.
        path: cuts one after the other, each in addition to those before.
    """

    whole: Cut
    alone: tuple[Cut, ...]
    path: tuple[Cut, ...]

    @property
    def enough(self) -> tuple[Cut, ...]:
        """Return the cuts after which something is left; none where they do not lead there."""
        first = next((number for number, cut in enumerate(self.path) if cut.feasible), None)
        return () if first is None else self.path[: first + 1]

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        lists = {"alone": self.alone, "path": self.path, "frontier": self.frontier}
        return {"whole": asdict(self.whole), **{name: [asdict(cut) for cut in cuts] for name, cuts in lists.items()}}

    @cached_property
    def frontier(self) -> tuple[Cut, ...]:
        """Return the cuts that no other beats in both cells and variance, most cells first."""
        points = sorted((self.whole, *self.alone, *self.path), key=lambda cut: (-cut.cells, cut.variance))
        found: list[Cut] = []
        for cut in points:
            if not found or cut.variance < found[-1].variance * (1 - ALIKE):
                found.append(cut)
        return tuple(found)


@dataclass(frozen=True, eq=False)
class CuttableOutput:
    """The statistics of one population's tables, and what can be cut.

    Attributes:
        lattice: all statistics; those that are cut have no tables.
        tables: by id, where its statistics are.
        used: by breakdown, the tables that use it and the axis and depth of its finest level.
    """

    lattice: Lattice
    tables: dict[str, Ints]
    used: dict[str, tuple[frozenset[str], int, tuple[int, ...]]]

    @property
    def cells(self) -> int:
        """Return how many cells are published."""
        return int(self.lattice.cells[self.lattice.published].sum())

    def worst(self, attacker: str, known: str | None) -> tuple[float, str]:
        """Return the smallest ratio of any statistic that is not known, and its name; infinite where all are known."""
        found = self.lattice
        if attacker == PAPER:
            ratio, place = smallest_greedy(found)
        else:
            ratios = ratios_beside(found, found.published.astype(float), self._inside(known))
            # What is known is no secret to keep.
            kept = np.where(found.published & (ratios > 0), ratios, np.inf)
            place = int(kept.argmin())
            ratio = float(kept[place])
        return ratio, found.name(place)

    def _inside(self, known: str | None) -> Flags | None:
        """Return which statistics follow from one that is known, whether it is still published or not."""
        if known is None:
            return None
        names = self.lattice.names()
        at = names.index(" ".join(sorted(known.split())) if known != "total" else known)
        inside: Flags = (self.lattice.depths <= self.lattice.depths[at]).all(axis=1)
        return inside

    def without_table(self, name: str) -> CuttableOutput:
        """Return the output without one table."""
        return self._with({id_: places for id_, places in self.tables.items() if id_ != name})

    def coarsened(self, code: str) -> CuttableOutput:
        """Return the output with the finest level of a breakdown taken off in all its tables."""
        users, axis, depths = self.used[code]
        finest = self.lattice.depths[:, axis] == depths[-1]
        tables = {
            id_: places[~finest[places]] if id_ in users and len(depths) else places
            for id_, places in self.tables.items()
        }
        left = self._with({id_: places for id_, places in tables.items() if len(places)})
        return replace(left, used={**self.used, code: (users, axis, depths[:-1])})

    def cuts(self) -> Iterator[tuple[str, str, str, CuttableOutput]]:
        """Give every cut that costs cells and leaves some: kind, name, words, and what it leaves."""
        return (cut for cut in self._all_cuts() if 0 < cut[-1].cells < self.cells)

    def _all_cuts(self) -> Iterator[tuple[str, str, str, CuttableOutput]]:
        for name in self.tables:
            yield TABLE, name, f"leave out table {name}", self.without_table(name)
        for code, (_, axis, depths) in self.used.items():
            if depths:
                level = self.lattice.axes[axis].levels[depths[-1] - 1]
                finest = f"take its finest level, {level}, off breakdown {code}"
                words = finest if len(depths) > 1 else f"leave out breakdown {code}"
                yield BREAKDOWN, code, words, self.coarsened(code)

    def _with(self, tables: dict[str, Ints]) -> CuttableOutput:
        times = np.zeros(len(self.lattice), dtype=np.int64)
        for places in tables.values():
            times[places] += 1
        return replace(self, lattice=replace(self.lattice, tables=times), tables=tables)


def output_of(programme: Programme, *, rule: str, population: str | None) -> CuttableOutput:
    """Return the statistics of a programme's tables, ready to be cut."""
    found, places = lattice_by_table(programme, rule, population=population)
    tables = programme.of(population)
    axes = {axis.name: number for number, axis in enumerate(found.axes)}
    used: dict[str, tuple[frozenset[str], int, tuple[int, ...]]] = {}
    for table, where in zip(tables, places, strict=True):
        for breakdown in table.breakdowns:
            axis = axes.get(breakdown.code if rule == "flat" else breakdown.topic)
            if axis is None:
                continue
            users = used[breakdown.code][0] if breakdown.code in used else frozenset[str]()
            depths = tuple(depth for depth in np.unique(found.depths[where, axis]).tolist() if depth)
            used[breakdown.code] = (users | {table.id}, axis, depths)
    return CuttableOutput(found, {table.id: where for table, where in zip(tables, places, strict=True)}, used)


def curate(
    output: CuttableOutput,
    *,
    attacker: str,
    known: str | None,
    confidence: float,
    steps: int,
    farthest: int = 0,
    floor: float = 0.0,
    accepts: Callable[[Lattice, float], bool],
    progress: Progress | None = None,
) -> Curation:
    """Return what every cut buys alone, and cuts one after the other.

    Args:
        output: as it is.
        attacker: who is held off.
        known: a statistic whose true counts are public.
        confidence: the success she may have.
        steps: how many cuts to take one after the other where something is left; with 0 none is weighed.
        farthest: how many to take at most until something is left.
        floor: the variance that other tables ask for, which no cut here lowers.
        accepts: whether a variance has an acceptable bound, given what is published.
        progress: called with a stage, what is done and what there is to do.
    """

    def weighed(kind: str, name: str, words: str, left: CuttableOutput) -> Weighed:
        ratio, statistic = left.worst(attacker, known)
        variance = max(variance_needed(ratio, confidence), floor)
        return Cut(kind, name, words, variance, statistic, ratio, left.cells), left

    def judged(cut: Cut, left: CuttableOutput) -> Cut:
        return replace(cut, feasible=accepts(left.lattice, cut.variance))

    def choices(at: CuttableOutput) -> list[Weighed]:
        found = [weighed(*cut) for cut in at.cuts()]
        # What leaves nothing to hide is no way to publish less.
        return [each for each in found if each[0].variance > 0]

    whole = judged(*weighed("", "", "publish everything", output))
    if not steps:
        return Curation(whole, (), ())
    choice = choices(output)
    alone = sorted((judged(*each) for each in choice), key=lambda cut: (_rounded(cut.variance), -cut.cells))
    path: list[Cut] = []
    best: list[Cut] = []
    last, at = whole, output
    while choice and len(path) < (steps if whole.feasible else max(steps, farthest)):
        if not last.feasible:
            ends = _enough(choice, _accepted(accepts, at.lattice, last.variance))
            best = _better(best, path, [judged(*each) for each in ends])
        found, at = min(choice, key=lambda each: (-_bought(last, each[0]), _rounded(each[0].variance)))
        last = judged(found, at)
        path.append(last)
        if progress:
            progress("cutting", len(path), None)
        done = last.feasible or (best and last.cells <= best[-1].cells) or last.variance <= floor
        if not whole.feasible and done:
            break
        choice = choices(at)
    return Curation(whole, tuple(alone), tuple(_better(best, path[:-1], path[-1:]) if path else ()))


def _better(best: list[Cut], before: list[Cut], ends: list[Cut]) -> list[Cut]:
    """Return the way that ends where something is left and keeps most cells; where none does, the longer one."""
    end = max(ends, key=lambda cut: (cut.feasible, cut.cells), default=None)
    if end is None or (best and (not end.feasible or end.cells <= best[-1].cells)):
        return best
    return [*before, end]


def _accepted(accepts: Callable[[Lattice, float], bool], lattice: Lattice, most: float) -> float:
    """Return the largest variance, up to one, that has an acceptable bound with all that is published now."""
    low, high = 0.0, most
    while high - low > FINE * most:
        middle = (low + high) / 2
        low, high = (middle, high) if accepts(lattice, middle) else (low, middle)
    return low


def _enough(choice: list[Weighed], variance: float) -> list[Weighed]:
    """Return the cuts that surely leave something: where less is published, no smaller variance is accepted."""
    return [each for each in choice if each[0].variance <= variance]


def _bought(before: Cut, after: Cut) -> float:
    """Return how much a cut lowers the variance for the cells that it costs, both as logarithms."""
    return _rounded(math.log(before.variance / after.variance) / math.log(before.cells / after.cells))


def _rounded(number: float) -> float:
    """Return a number such that those alike but for rounding are equal."""
    return float(f"{number:.9g}")
