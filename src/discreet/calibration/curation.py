"""Curation of the output: the effect of omitting tables or coarsening breakdowns on the variance that is needed.

Every cut is evaluated alone and ranked by the variance that averaging then needs. Then cuts are applied in sequence by
a greedy search. Each step takes the cut with the largest gain,

    log(V before / V after) / log(cells before / cells after);

ties are broken by the smaller variance, then by order. If the whole output is infeasible, the sequence ends with a cut
that makes it feasible, at the position that keeps the most cells. The result is deterministic. Coarsening removes the
finest level of a breakdown wherever it is used; a breakdown of one level is omitted.

A cut only removes noise terms, so that all cuts are evaluated on one lattice.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.calibration.constraints import PAPER
from discreet.equations.closed_form import ratios_given_known
from discreet.programme.lattice import lattice_by_table
from discreet.progress import reported
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
"""Relative tolerance on the largest accepted variance."""
ALIKE = 1e-9
"""Relative tolerance below which variances count as equal."""


@dataclass(frozen=True)
class Cut:
    """One cut, alone or in addition to earlier cuts.

    Attributes:
        kind: `table` or `breakdown`; empty for the whole output.
        name: the name of the table or the breakdown.
        words: the description of the cut, in the imperative.
        variance: the variance that averaging needs after the cut.
        statistic: the most exposed statistic after the cut.
        ratio: the variance of its best estimate in units of V.
        cells: the number of cells still published; a statistic in several tables counts once.
        feasible: whether an acceptable setting exists after the cut.
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
    """The effects of cuts.

    Attributes:
        whole: the whole output.
        alone: every cut alone, the smallest variance first.
        path: the sequence of cuts, each in addition to those before.
    """

    whole: Cut
    alone: tuple[Cut, ...]
    path: tuple[Cut, ...]

    @property
    def sufficient(self) -> tuple[Cut, ...]:
        """Return the cuts of the sequence up to the first feasible one; empty if none is feasible."""
        first = next((number for number, cut in enumerate(self.path) if cut.feasible), None)
        return () if first is None else self.path[: first + 1]

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        lists = {"alone": self.alone, "path": self.path, "frontier": self.frontier}
        return {"whole": asdict(self.whole), **{name: [asdict(cut) for cut in cuts] for name, cuts in lists.items()}}

    @cached_property
    def frontier(self) -> tuple[Cut, ...]:
        """Return the Pareto-optimal cuts in cells and variance, most cells first."""
        points = sorted((self.whole, *self.alone, *self.path), key=lambda cut: (-cut.cells, cut.variance))
        found: list[Cut] = []
        for cut in points:
            if not found or cut.variance < found[-1].variance * (1 - ALIKE):
                found.append(cut)
        return tuple(found)


@dataclass(frozen=True, eq=False)
class CuttableOutput:
    """The statistics of the tables of one population, to which cuts can be applied.

    Attributes:
        lattice: all statistics; a statistic that has been cut has no tables.
        tables: by table id, the positions of its statistics.
        used: by breakdown, the tables that use it, its axis, and the depths of its levels.
    """

    lattice: Lattice
    tables: dict[str, Ints]
    used: dict[str, tuple[frozenset[str], int, tuple[int, ...]]]

    @property
    def cells(self) -> int:
        """Return the number of published cells."""
        return int(self.lattice.cells[self.lattice.published].sum())

    def worst(self, attacker: str, known: str | None) -> tuple[float, str]:
        """Return the smallest ratio of any statistic that is not known, and its name; infinite if all are known."""
        found = self.lattice
        if attacker == PAPER:
            ratio, place = smallest_greedy(found)
        else:
            ratios = ratios_given_known(found, found.published.astype(float), self._inside(known))
            # A known statistic needs no protection.
            kept = np.where(found.published & (ratios > 0), ratios, np.inf)
            place = int(kept.argmin())
            ratio = float(kept[place])
        return ratio, found.name(place)

    def _inside(self, known: str | None) -> Flags | None:
        """Return which statistics follow from a known one, whether that one is still published or not."""
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
        """Return the output without the finest level of a breakdown in all its tables."""
        users, axis, depths = self.used[code]
        finest = self.lattice.depths[:, axis] == depths[-1]
        tables = {
            id_: places[~finest[places]] if id_ in users and len(depths) else places
            for id_, places in self.tables.items()
        }
        left = self._with({id_: places for id_, places in tables.items() if len(places)})
        return replace(left, used={**self.used, code: (users, axis, depths[:-1])})

    def cuts(self) -> Iterator[tuple[str, str, str, CuttableOutput]]:
        """Yield every cut that removes some but not all cells: kind, name, words, and the remaining output."""
        return (cut for cut in self._all_cuts() if 0 < cut[-1].cells < self.cells)

    def _all_cuts(self) -> Iterator[tuple[str, str, str, CuttableOutput]]:
        for name in self.tables:
            yield TABLE, name, f"omit table {name}", self.without_table(name)
        for code, (_, axis, depths) in self.used.items():
            if depths:
                level = self.lattice.axes[axis].levels[depths[-1] - 1]
                finest = f"remove the finest level, {level}, of breakdown {code}"
                words = finest if len(depths) > 1 else f"omit breakdown {code}"
                yield BREAKDOWN, code, words, self.coarsened(code)

    def _with(self, tables: dict[str, Ints]) -> CuttableOutput:
        times = np.zeros(len(self.lattice), dtype=np.int64)
        for places in tables.values():
            times[places] += 1
        return replace(self, lattice=replace(self.lattice, tables=times), tables=tables)


