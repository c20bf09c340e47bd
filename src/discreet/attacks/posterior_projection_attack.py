"""Least squares with one step of posteriors: the exact noise distribution of small counts, given all other cells.

Least squares knows of the noise its variance alone. Small counts have distributions of their own: none is negative,
an empty cell has no noise, and none is farther off than the bound. One step of expectation propagation adds that:

1. x: the plain projection of the published y.
2. h: the leverage dx/dy, a mean per statistic, at most 0.98.
3. Without its own value a cell is N(m, v), m = (x - h y) / (1 - h), v = V h / (1 - h).
4. Where y <= 2E: the posterior q(n) ~ p(y | n) exp(-(n - m)^2 / 2v) has mean t and variance s, at least 0.02. A normal
   value mu of precision w = 1/s - 1/v, between 1/(4V) and 50, stands for it: mu = (t/s - m/v) / w, and t where the
   lower limit applies. Elsewhere mu = y and w = 1/V.
5. Statistics of fewer than 30 cells stay at x: else their totals would be biased.
6. mu is projected with the precisions w.

The value of a cell enters its own weight through t and s, which m, from all other cells, keeps in check. How often the
rounded estimates are right is learnt from one simulation of a release with the estimates as counts; those of cells
published as 0 are rounded at random, so that as many of them are occupied as the estimates add up to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attack_estimates import ATTACKS, cells_finding, nearest_possible
from discreet.attacks.count_prior import mean_noise
from discreet.attacks.projection_attack import Projection, public_totals
from discreet.attacks.simulated_release import noise_groups, published_again

if TYPE_CHECKING:
    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attack_estimates import AttackEstimates, CellEstimates
    from discreet.attacks.attacker_view import AttackerView, UnitView

HIGHEST_LEVERAGE, LOWEST_LEVERAGE = 0.98, 1e-3
FEWEST_CELLS = 30
"""Statistics of fewer cells stay at the plain projection."""
LEAST_VARIANCE = 0.02
LEAST_PRECISION = 0.25
"""In units of that of a published count, 1 / V."""
LARGEST_PRECISION = 50.0
UNBOUNDED = 6.0
"""Standard deviations within which noise without a bound is considered."""
CHUNK = 2_000_000
"""Probabilities that are held at once."""
KINDS = 3
SHRUNK = 30
"""How many cells' worth the success of all statistics counts beside that of one."""
ESTIMATED = "her confidence is the success in a simulated release whose true counts are her estimates"


