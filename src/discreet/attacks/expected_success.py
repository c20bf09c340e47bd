"""Expected success of an attack, given the true counts.

The same counts are published again with fresh noise, the attack is repeated, and its estimates are scored. This is
valid for any attack, linear or not, and for small counts. It assumes only the counts and the noise distribution.
Attacks that are not repeated predict their success by their own model, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.scoring import CLASSES, class_numbers, score
from discreet.attacks.simulated_release import noise_groups, simulate_release

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import Attack, AttackEstimates, Truth
    from discreet.attacks.attacker_view import AttackerView
    from discreet.attacks.scoring import ClassScore, Score

FEWEST, MOST = 3, 10
"""Minimum and maximum number of simulated releases; large releases have fewer."""
SIMULATED_CELLS = 5_000_000
"""Target for the number of cells of all simulated releases together, within these limits."""


@dataclass(frozen=True)
class Predicted:
    """The predicted success of an attack for one class of true counts.

    Attributes:
        share: the expected share of correct estimates.
        error: its standard error; 0 if it is not a mean over simulations.
        noise_terms: the number of distinct noise terms of the estimates of the class; None if unknown. Estimates of
            cells that share their noise are correct or wrong together.
    """

    share: float
    error: float
    noise_terms: int | None = None

    def attach_to(self, share: ClassScore) -> ClassScore:
        """Return the score with this prediction added."""
        return replace(share, predicted=self.share, error=self.error, noise_terms=self.noise_terms)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for one release whose true counts are known.

    Attributes:
        attacker: the attacker's view of the release.
        truth: the true counts.
        repeated: the attacks to repeat on simulated releases, by name.
    """

    attacker: AttackerView
    truth: Truth
    repeated: Mapping[str, Attack]

    @cached_property
    def counts(self) -> dict[str, Ints]:
        """Return the true counts of every population."""
        return {name: self.truth.counts(name) for name in self.attacker.populations}

    @cached_property
    def groups(self) -> dict[str, Ints]:
        """Return the number of the noise term of every cell, by population."""
        return noise_groups(self.attacker, self.counts, self.truth.noise)

    @cached_property
    def simulated(self) -> dict[str, list[dict[str, float]]]:
        """Return the share of correct estimates by class in every simulated release, by name of attack and variant."""
        cells = sum(len(counts) for counts in self.counts.values())
        many = min(max(SIMULATED_CELLS // max(cells, 1), FEWEST), MOST)
        found: dict[str, list[dict[str, float]]] = {}
        for number in range(many):
            random = self.attacker.random(2, number)
            attacker = simulate_release(self.attacker, self.counts, self.truth.noise, self.groups, random)
            for attack in self.repeated.values():
                for finding in attack(attacker):
                    shares = {share.name: share.achieved for share in score(finding, self.truth).by_count()}
                    found.setdefault(finding.name, []).append(shares)
            if self.attacker.progress:
                self.attacker.progress("predicting", number + 1, many)
        return found

    def predicted(self, score: Score) -> dict[str, Predicted]:
        """Return the prediction for every class of true counts; empty for attacks without a prediction."""
        finding = score.finding
        if finding.class_chances is not None:
            return _believed(score, finding.class_chances)
        if not finding.rerun:
            return {name: Predicted(share, 0.0) for name, share in finding.predicted.items()}
        runs = self.simulated.get(finding.name, [])
        own = self._noise_terms(finding) if finding.cells else None
        found = {}
        for name, where in score.classes().items():
            shares = np.array([run[name] for run in runs if name in run])
            if len(shares) > 1:
                terms = None if own is None else len(np.unique(own[where]))
                found[name] = Predicted(float(shares.mean()), float(shares.std(ddof=1) / len(shares) ** 0.5), terms)
        return found

    def _noise_terms(self, finding: AttackEstimates) -> Ints:
        """Return the number of the noise term of the cell of every estimate."""
        return np.concatenate([self.groups[population][places] for population, places in finding.cells])


def _believed(score: Score, chances: Floats) -> dict[str, Predicted]:
    """Return the share of every class that the attacker's posterior expects to be correct.

    It is the sum of the confidence of estimates in the class, divided by the sum of the posterior of the class.
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
