"""Residual attack: infer the noise bound from the residuals of all published counts.

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
    """The noise bound as estimated from residuals.

    Attributes:
        bound: the bound with the largest likelihood.
        confidence: its posterior probability under a flat prior on all possible bounds.
        residuals: the number of residuals used.
        predicted: the expected probability of identifying the bound; None if the noise distribution is unknown.
    """

    bound: int
    confidence: float
    residuals: int
    predicted: float | None


def bound_by_residuals(attacker: AttackerView, largest: int, laws: Laws) -> BoundByResiduals | None:
    """Return the bound with the largest likelihood given the residuals of large counts; None without residuals.

    Args:
        attacker: the attacker's view of the release.
        largest: the largest possible bound.
        laws: returns the noise distribution of large counts by variance and bound; None if there is none.
    """
    found = large_residuals(attacker, largest)
    seen, leverage = found.values, found.leverage
    if not len(seen):
        return None
    noise = attacker.noise
    # The release discloses its typical noise to one decimal; the residuals estimate it more precisely.
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
        leverage: the leverage of each.
        concentration: the factor by which residuals are more informative jointly than one by one.
    """

    values: Floats
    leverage: Floats
    concentration: float


def large_residuals(attacker: AttackerView, largest: int) -> LargeResiduals:
    """Return the leave-one-out residuals of counts that are certainly larger than any bound."""
    values, leverages, shared = [np.zeros(0)], [np.zeros(0)], []
    views: Sequence[PopulationCounts | UnitView] = attacker.units() if attacker.spsn else single_noises(attacker)
    for view in views:
        equations = view.layout.equations
        leverage = steady_leverages(equations, view.layout.statistic_of.astype(np.int64))
        found = residuals_of(equations, attacker.noise.centred(view.published), leverage, attacker.noise.variance)
        large = found.large(max(largest, len(attacker.noise.laws)))
        # The noise distribution includes the mean of the noise.
        values.append(found.values[large] + attacker.noise.mean)
        leverages.append(found.leverage[large])
        shared.append(binned(leverages[-1], concentration(equations, leverage)))
    return LargeResiduals(np.concatenate(values), np.concatenate(leverages), joined(shared).concentration)