@dataclass(frozen=True, eq=False)
class PosteriorProjection:
    """One step of posteriors on the populations that one set of equations relates."""

    sight: AttackerView
    view: UnitView

    @cached_property
    def plain(self) -> Projection:
        """Return the plain projection, from which the step starts."""
        return Projection(self.sight, self.view)

    @cached_property
    def reach(self) -> int:
        """Return the largest noise that is considered."""
        noise = self.sight.noise
        return int(noise.bound) if np.isfinite(noise.bound) else int(np.ceil(UNBOUNDED * noise.variance**0.5))

    @cached_property
    def adopted(self) -> Flags:
        """Return which cells take part in the step; the others stay at the plain projection."""
        cells = np.bincount(self.view.statistic_of)
        return (cells >= FEWEST_CELLS)[self.view.statistic_of] & (self.plain.start[1] > 0)

    @cached_property
    def fitted(self) -> Floats:
        """Return the estimates of all cells, not yet rounded."""
        variance, (_, spread) = self.sight.noise.variance, self.plain.start
        if not variance:
            return self.plain.fitted
        values, precision = self.sites()
        own = variance / self.view.noises
        spread = np.where(self.adopted, spread / np.sqrt(precision * own), 0.0)
        return self.plain.fit(np.where(self.adopted, values, self.plain.fitted), spread)

    def sites(self) -> tuple[Floats, Floats]:
        """Return mu and w of every cell."""
        published, noises = self.view.published, self.view.noises
        own = self.sight.noise.variance / noises
        values, precision = self.plain.centred.copy(), 1 / own
        small = self.adopted & (published <= 2 * self.reach)
        for times in np.unique(noises[small]).tolist():
            cells = np.flatnonzero(small & (noises == times))
            step = max(CHUNK // (2 * self.reach + 3), 1)
            for start in range(0, len(cells), step):
                here = cells[start : start + step]
                values[here], precision[here] = self._sites(here, times)
        return values, precision

    def _sites(self, cells: Ints, times: int) -> tuple[Floats, Floats]:
        """Return mu and w of cells whose published values are means over as many tables."""
        published, own = self.view.published[cells], self.sight.noise.variance / times
        leverage = np.clip(self.plain.leverages[cells], LOWEST_LEVERAGE, HIGHEST_LEVERAGE)
        centred = self.plain.centred[cells]
        others = (self.plain.fitted[cells] - leverage * centred) / (1 - leverage)
        variance = own * leverage / (1 - leverage)
        counts = np.rint(published).astype(np.int64)[:, None] + np.arange(-self.reach - 1, self.reach + 2)
        sums = np.rint(times * published).astype(np.int64)[:, None]
        exponent = (counts - others[:, None]) ** 2 / (2 * variance[:, None])
        possible = mean_noise(self.sight.noise, times).chance(counts, sums)
        # Relative to the likeliest possible count: none underflows where the others point far away.
        exponent -= np.where(possible > 0, exponent, np.inf).min(axis=1, keepdims=True)
        posterior = np.where(possible > 0, possible * np.exp(-np.maximum(exponent, 0)), 0.0)
        total = posterior.sum(axis=1)
        # What the noise distribution cannot lead to stays as published.
        sound = total > 0
        posterior /= np.where(sound, total, 1.0)[:, None]
        mean = (posterior * counts).sum(axis=1)
        spread = np.maximum((posterior * (counts - mean[:, None]) ** 2).sum(axis=1), LEAST_VARIANCE)
        gained = 1 / spread - 1 / variance
        precision = np.clip(gained, LEAST_PRECISION / own, LARGEST_PRECISION)
        value = np.where(gained <= LEAST_PRECISION / own, mean, (mean / spread - others / variance) / precision)
        return np.where(sound, value, centred), np.where(sound, precision, 1 / own)

    @cached_property
    def settled(self) -> Ints:
        """Return the rounded estimates of all cells."""
        return nearest_possible(self.fitted, self.view.published, self.sight.noise)

    @cached_property
    def kinds(self) -> Ints:
        """Return the kind of every cell: published as 0, small, large."""
        published = self.view.published
        return np.where(published == 0, 0, np.where(published <= 2 * self.reach, 1, 2))

    @cached_property
    def plausible(self) -> Ints:
        """Return counts for a simulated release: the rounded estimates, at random where 0 is published.

        Most estimates of such cells lie below 1/2. Rounded to the nearest count they would leave too few occupied.
        """
        drawn = np.floor(self.fitted + self.sight.random(6).random(len(self.fitted)))
        drawn = np.where(self.view.published == 0, drawn, self.fitted)
        _, first, unknown = np.unique(self.view.equations.unknowns, return_index=True, return_inverse=True)
        return nearest_possible(drawn, self.view.published, self.sight.noise)[first][unknown]

    def confidence(self, simulated: PosteriorProjection) -> Floats:
        """Return how often estimates were right in a simulated release, by statistic and kind.

        Args:
            simulated: the same attack on a release that was simulated with plausible counts.
        """
        statistics = int(self.view.statistic_of.max()) + 1
        there, here = (each.kinds * statistics + self.view.statistic_of for each in (simulated, self))
        right = simulated.settled == self.plausible
        cells, hits = np.bincount(there, minlength=KINDS * statistics), np.bincount(there, right, KINDS * statistics)
        of_kind = cells.reshape(KINDS, -1).sum(axis=1)
        share = np.divide(hits.reshape(KINDS, -1).sum(axis=1), of_kind, out=np.zeros(KINDS), where=of_kind > 0)
        found: Floats = ((hits + SHRUNK * np.repeat(share, statistics)) / (cells + SHRUNK))[here]
        return np.where(self.adopted, found, self.plain.confidence)


@ATTACKS.register("posterior-projection")
def posterior_projection(sight: AttackerView) -> list[AttackEstimates]:
    """Return every count by least squares with one step of posteriors."""
    attackers = [PosteriorProjection(sight, view) for view in sight.units()]
    counts = {
        view.layout.name: attacker.plausible[cells] for attacker in attackers for view, cells in attacker.view.parts()
    }
    parts: list[CellEstimates] = []
    # Under noise on zeros estimates cut off at 0 would count as right far too often: confidence is the plain one.
    plain = sight.simulated or sight.noise.zeros_are_noisy or not sight.noise.variance
    again = None if plain else _again(sight, counts)
    for number, attacker in enumerate(attackers):
        sure = attacker.plain.confidence
        if again is not None:
            simulated = PosteriorProjection(again, again.units()[number])
            sure = attacker.confidence(simulated)
        parts += attacker.plain.estimates(attacker.fitted, sure)
        if sight.tell:
            sight.tell("posterior-projection", number + 1, len(attackers))
    return [
        cells_finding(
            sight,
            parts,
            attack="posterior-projection",
            subject="counts",
            rerun=True,
            method="least squares with one step of posteriors of small counts, given all other cells",
            assumptions=(ESTIMATED, *public_totals(sight)),
        )
    ]


def _again(sight: AttackerView, counts: dict[str, Ints]) -> AttackerView:
    """Return a simulated release whose true counts are the estimates."""
    groups = noise_groups(sight, counts, sight.noise)
    return published_again(sight, counts, sight.noise, groups, sight.random(4))
