"""The variance of the best linear estimate of a statistic, in closed form for nested levels with equal blocks.

    lambda_b = sum_{s >= b} m_s / N_s,   ratio_a = 1 / N_a^2 sum_{b <= a} prod (N_b - N_{b-1}) / lambda_b

Real blocks are unequal, so this is an approximation. The projection of `margin_equations` is exact for every cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Flags, Floats
    from discreet.programme.lattice import Lattice


def precision(lattice: Lattice, times: Floats) -> Floats:
    """Return lambda of every statistic; each is counted as often as it is published with independent noise."""
    return lattice.over_finer(times / lattice.cells)


def best_ratios(lattice: Lattice, times: Floats, known: str | None = None) -> Floats:
    """Return the variance of the best linear estimate of the cells of every statistic, in units of V.

    Args:
        lattice: the statistics.
        times: the number of publications of each statistic with independent noise; 0 for unpublished statistics.
        known: a statistic whose true counts are known; its components have no error.
    """
    inside = None if known is None else (lattice.depths <= lattice.depths[lattice.position(known)]).all(axis=1)
    return ratios_given_known(lattice, times, inside)


def ratios_given_known(lattice: Lattice, times: Floats, inside: Flags | None) -> Floats:
    """Return the ratios of `best_ratios` if some statistics and all coarser ones are known, published or not."""
    step = lattice.along(lambda axis: np.diff([0, 1, *axis.sizes]).tolist())
    # A component that no published statistic refines has infinite variance; no published statistic contains one.
    with np.errstate(divide="ignore"):
        error = step / precision(lattice, times)
    if inside is not None:
        error = np.where(inside, 0.0, error)
    ratio: Floats = lattice.over_coarser(error) / lattice.cells**2
    return ratio


def success(variance: float, ratio: float) -> float:
    """Return P(|N(0, V ratio)| < 1/2): the probability that the rounded estimate equals the true count."""
    return float(success_rates(np.array(variance * ratio)))


def success_rates(variance: Floats) -> Floats:
    """Return P(|N(0, variance)| < 1/2) for an array of variances; 1 for a variance of 0."""
    from scipy.special import erf

    with np.errstate(divide="ignore"):
        found: Floats = erf(0.5 / np.sqrt(2 * variance))
    return found
