"""The optimal linear attack: what was published is projected onto the counts that add up.

Every published cell is an unknown; parents are the sums of their children, at all nested
levels and across all tables. The counts nearest to the published ones that fit are the
best linear unbiased estimate (METHODS 5); cell c has variance V |P e_c|^2.

Where zeros stay zeros, most cells that are published as 0 are empty and carry no noise.
They weigh by what a published 0 can stand for, E(n^2 | 0) / V, learnt from the published
counts themselves. Totals that are public elsewhere carry no noise at all. Successive: large
counts that the attacker is nearly certain of are taken as known and sharpen the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.attacks.averaging import WELL_ABOVE, chance_right
from discreet.attacks.cell_estimates import CellEstimates, cells_finding, settled
from discreet.attacks.prior import empirical_prior, kinds
from discreet.attacks.registry import attack
from discreet.attacks.sight import PUBLIC_TOTALS
from discreet.equations.closed_form import best_ratios

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.attacks.clock import Clock
    from discreet.attacks.finding import Finding
    from discreet.attacks.sight import Sight, View

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

TOLERANCE = 1e-4
"""How far the gaps must fall: estimates are then exact to about 0.005 (measured on Luxembourg)."""
ROUGH = 1e-2
"""The same for the size of errors, which need two digits."""
NEARLY_CERTAIN = 0.95
"""The confidence from which on a count is taken as known."""
ROUNDS = 4
"""The most rounds of the successive attack."""
TRUSTED = 8
"""How many cells' worth the closed form counts beside what a probe of the equations measures."""
NEGLIGIBLE = 1e-9
"""Weights below this are left out of a sum."""
LEAST_DOUBT = 1e-4
"""The least variance behind a published 0, in units of V."""
GIVEN_ZEROS = "the prediction takes as given which cells are published as 0, for her weights depend on it"
NEARLY_RIGHT = "the prediction takes what the successive attack held for known to be right"


@dataclass(frozen=True, eq=False)
class Projection:
    """The optimal attack on one population."""

    sight: Sight
    view: View
    clock: Clock

    @cached_property
    def known(self) -> dict[str, Floats]:
        """Return the statistics whose true counts are public elsewhere."""
        here = self.view.layout.name
        return {name: counts for (population, name), counts in self.sight.knowledge.known.items() if population == here}

    @cached_property
    def start(self) -> tuple[Floats, Floats]:
        """Return the values to fit and how uncertain each is, in units of sd: what is known is not."""
        values, spread = self.view.published.copy(), self.view.layout.equations.spread.copy()
        if not self.sight.noise.zeros_are_noisy and self.sight.noise.variance:
            spread *= self._doubt()
        for name, counts in self.known.items():
            lattice, equations = self.view.layout.lattice, self.view.layout.equations
            cells = equations.cells_of(lattice.position(name))
            values[cells], spread[cells] = counts, 0.0
        return values, spread

    def _doubt(self) -> Floats:
        """Return the standard deviation behind every published value beside that of large counts.

        Statistics with about the same share of zeros are taken as of one kind.
        """
        layout, noise = self.view.layout, self.sight.noise
        zero = self.view.published == 0
        kind = kinds(self.view)
        found = np.ones(layout.cells)
        for number in np.unique(kind[kind > 0]).tolist():
            here = (kind == number)[layout.statistic_of]
            prior = empirical_prior(self.view.published[here], noise)
            behind = prior * noise.chance(np.arange(len(prior)), np.zeros(1, dtype=np.int64))
            square = float(behind @ np.arange(len(prior)) ** 2 / behind.sum()) if behind.sum() else 0.0
            # Not nothing: a published 0 may still stand for somebody.
            found[here & zero] = np.sqrt(np.clip(square / noise.variance, LEAST_DOUBT, 1))
        return found

    def fitted(self, values: Floats, spread: Floats, tolerance: float = TOLERANCE) -> tuple[Floats, bool]:
        """Return the counts that add up, and whether there was time to finish."""
        found = self.view.layout.equations.project(
            values, spread, tolerance=tolerance, go_on=lambda _: not self.clock.over
        )
        return found.values, found.complete

    def variances(self, spread: Floats, round_number: int = 0) -> Floats:
        """Return the variance of every estimate, in units of V.

        By statistic, zeros and others apart: the mean square that is left of random errors of
        the assumed size, a probe of the equations as they are, together with the closed form
        where cells are few.
        """
        layout = self.view.layout
        lattice, statistics = layout.lattice, layout.equations.statistics
        times = layout.equations.noises.astype(float)
        # Of several known statistics the one that tells most: together they tell no less.
        ratios = [best_ratios(lattice, times, name)[statistics] for name in (self.known or [None])]
        closed = np.minimum.reduce(ratios)
        errors = spread * self.sight.random(1, round_number).standard_normal(layout.cells)
        left, _ = self.fitted(errors, spread, ROUGH)
        # What is known or nearly so does not tell how uncertain the others are.
        kind = 2 * layout.statistic_of + (spread >= layout.equations.spread)
        square = np.bincount(kind, left**2, 2 * len(statistics))
        cells = np.bincount(kind, minlength=2 * len(statistics))
        found = (TRUSTED * np.repeat(closed, 2) + square) / (TRUSTED + cells)
        return np.where(spread == 0, 0.0, np.minimum(found[kind], spread**2))

    def row(self, place: int, spread: Floats | None = None) -> tuple[Ints, Floats]:
        """Return the published cells in the estimate of one, with their weights; what is known has none."""
        spread = self.start[1] if spread is None else spread
        row = self.view.layout.equations.row(place, spread, tolerance=ROUGH)
        places = np.flatnonzero(np.abs(row) > NEGLIGIBLE)
        return places, row[places]

    def estimates(self) -> tuple[CellEstimates, bool]:
        """Return the estimates of all cells that are not known beforehand, and whether they are complete."""
        values, spread = self.start
        fitted, complete = self.fitted(values, spread)
        sure = chance_right(self.sight.noise.variance * self.variances(spread))
        places = np.flatnonzero(spread > 0)
        return CellEstimates(self.view, places, fitted[places], sure[places], self.row), complete

    def successive(self, first: CellEstimates) -> tuple[CellEstimates, int, bool]:
        """Return the estimates after taking near certainties as known again and again, how often, and if to the end."""
        values, spread = (array.copy() for array in self.start)
        estimate, sure = np.zeros(len(values)), np.ones(len(values))
        estimate[first.places], sure[first.places] = first.estimate, first.confidence
        spreads, settled_in, complete = [spread.copy()], np.zeros(len(values), dtype=np.int8), True
        # Her confidence holds for counts well above the noise: of small ones she is too sure.
        large = self.view.published > 2 * self.sight.noise.variance**0.5 + len(self.sight.noise.laws)
        for number in range(1, ROUNDS + 1):
            new = large & (spread > 0) & (sure >= NEARLY_CERTAIN)
            if not new.any() or self.clock.over:
                complete &= not new.any()
                break
            values[new] = settled(estimate[new], self.view.published[new], self.sight.noise)
            spread[new] = 0.0
            fitted, done = self.fitted(values, spread)
            chances = chance_right(self.sight.noise.variance * self.variances(spread, number))
            rest = spread > 0
            estimate, sure = np.where(rest, fitted, values), np.where(rest, chances, sure)
            settled_in[rest] = number
            spreads.append(spread.copy())
            complete &= done
        places = first.places
        row = partial(self._row_of_round, spreads, settled_in)
        return CellEstimates(self.view, places, estimate[places], sure[places], row), len(spreads) - 1, complete

    def _row_of_round(self, spreads: list[Floats], settled_in: NDArray[np.int8], place: int) -> tuple[Ints, Floats]:
        """Return the sum behind an estimate in the round that settled it, as if what was taken as known were right."""
        return self.row(place, spreads[int(settled_in[place])])


