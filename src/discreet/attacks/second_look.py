"""A second release with noise of its own is a second look at every count that did not change.

Two independent noises of variance V1 and V2 leave, in the mean weighted by precision, the variance

    V1 V2 / (V1 + V2),

half of V where both are alike. What `projection` and `margins` could make of that mean is not computed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.averaging_attack import chance_right
from discreet.attacks.cell_estimates import CellEstimates, cells_finding, settled
from discreet.attacks.scoring import CLASSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.attacks.belief import CountNoise
    from discreet.attacks.common_cells import CommonCells
    from discreet.attacks.finding import Finding
    from discreet.attacks.sight import Sight, View

LARGE = 30
"""Counts from here on have one law of noise, as far as this matters."""
UNCHANGED = "counts did not change between the releases, and each has noise of its own in both"
MORE = "the other attacks look at the first release alone: with both they would learn more than is shown"


def second_look(sight: Sight, pairs: Sequence[tuple[View, View, CommonCells]], second: CountNoise) -> Finding:
    """Return every count that both releases publish, as the mean of the two."""
    first = sight.noise
    whole = first.variance + second.variance
    share = second.variance / whole if whole else 0.5
    variance = first.variance * second.variance / whole if whole else 0.0
    parts = []
    for view, other, common in pairs:
        mean = share * view.published[common.first] + (1 - share) * other.published[common.second]
        sure = np.full(len(mean), chance_right(np.array([variance]))[0])
        parts.append(CellEstimates(view, common.first, mean, sure))
    chance = partial(_chance, first=first, second=second, share=share)
    return cells_finding(
        sight,
        parts,
        attack="two-releases",
        variant="mean",
        subject="counts",
        predicted={
            name: float(np.mean([chance(count) for count in range(int(low), int(min(high, LARGE)) + 1)]))
            for name, (low, high) in CLASSES.items()
        },
        method="the mean of both releases, weighted by precision",
        assumptions=(UNCHANGED, MORE),
    )


def _chance(count: int, first: CountNoise, second: CountNoise, share: float) -> float:
    """Return the chance that the mean of two noisy values, settled, is the true count."""
    one, two = (np.arange(-noise.reach, noise.reach + 1) for noise in (first, second))
    laws = [noise.chance(np.array([count]), count + each) for noise, each in ((first, one), (second, two))]
    mean = count + share * one[:, None] + (1 - share) * two[None, :]
    shown = np.broadcast_to((count + one)[:, None], mean.shape).astype(float)
    right = settled(mean.ravel(), shown.ravel(), first) == count
    return float((laws[0][:, None] * laws[1][None, :]).ravel() @ right)
