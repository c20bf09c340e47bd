"""Target cells: the stratified sample of cells on which attacks that work cell by cell are scored.

Such an attack uses all evidence about every cell it estimates; a smaller budget means fewer cells, not less evidence.
Strata are the classes of true counts, if known, so that enough singleton cells are drawn. The scorer draws the sample
and weights it; attacks learn only the positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.scoring import class_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import AttackEstimates, Truth
    from discreet.attacks.attacker_view import AttackerView

BUDGET = 100_000
"""Default number of target cells."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Target cells by population, in order, and the number of cells that each represents."""

    places: Mapping[str, Ints]
    weights: Mapping[str, Floats]

    def weights_of(self, finding: AttackEstimates) -> Floats | None:
        """Return the number of cells that every estimate represents; None if the attack estimated all cells."""
        if not finding.sampled:
            return None
        found = [self.weights[name][np.searchsorted(self.places[name], places)] for name, places in finding.cells]
        return np.concatenate(found)


def draw_targets(attacker: AttackerView, budget: int | None, truth: Truth | None) -> Targets | None:
    """Return a stratified sample of the cells, one per unknown; None if the budget covers all cells.

    Args:
        attacker: the attacker's view of the release.
        budget: the number of target cells; None for all cells.
        truth: the true counts, which define the strata; without them all cells are one stratum.
    """
    places: dict[str, Ints] = {}
    for joint in attacker.units():
        first = np.unique(joint.equations.unknowns, return_index=True)[1]
        # Cells that the universe or the codes exclude are not targets.
        first = first[joint.equations.spread[first] > 0]
        for view, cells in joint.parts():
            places[view.layout.name] = np.sort(first[(first >= cells.start) & (first < cells.stop)]) - cells.start
    total = sum(len(here) for here in places.values())
    if budget is None or budget >= total:
        return None
    stratum = np.zeros(total, dtype=np.int64)
    if truth is not None:
        stratum = class_numbers(np.concatenate([truth.counts(name)[here] for name, here in places.items()]))
    random, sizes = attacker.random(5), np.bincount(stratum)
    weight = np.zeros(len(stratum))
    for number, taken in enumerate(_allocation(sizes, budget).tolist()):
        if taken:
            weight[random.choice(np.flatnonzero(stratum == number), taken, replace=False)] = sizes[number] / taken
    split = np.split(weight, np.cumsum([len(here) for here in places.values()])[:-1])
    weights = dict(zip(places, split, strict=True))
    return Targets(
        {name: here[weights[name] > 0] for name, here in places.items()},
        {name: part[part > 0] for name, part in weights.items()},
    )


def _allocation(sizes: Ints, budget: int) -> Ints:
    """Return the sample size of every stratum: equal sizes; what small strata cannot use goes to the others."""
    taken = np.zeros_like(sizes)
    open_strata, left = np.flatnonzero(sizes), budget
    while len(open_strata) and left >= len(open_strata):
        taken[open_strata] = np.minimum(sizes[open_strata], taken[open_strata] + left // len(open_strata))
        left = budget - int(taken.sum())
        open_strata = open_strata[taken[open_strata] < sizes[open_strata]]
    # The remainder of the equal division; every stratum has at least one cell.
    for number in open_strata[:left].tolist():
        taken[number] += 1
    return np.maximum(taken, sizes > 0)
