"""How well the best linear estimate knows a statistic, in closed form for nested levels with equal blocks.

    lambda_b = sum_{s >= b} m_s / N_s,   ratio_a = 1 / N_a^2 sum_{b <= a} prod (N_b - N_{b-1}) / lambda_b

Real blocks are unequal: a surrogate, which the projection of `margin_equations` makes exact cell by cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Flags, Floats
    from discreet.programme.lattice import Lattice


def precision(lattice: Lattice, times: Floats) -> Floats:
    """Return lambda of every statistic, each counting as often as it is published with noise of its own."""
    return lattice.over_finer(times / lattice.cells)


def best_ratios(lattice: Lattice, times: Floats, known: str | None = None) -> Floats:
    """Return the variance of the best linear estimate of every statistic's cells, in units of V.

    Args:
        lattice: the statistics.
        times: how often each is published with noise of its own, 0 for those that are not published.
        known: a statistic whose true counts are known: components inside it carry no error.
    """
    inside = None if known is None else (lattice.depths <= lattice.depths[lattice.position(known)]).all(axis=1)
    return ratios_beside(lattice, times, inside)


def ratios_beside(lattice: Lattice, times: Floats, inside: Flags | None) -> Floats:
    """Return the same where the counts of some statistics and of all coarser ones are known, published or not."""
    step = lattice.along(lambda axis: np.diff([0, 1, *axis.sizes]).tolist())
    # What nothing published refines is not known at all; no published statistic has such a part.
    with np.errstate(divide="ignore"):
        error = step / precision(lattice, times)
    if inside is not None:
        error = np.where(inside, 0.0, error)
    ratio: Floats = lattice.over_coarser(error) / lattice.cells**2
    return ratio


def success(variance: float, ratio: float) -> float:
    """Return P(|N(0, V ratio)| < 1/2): the chance that the rounded estimate is the true count."""
    return float(chances(np.array(variance * ratio)))


def chances(variance: Floats) -> Floats:
    """Return P(|N(0, variance)| < 1/2) for many variances, 1 where there is none."""
    from scipy.special import erf

    with np.errstate(divide="ignore"):
        found: Floats = erf(0.5 / np.sqrt(2 * variance))
    return found