@attack("projection")
def projection(sight: Sight) -> list[Finding]:
    """Return every count by the optimal linear attack."""
    parts, late = [], []
    views = sight.views()
    for number, view in enumerate(views):
        found, complete = _first(sight, view, 1 / (len(views) - number))
        parts.append(found)
        late += [] if complete else [view.layout.name]
        if sight.tell:
            sight.tell("projection", number + 1, len(views))
    how = "the counts nearest to the published ones that add up everywhere"
    return [cells_finding(sight, parts, attack="projection", method=how, **_about(sight, late))]


@attack("successive")
def successive(sight: Sight) -> list[Finding]:
    """Return every count by the optimal attack with what is nearly certain taken as known, again and again.

    Nothing where nothing is nearly certain: then there is nothing to go on from.
    """
    parts, late, done = [], [], 0
    views = sight.views()
    for number, view in enumerate(views):
        share = 1 / (len(views) - number)
        first, complete = _first(sight, view, share / 2)
        found, rounds, also = Projection(sight, view, sight.clock.part(share)).successive(first)
        parts.append(found)
        done += rounds
        late += [] if complete and also else [view.layout.name]
        if sight.tell:
            sight.tell("successive", number + 1, len(views))
    how = "the optimal attack again and again, with what is nearly certain taken as known"
    if not done and not late:
        return []
    about = _about(sight, late)
    about["assumptions"] += (NEARLY_RIGHT,)
    return [cells_finding(sight, parts, attack="successive", method=how, **about)]


def _first(sight: Sight, view: View, share: float) -> tuple[CellEstimates, bool]:
    """Return the optimal estimates of a population, which both attacks start from."""
    attacker = Projection(sight, view, sight.clock.part(share))
    return sight.once("projection", view.layout.name, attacker.estimates)


def _about(sight: Sight, late: list[str]) -> dict[str, Any]:
    """Return what findings of both attacks have in common."""
    cut_off = f"the equations of {' and '.join(late)} were not solved to the end, {sight.clock.words}" if late else ""
    return {
        "subject": "counts",
        "given_zeros": not sight.noise.zeros_are_noisy,
        "assumptions": (
            WELL_ABOVE,
            *([GIVEN_ZEROS] if not sight.noise.zeros_are_noisy else []),
            *([PUBLIC_TOTALS] if sight.knowledge.known else []),
        ),
        "cut_off": cut_off,
    }
