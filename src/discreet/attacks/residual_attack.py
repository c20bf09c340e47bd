"""Inferring the bound of the noise from the residuals of all published counts.

Least squares on all published counts gives each a leave-one-out residual: its own noise plus an error that is nearly
Gaussian (`equations.residual_terms`). The attacker adds up the log-likelihoods of the residuals of large counts under
each possible bound, with noise of the same shape and variance, and takes the largest sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.additive_tuples import single_noises
from discreet.equations.residual_terms import (
    BINS,
    binned,
    concentration,
    joined,
    residuals_of,
    steady_leverages,
    success_of,
)
from discreet.noise.rival_noise import log_ratios

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.arrays import Floats
    from discreet.attacks.attacker_view import AttackerView, PopulationCounts, UnitView

    Laws = Callable[[float, int], Floats | None]


@dataclass(frozen=True, eq=False)
class BoundByResiduals:
    """What residuals reveal of the bound.

    Attributes:
        bound: the bound that explains them best.
        confidence: its probability, all possible bounds being equally likely beforehand.
        residuals: how many were used.
        predicted: how often the attack is expected to identify the bound; None where the noise is not known.
    """

    bound: int
    confidence: float
    residuals: int
    predicted: float | None


def bound_by_residuals(sight: AttackerView, largest: int, laws: Laws) -> BoundByResiduals | None:
    """Return the bound that explains the residuals of large counts best; None where there are none.

    Args:
        sight: what the attacker sees.
        largest: the largest bound that is possible.
        laws: gives the noise distribution of large counts by variance and bound; None where there is none.
    """
    found = large_residuals(sight, largest)
    seen, leverage = found.values, found.leverage
    if not len(seen):
        return None
    noise = sight.noise
    # A release gives the size of its noise to one decimal; its residuals tell more.
    variance = noise.variance if noise.exactly else float(((seen - noise.mean) ** 2 * (1 - leverage)).mean())
    possible = {bound: law for bound in range(1, largest + 1) if (law := laws(variance, bound)) is not None}
    widest = possible.get(largest)
    if widest is None:
        return None
    likelihood = dict.fromkeys(possible, 0.0)
    order = np.argsort(leverage)
    for group in np.split(order, np.flatnonzero(np.diff((leverage[order] * BINS).astype(np.int64))) + 1):
        mean = float(leverage[group].mean())
        for bound, law in possible.items():
            likelihood[bound] += float(log_ratios(law, widest, variance * mean / (1 - mean), seen[group]).sum())
    best = max(likelihood, key=likelihood.__getitem__)
    weights = np.exp(np.array(list(likelihood.values())) - likelihood[best])
    predicted = None
    if noise.exactly and noise.bound in possible and noise.bound + 1 in possible:
        law, other = (possible[int(noise.bound) + more] for more in (0, 1))
        predicted = success_of(binned(leverage, found.concentration).exponent(law, other, variance))
    return BoundByResiduals(best, float(1 / weights.sum()), len(seen), predicted)


@dataclass(frozen=True, eq=False)
class LargeResiduals:
    """The leave-one-out residuals of counts that are certainly larger than any bound.

    Attributes:
        values: the residuals.
        leverage: of each.
        concentration: by how much more they reveal together than one by one.
    """

    values: Floats
    leverage: Floats
    concentration: float


def large_residuals(sight: AttackerView, largest: int) -> LargeResiduals:
    """Return the leave-one-out residuals of counts that are certainly larger than any bound."""
    values, leverages, shared = [np.zeros(0)], [np.zeros(0)], []
    views: Sequence[PopulationCounts | UnitView] = sight.units() if sight.spsn else single_noises(sight)
    for view in views:
        equations = view.layout.equations
        leverage = steady_leverages(equations, view.layout.statistic_of.astype(np.int64))
        found = residuals_of(equations, sight.noise.centred(view.published), leverage, sight.noise.variance)
        large = found.large(max(largest, len(sight.noise.laws)))
        # The mean of the noise is part of what the noise distribution explains.
        values.append(found.values[large] + sight.noise.mean)
        leverages.append(found.leverage[large])
        shared.append(binned(leverages[-1], concentration(equations, leverage)))
    return LargeResiduals(np.concatenate(values), np.concatenate(leverages), joined(shared).concentration)
