"""Expected success of an attack, given the true counts.

The same counts are published again with fresh noise, the attack is repeated, and its estimates are scored. This is
valid for any attack, linear or not, and for small counts; it takes only the counts and the
noise distribution as given. Attacks that are not repeated predict by their own model, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.scoring import CLASSES, class_numbers, score
from discreet.attacks.simulated_release import noise_groups, published_again

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import Attack, AttackEstimates, Truth
    from discreet.attacks.attacker_view import AttackerView
    from discreet.attacks.scoring import ClassScore, Score

FEWEST, MOST = 3, 10
"""Simulated releases; the smaller number for large releases."""
SIMULATED_CELLS = 5_000_000
"""Cells of all simulated releases together, between these numbers."""


@dataclass(frozen=True)
class Predicted:
    """What a class of true counts is expected to achieve.

    Attributes:
        share: the share that is expected to be right.
        error: its standard error; 0 where it is not a mean over simulations.
        noises: how many different noises the estimates of the class have: estimates of cells that share theirs
            are right or wrong together; None where that is not known.
    """

    share: float
    error: float
    noises: int | None = None

    def beside(self, share: ClassScore) -> ClassScore:
        """Return what was achieved with this prediction beside it."""
        return replace(share, predicted=self.share, error=self.error, noises=self.noises)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for one release whose truth is known.

    Attributes:
        sight: what was published.
        truth: the true counts.
        repeated: the attacks to repeat on simulated releases, by name.
    """

    sight: AttackerView
    truth: Truth
    repeated: Mapping[str, Attack]

    @cached_property
    def counts(self) -> dict[str, Ints]:
        """Return the true counts of every population."""
        return {name: self.truth.counts(name) for name in self.sight.populations}

    @cached_property
    def groups(self) -> dict[str, Ints]:
        """Return which cells share their noise."""
        return noise_groups(self.sight, self.counts, self.truth.noise)

    @cached_property
    def simulated(self) -> dict[str, list[dict[str, float]]]:
        """Return the share right by class of true counts in every simulated release, by finding."""
        cells = sum(len(counts) for counts in self.counts.values())
        many = min(max(SIMULATED_CELLS // max(cells, 1), FEWEST), MOST)
        found: dict[str, list[dict[str, float]]] = {}
        for number in range(many):
            random = self.sight.random(2, number)
            sight = published_again(self.sight, self.counts, self.truth.noise, self.groups, random)
            for attack in self.repeated.values():
                for finding in attack(sight):
                    shares = {share.name: share.achieved for share in score(finding, self.truth).by_count()}
                    found.setdefault(finding.name, []).append(shares)
            if self.sight.tell:
                self.sight.tell("predicting", number + 1, many)
        return found

    def predicted(self, score: Score) -> dict[str, Predicted]:
        """Return the predicted share of every class of true counts; nothing for attacks without a prediction."""
        finding = score.finding
        if finding.class_chances is not None:
            return _believed(score, finding.class_chances)
        if not finding.rerun:
            return {name: Predicted(share, 0.0) for name, share in finding.predicted.items()}
        runs = self.simulated.get(finding.name, [])
        own = self._noises(finding) if finding.cells else None
        found = {}
        for name, where in score.classes().items():
            shares = np.array([run[name] for run in runs if name in run])
            if len(shares) > 1:
                noises = None if own is None else len(np.unique(own[where]))
                found[name] = Predicted(float(shares.mean()), float(shares.std(ddof=1) / len(shares) ** 0.5), noises)
        return found

    def _noises(self, finding: AttackEstimates) -> Ints:
        """Return a number for the noise of every estimate's own cell, the same for cells that share it."""
        return np.concatenate([self.groups[population][places] for population, places in finding.cells])


def _believed(score: Score, chances: Floats) -> dict[str, Predicted]:
    """Return the share of every class that the attacker's posterior expects to be right.

    The sum of the confidence of estimates in the class over the sum of the posterior probability of the class.
    """
    weights = score.weights * score.once
    number = class_numbers(score.finding.estimate)
    found = {}
    for place, name in enumerate(CLASSES):
        expected = float(weights @ chances[:, place])
        if expected > 0:
            right = float((weights * score.finding.confidence)[number == place].sum())
            found[name] = Predicted(right / expected, 0.0)
    return found