def output_of(programme: Programme, *, rule: str, population: str | None) -> CuttableOutput:
    """Return the statistics of a programme's tables, to which cuts can be applied."""
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
    """Return the effect of every cut alone, and of a sequence of cuts.

    Args:
        output: the whole output.
        attacker: the attacker model.
        known: a statistic whose true counts are public; None for none.
        confidence: the target for the attacker's success.
        steps: the length of the sequence if the whole output is feasible; 0 evaluates no cut.
        farthest: the maximum length of the sequence if the whole output is infeasible.
        floor: the variance that other tables need, which no cut here reduces.
        accepts: whether a variance has an acceptable bound, given the published statistics.
        progress: a callback with the stage, the completed steps and the total steps.
    """

    def weighed(kind: str, name: str, words: str, left: CuttableOutput) -> Weighed:
        ratio, statistic = left.worst(attacker, known)
        variance = max(variance_needed(ratio, confidence), floor)
        return Cut(kind, name, words, variance, statistic, ratio, left.cells), left

    def judged(cut: Cut, left: CuttableOutput) -> Cut:
        return replace(cut, feasible=accepts(left.lattice, cut.variance))

    def choices(at: CuttableOutput) -> list[Weighed]:
        found = [weighed(*cut) for cut in reported(list(at.cuts()), "cuts", progress)]
        # A cut after which no noise is needed removes every statistic that needs protection.
        return [each for each in found if each[0].variance > 0]

    whole = judged(*weighed("", "", "publish everything", output))
    if not steps:
        return Curation(whole, (), ())
    choice = choices(output)
    alone = sorted((judged(*each) for each in choice), key=lambda cut: (_rounded(cut.variance), -cut.cells))
    path: list[Cut] = []
    best: list[Cut] = []
    last, at = whole, output
    most = steps if whole.feasible else max(steps, farthest)
    while choice and len(path) < most:
        if not last.feasible:
            ends = _sufficient(choice, _accepted(accepts, at.lattice, last.variance))
            best = _better(best, path, [judged(*each) for each in ends])
        found, at = min(choice, key=lambda each: (-_gain(last, each[0]), _rounded(each[0].variance)))
        last = judged(found, at)
        path.append(last)
        if progress:
            progress("cutting", len(path), most)
        done = last.feasible or (best and last.cells <= best[-1].cells) or last.variance <= floor
        if not whole.feasible and done:
            break
        choice = choices(at)
    return Curation(whole, tuple(alone), tuple(_better(best, path[:-1], path[-1:]) if path else ()))


def _better(best: list[Cut], before: list[Cut], ends: list[Cut]) -> list[Cut]:
    """Return the sequence with a feasible end that keeps the most cells; if none is feasible, the longer one."""
    end = max(ends, key=lambda cut: (cut.feasible, cut.cells), default=None)
    if end is None or (best and (not end.feasible or end.cells <= best[-1].cells)):
        return best
    return [*before, end]


def _accepted(accepts: Callable[[Lattice, float], bool], lattice: Lattice, most: float) -> float:
    """Return the largest variance up to `most` that has an acceptable bound for the output published now."""
    low, high = 0.0, most
    while high - low > FINE * most:
        middle = (low + high) / 2
        low, high = (middle, high) if accepts(lattice, middle) else (low, middle)
    return low


def _sufficient(choice: list[Weighed], variance: float) -> list[Weighed]:
    """Return the cuts that are certainly feasible: publishing less does not lower the largest accepted variance."""
    return [each for each in choice if each[0].variance <= variance]


def _gain(before: Cut, after: Cut) -> float:
    """Return the ratio of the log reduction of the variance to the log reduction of the cells."""
    return _rounded(math.log(before.variance / after.variance) / math.log(before.cells / after.cells))


def _rounded(number: float) -> float:
    """Return a number rounded to nine digits, so that rounding errors do not separate equal numbers."""
    return float(f"{number:.9g}")
