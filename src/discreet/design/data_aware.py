"""What success a formula predicts for an attack once the true counts are known: small counts behave differently.

The estimate of a cell is a sum over published cells, so its error is the same sum over their
noises. The law of each noise is that of its true count: an empty cell has none, a small one a
law of its own, and cells with the same participants share one draw (METHODS 5, "small
counts"). The chance that the rounded error is 0 follows from these laws alone; it is computed
by drawing from them, the many small terms by their normal limit. Where an attack weighs
published zeros differently, the laws are those given which cells are published as 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.cell_estimates import settled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.attacks.belief import CountNoise
    from discreet.attacks.clock import Clock
    from discreet.attacks.finding import Combination, Finding, Truth
    from discreet.attacks.scoring import Score, Share
    from discreet.attacks.sight import Sight
    from discreet.cells.layout import Layout

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

SAMPLE = 40
"""Estimates per class of true counts for which the chance is computed."""
FEWEST = 5
"""Estimates from which on their mean says something."""
DRAWS = 500
REDRAWS = 50
TERMS = 100
"""Noises that are drawn one by one; the rest of a sum is normal with their variance."""


@dataclass(frozen=True)
class Predicted:
    """What a class of true counts is expected to achieve.

    Attributes:
        share: the share that is expected to be right.
        error: its standard error; 0 where it is no mean over a sample.
        noises: how many different noises the estimates of the class have: estimates of cells that share theirs
            are right or wrong together; None where that is not known.
    """

    share: float
    error: float
    noises: int | None = None

    def beside(self, share: Share) -> Share:
        """Return what was achieved with this prediction beside it."""
        return replace(share, predicted=self.share, error=self.error, noises=self.noises)


@dataclass(frozen=True, eq=False)
class DataAware:
    """Predictions for one release whose truth is known.

    Attributes:
        sight: what was published.
        truth: the true counts.
    """

    sight: Sight
    truth: Truth
    _same: dict[str, Ints] = field(default_factory=dict, repr=False)

    @property
    def noise(self) -> CountNoise:
        """Return the law of the noise."""
        return self.truth.noise

    def predicted(self, score: Score, clock: Clock, sample: int = SAMPLE) -> dict[str, Predicted]:
        """Return the predicted share of every class of true counts; nothing for attacks without a formula."""
        finding = score.finding
        if finding.combination is None:
            return {name: Predicted(share, 0.0) for name, share in finding.predicted.items()}
        found: dict[str, Predicted] = {}
        own = self._noises(finding) if finding.cells else None
        for number, (name, where) in enumerate(score.classes().items()):
            random = self.sight.random(2, number)
            those = np.flatnonzero(where)
            chosen = random.choice(those, min(sample, len(those)), replace=False)
            # In a random order, so that those there is time for are a sample too.
            chances = self.chances(finding, score.actual, chosen, random, clock)
            if len(chances) < min(FEWEST, len(chosen)):
                break
            error = float(chances.std() / max(len(chances), 1) ** 0.5)
            noises = len(np.unique(own[those])) if own is not None else None
            found[name] = Predicted(float(chances.mean()), error, noises)
        return found

    def chances(
        self,
        finding: Finding,
        actual: Ints,
        chosen: Ints,
        random: np.random.Generator,
        clock: Clock | None = None,
    ) -> Floats:
        """Return for some estimates, as many as there is time for, the chance of being right over all noise."""
        assert finding.combination is not None  # noqa: S101 - the caller asked
        found: list[float] = []
        for n in chosen.tolist():
            if clock is not None and clock.over:
                break
            combination = finding.combination(n)
            found.append(self._chance(combination, int(actual[n]), random, given_zeros=finding.given_zeros))
        return np.array(found)

    def _noises(self, finding: Finding) -> Ints:
        """Return a number for the noise of every estimate's own cell, the same for cells that share it."""
        found: list[Ints] = []
        for population, places in finding.cells:
            first = int(found[-1].max()) + 1 if found and len(found[-1]) else 0
            found.append(self.same_noise(population)[places] + first)
        return np.concatenate(found)

    def same_noise(self, population: str) -> Ints:
        """Return a number for every cell, the same for cells that share their noise."""
        if population not in self._same:
            self._same[population] = self._shared(self.sight.view(population).layout)
        return self._same[population]

    def _shared(self, layout: Layout) -> Ints:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if self.noise.shared != "participants":
            return layout.equations.unknowns
        # A part that holds everybody of its parent has the same participants.
        counts = self.truth.counts(layout.name)
        upper, lower = [], []
        for link in layout.equations.links:
            above, below = link.coarse + link.parent, link.fine + np.arange(len(link.parent))
            alike = (counts[above] == counts[below]) & (self._joined_if_empty | (counts[above] > 0))
            upper.append(above[alike])
            lower.append(below[alike])
        ends = (np.concatenate([[0], *upper]), np.concatenate([[0], *lower]))
        same = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(layout.cells, layout.cells))
        found: Ints = connected_components(same, directed=False)[1].astype(np.int64)
        return found

    @property
    def _joined_if_empty(self) -> bool:
        """Say whether empty cells have one noise, which is none; noise on zeros goes by codes, not by participants."""
        return not self.noise.zeros_are_noisy

    def _chance(
        self, combination: Combination, actual: int, random: np.random.Generator, *, given_zeros: bool
    ) -> float:
        """Return the chance that one estimate is right."""
        same = self.same_noise(combination.population)
        counts = self.truth.counts(combination.population)
        places, weights = self._drawn(combination)
        if combination.target is not None:
            # What is known may settle a cell whose own value then counts for nothing; it still is published.
            places, weights = np.append(places, combination.target), np.append(weights, 0.0)
        groups, first, place = np.unique(same[places], return_index=True, return_inverse=True)
        weight, cell = np.bincount(place, weights), places[first]
        size = weight**2 * self.noise.variance_of(counts[cell])
        own = -1
        if combination.target is not None:
            size[own := int(np.searchsorted(groups, same[combination.target]))] = np.inf
        order = np.argsort(-size)[:TERMS]
        rest = np.delete(size, order).sum()
        published = self.sight.view(combination.population).published[cell[order]] if given_zeros else None
        noise = self._noise(counts[cell[order]], published, random)
        error = noise @ weight[order] + np.sqrt(rest) * random.standard_normal(DRAWS)
        if combination.target is None:
            # No difference of areas is negative, and she knows it.
            return float((np.maximum(np.rint(actual + error), 0) == actual).mean())
        shown = actual + noise[:, int(np.flatnonzero(order == own)[0])]
        estimate = settled(actual + error, shown.astype(float), self.noise)
        return float((estimate == actual).mean())

    def _noise(self, counts: Ints, published: Floats | None, random: np.random.Generator) -> Ints:
        """Return draws of the noise of cells; given what is published, those that keep zeros zeros and others not."""
        many = np.broadcast_to(counts, (DRAWS, len(counts)))
        noise = self.noise.publish(many, random) - many
        if published is None:
            return noise
        zero = published == 0
        for _ in range(REDRAWS):
            wrong = (noise == -counts) & ~zero
            if not wrong.any():
                break
            noise[wrong] = self.noise.publish(many[wrong], random) - many[wrong]
        noise[:, zero] = -counts[zero]
        return noise

    def _drawn(self, combination: Combination) -> tuple[Ints, Floats]:
        """Return the cells of a sum, each as often as it has noise of its own in another table."""
        if self.noise.shared != "nothing":
            return combination.places, combination.weights
        layout = self.sight.view(combination.population).layout
        times = layout.equations.noises[layout.equations.statistics][layout.statistic_of[combination.places]]
        # The mean over tables: noise of the same law, smaller by the root of their number.
        return combination.places, combination.weights / np.sqrt(times)
