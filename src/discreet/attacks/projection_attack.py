"""Optimal linear attack: project the published counts onto the counts that add up.

Every published cell is an unknown; parents are the sums of their children, at all nested levels and across all tables.
The nearest counts that satisfy all sums are the best linear unbiased estimate; cell c has variance V |P e_c|^2.
Weights depend only on the number of noise terms: weights by a cell's published value would bias its estimate, and sums
of thousands of estimates far more. Totals from public sources have no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attack_estimates import ATTACKS, CellEstimates, cells_finding
from discreet.attacks.attacker_view import PUBLIC_TOTALS
from discreet.attacks.averaging_attack import WELL_ABOVE, chance_right
from discreet.equations.closed_form import best_ratios
from discreet.equations.leverage import probe_leverages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.arrays import Floats
    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.attacker_view import AttackerView, PopulationCounts, UnitView

TOLERANCE = 1e-4
"""Tolerance on the gaps: estimates are then accurate to about 0.005 (measured on Luxembourg)."""
PROBES = 4
"""Number of random probes of the leverages, which are averaged over the cells of a statistic."""
TRUSTED = 8
"""Weight of the closed form relative to the probed leverages of a statistic, in cells."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Least squares on the populations that one set of equations relates."""

    attacker: AttackerView
    view: UnitView

    @cached_property
    def centred(self) -> Floats:
        """Return the published values minus the mean of their noise."""
        return self.attacker.noise.centred(self.view.pooled)

    @cached_property
    def start(self) -> tuple[Floats, Floats]:
        """Return the values to fit and the standard deviation of each; 0 if the true count is public."""
        values, spread = self.centred.copy(), self.view.equations.spread.copy()
        for view, cells in self.view.parts():
            equations = view.layout.equations
            for name, counts in self.known(view).items():
                inside = equations.cells_of(view.layout.lattice.position(name))
                values[cells][inside], spread[cells][inside] = counts, 0.0
        return values, spread

    def known(self, view: PopulationCounts) -> dict[str, Floats]:
        """Return the statistics of a population whose true counts are public."""
        known = self.attacker.knowledge.known
        return {name: counts for (population, name), counts in known.items() if population == view.layout.name}

    @cached_property
    def fitted(self) -> Floats:
        """Return the counts nearest to the published ones that add up."""
        return self.attacker.once("least squares", self.view.name, lambda: self.fit(*self.start))

    def fit(self, values: Floats, spread: Floats) -> Floats:
        """Return the counts nearest to the given values that add up."""
        return self.view.equations.project(values, spread, tolerance=TOLERANCE).values

    @cached_property
    def leverages(self) -> Floats:
        """Return the leverage of every cell: the mean over its statistic, from random probes."""

        def probed() -> Floats:
            found = probe_leverages(self.view.equations, self.attacker.random(1), probes=PROBES, spread=self.start[1])
            statistic_of, free = self.view.statistic_of, self.start[1] > 0
            cells = np.bincount(statistic_of, free)
            mean = np.bincount(statistic_of, found) / np.maximum(cells, 1)
            return np.where(free, mean[statistic_of], 0.0)

        return self.attacker.once("leverages", self.view.name, probed)

    @cached_property
    def confidence(self) -> Floats:
        """Return the probability that every rounded estimate is correct, assuming normal errors.

        The variance of the estimates of a statistic is a weighted mean of the probed variances and the closed form,
        which matters for statistics with few cells.
        """
        statistic_of = self.view.statistic_of
        cells = np.bincount(statistic_of)[statistic_of]
        closed = np.concatenate([self._closed_form(view) for view in self.view.views])[statistic_of]
        own = 1 / self.view.noise_terms
        ratio = np.minimum((TRUSTED * closed + cells * self.leverages * own) / (TRUSTED + cells), own)
        return chance_right(np.where(self.start[1] > 0, self.attacker.noise.variance * ratio, 0.0))

    def _closed_form(self, view: PopulationCounts) -> Floats:
        """Return the variance of the estimates of every published statistic of a population, in units of V."""
        equations, lattice = view.layout.equations, view.layout.lattice
        times = equations.noise_term_counts.astype(float)
        # Several known statistics are jointly at least as informative as the most informative one.
        ratios = [best_ratios(lattice, times, name)[equations.statistics] for name in (self.known(view) or [None])]
        found: Floats = np.minimum.reduce(ratios)
        return found

    def estimates(self, values: Floats, confidence: Floats) -> Iterator[CellEstimates]:
        """Yield the estimates by population, for the cells whose counts are not public."""
        free = self.start[1] > 0
        for view, cells in self.view.parts():
            places = np.flatnonzero(free[cells])
            yield CellEstimates(view, places, values[cells][places], confidence[cells][places])


@ATTACKS.register("projection")
def projection(attacker: AttackerView) -> list[AttackEstimates]:
    """Return every count by the optimal linear attack."""
    parts: list[CellEstimates] = []
    views = attacker.units()
    for number, view in enumerate(views):
        solved = Projection(attacker, view)
        parts += solved.estimates(solved.fitted, solved.confidence)
        if attacker.progress:
            attacker.progress("projection", number + 1, len(views))
    return [
        cells_finding(
            attacker,
            parts,
            attack="projection",
            subject="counts",
            rerun=True,
            method="the counts nearest to the published ones that satisfy all sums",
            assumptions=(WELL_ABOVE, *public_totals(attacker)),
        )
    ]


def public_totals(attacker: AttackerView) -> tuple[str, ...]:
    """Return the assumption on public totals, if there are any."""
    return (PUBLIC_TOTALS,) if attacker.knowledge.known else ()
