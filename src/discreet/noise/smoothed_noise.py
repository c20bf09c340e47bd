"""Noise that is seen with an independent Gaussian error, and how well two noise distributions can then be told apart.

The density of x + N(0, v) under a noise distribution p is f(e) = sum_x p(x) phi((e - x) / sqrt(v)) / sqrt(v). Two noise
distributions with densities f and g differ by the Bhattacharyya exponent -log of the integral of sqrt(f g).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Floats

POINTS = 6
"""Points of the grid in a standard deviation of the error, or in 1 where that is less."""
REACH = 8.0
"""Standard deviations of the error that the grid reaches beyond the noise."""
SMALLEST = 0.01
"""The smallest variance of an error: whole numbers seen with less can be told apart for certain."""

UNEXPLAINED = 1e-12
"""Probability of a point of the grid under any distribution: no single value decides for certain."""


def bhattacharyya(law: Floats, other: Floats, variance: float) -> float:
    """Return the Bhattacharyya exponent of two noise distributions that are seen with a Gaussian error.

    Args:
        law: the probabilities of -E .. E.
        other: the same of another distribution, whose E may differ.
        variance: of the error, 0 where there is none.

    >>> round(bhattacharyya(np.array([0.1, 0.8, 0.1]), np.array([0.2, 0.6, 0.2]), 0), 6)
    0.024638
    """
    _, f, g = _densities(law, other, variance)
    # 1 - sum sqrt(f g) cancels; half the squared distance of the roots does not.
    return -math.log1p(-float(np.square(np.sqrt(f) - np.sqrt(g)).sum()) / 2)


def log_ratios(law: Floats, other: Floats, variance: float, seen: Floats) -> Floats:
    """Return log f - log g of values that are seen with a Gaussian error; 0 far beyond the noise of both."""
    points, f, g = _densities(law, other, variance)
    found: Floats = np.interp(seen, points, np.log(f + UNEXPLAINED) - np.log(g + UNEXPLAINED), left=0.0, right=0.0)
    return found


def _densities(law: Floats, other: Floats, variance: float) -> tuple[Floats, Floats, Floats]:
    """Return a grid and two densities on it, each with sum 1."""
    sd = math.sqrt(max(variance, SMALLEST))
    fine = math.ceil(POINTS / min(sd, 1.0)) if variance else 1
    bound, reach = max(len(law), len(other)) // 2, math.ceil(REACH * sd * fine) if variance else 0
    error = np.exp(-((np.arange(-reach, reach + 1) / (fine * sd)) ** 2) / 2)
    error /= error.sum()
    densities = []
    for each in (law, other):
        noise = np.zeros(2 * bound * fine + 1)
        noise[(bound - len(each) // 2) * fine :: fine][: len(each)] = each
        densities.append(np.convolve(noise, error))
    points = np.arange(-bound * fine - reach, bound * fine + reach + 1) / fine
    return points, densities[0], densities[1]
