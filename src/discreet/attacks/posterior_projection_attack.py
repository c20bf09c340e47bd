"""Least squares with one step of posteriors: the exact noise distribution of small counts, given all other cells.

Least squares uses only the variance of the noise. Small counts have noise distributions of their own: counts are not
negative, an empty cell has no noise, and no noise exceeds the bound. One step of expectation propagation uses this:

1. x: the plain projection of the published y.
2. h: the leverage dx/dy, a mean per statistic, at most 0.98.
3. Without its own value a cell is N(m, v), m = (x - h y) / (1 - h), v = V h / (1 - h).
4. Where y <= 2E: the posterior q(n) ~ p(y | n) exp(-(n - m)^2 / 2v) has mean t and variance s, at least 0.02. A normal
   value mu of precision w = 1/s - 1/v, between 1/(4V) and 50, replaces it. mu is (t/s - m/v) / w, or t if the lower
   limit applies. Elsewhere mu = y and w = 1/V.
5. Statistics of fewer than 30 cells stay at x: else their totals would be biased.
6. mu is projected with the precisions w.

The value of a cell enters its own weight through t and s, which m, from all other cells, keeps in check. The
share of correct rounded estimates is estimated from one simulated release with the estimates as counts. Estimates of
cells published as 0 are rounded at random, so that the number of occupied ones agrees with the sum of the estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attack_estimates import ATTACKS, cells_finding, nearest_possible
from discreet.attacks.count_prior import mean_noise
from discreet.attacks.projection_attack import Projection, public_totals
from discreet.attacks.simulated_release import noise_groups, simulate_release

if TYPE_CHECKING:
    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attack_estimates import AttackEstimates, CellEstimates
    from discreet.attacks.attacker_view import AttackerView, UnitView

HIGHEST_LEVERAGE, LOWEST_LEVERAGE = 0.98, 1e-3
FEWEST_CELLS = 30
"""Statistics with fewer cells keep the plain projection."""
LEAST_VARIANCE = 0.02
LEAST_PRECISION = 0.25
"""In units of the precision of a published count, 1 / V."""
LARGEST_PRECISION = 50.0
UNBOUNDED = 6.0
"""Number of standard deviations within which unbounded noise is considered."""
CHUNK = 2_000_000
"""Maximum number of probabilities held at once."""
KINDS = 3
SHRUNK = 30
"""Weight of the success rate of all statistics relative to that of one statistic, in cells."""
ESTIMATED = "the confidence is the success rate in a simulated release whose true counts are the estimates"


@dataclass(frozen=True, eq=False)
class PosteriorProjection:
    """One step of posteriors on the populations that one set of equations relates."""

    attacker: AttackerView
    view: UnitView

    @cached_property
    def plain(self) -> Projection:
        """Return the plain projection, the start of the step."""
        return Projection(self.attacker, self.view)

    @cached_property
    def reach(self) -> int:
        """Return the largest absolute noise that is considered."""
        noise = self.attacker.noise
        return int(noise.bound) if np.isfinite(noise.bound) else int(np.ceil(UNBOUNDED * noise.variance**0.5))

    @cached_property
    def adopted(self) -> Flags:
        """Return which cells the step changes; the others keep the plain projection."""
        cells = np.bincount(self.view.statistic_of)
        return (cells >= FEWEST_CELLS)[self.view.statistic_of] & (self.plain.start[1] > 0)

    @cached_property
    def fitted(self) -> Floats:
        """Return the estimates of all cells before rounding."""
        variance, (_, spread) = self.attacker.noise.variance, self.plain.start
        if not variance:
            return self.plain.fitted
        values, precision = self.sites()
        own = variance / self.view.noise_terms
        spread = np.where(self.adopted, spread / np.sqrt(precision * own), 0.0)
        return self.plain.fit(np.where(self.adopted, values, self.plain.fitted), spread)

    def sites(self) -> tuple[Floats, Floats]:
        """Return mu and w of every cell."""
        published, terms = self.view.published, self.view.noise_terms
        own = self.attacker.noise.variance / terms
        values, precision = self.plain.centred.copy(), 1 / own
        small = self.adopted & (published <= 2 * self.reach)
        for times in np.unique(terms[small]).tolist():
            cells = np.flatnonzero(small & (terms == times))
            step = max(CHUNK // (2 * self.reach + 3), 1)
            for start in range(0, len(cells), step):
                here = cells[start : start + step]
                values[here], precision[here] = self._sites(here, times)
        return values, precision

    def _sites(self, cells: Ints, times: int) -> tuple[Floats, Floats]:
        """Return mu and w of cells whose published values are means over `times` tables."""
        published, own = self.view.published[cells], self.attacker.noise.variance / times
        leverage = np.clip(self.plain.leverages[cells], LOWEST_LEVERAGE, HIGHEST_LEVERAGE)
        centred = self.plain.centred[cells]
        others = (self.plain.fitted[cells] - leverage * centred) / (1 - leverage)
        variance = own * leverage / (1 - leverage)
        counts = np.rint(published).astype(np.int64)[:, None] + np.arange(-self.reach - 1, self.reach + 2)
        sums = np.rint(times * published).astype(np.int64)[:, None]
        exponent = (counts - others[:, None]) ** 2 / (2 * variance[:, None])
        possible = mean_noise(self.attacker.noise, times).chance(counts, sums)
        # Relative to the most likely feasible count, to avoid underflow if the other cells imply a distant value.
        exponent -= np.where(possible > 0, exponent, np.inf).min(axis=1, keepdims=True)
        posterior = np.where(possible > 0, possible * np.exp(-np.maximum(exponent, 0)), 0.0)
        total = posterior.sum(axis=1)
        # A value that the noise distribution cannot produce is kept as published.
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
        return nearest_possible(self.fitted, self.view.published, self.attacker.noise)

    @cached_property
    def kinds(self) -> Ints:
        """Return the kind of every cell: published as 0, small, large."""
        published = self.view.published
        return np.where(published == 0, 0, np.where(published <= 2 * self.reach, 1, 2))

    @cached_property
    def plausible(self) -> Ints:
        """Return counts for a simulated release: the estimates, rounded at random if the published value is 0.

        Most estimates of such cells are below 1/2; rounding to the nearest count would leave too few cells occupied.
        """
        drawn = np.floor(self.fitted + self.attacker.random(6).random(len(self.fitted)))
        drawn = np.where(self.view.published == 0, drawn, self.fitted)
        _, first, unknown = np.unique(self.view.equations.unknowns, return_index=True, return_inverse=True)
        return nearest_possible(drawn, self.view.published, self.attacker.noise)[first][unknown]

    def confidence(self, simulated: PosteriorProjection) -> Floats:
        """Return the share of correct estimates in a simulated release, by statistic and kind.

        Args:
            simulated: the same attack on a release simulated with plausible counts.
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
def posterior_projection(attacker: AttackerView) -> list[AttackEstimates]:
    """Return every count by least squares with one step of posteriors."""
    projections = [PosteriorProjection(attacker, view) for view in attacker.units()]
    counts = {
        view.layout.name: projected.plausible[cells]
        for projected in projections
        for view, cells in projected.view.parts()
    }
    parts: list[CellEstimates] = []
    # With noise on zeros, estimates cut at 0 would be correct far too often: use the confidence of the projection.
    plain = attacker.simulated or attacker.noise.zeros_are_noisy or not attacker.noise.variance
    again = None if plain else _again(attacker, counts)
    for number, projected in enumerate(projections):
        sure = projected.plain.confidence
        if again is not None:
            simulated = PosteriorProjection(again, again.units()[number])
            sure = projected.confidence(simulated)
        parts += projected.plain.estimates(projected.fitted, sure)
        if attacker.progress:
            attacker.progress("posterior-projection", number + 1, len(projections))
    return [
        cells_finding(
            attacker,
            parts,
            attack="posterior-projection",
            subject="counts",
            rerun=True,
            method="least squares with one step of posteriors of small counts, given all other cells",
            assumptions=(ESTIMATED, *public_totals(attacker)),
        )
    ]


def _again(attacker: AttackerView, counts: dict[str, Ints]) -> AttackerView:
    """Return the view of a simulated release whose true counts are the estimates."""
    groups = noise_groups(attacker, counts, attacker.noise)
    return simulate_release(attacker, counts, attacker.noise, groups, attacker.random(4))
