"""Two noises of the same count: how well whoever has both knows it.

Independent noises are weighed by their variances: 1 / (1/V1 + 1/V2). Noises that two laws make of the same key move
together, X1 = Q1(u) and X2 = Q2(u) with Q the quantile function and u uniform. Then the difference X1 - X2 is known,
and what is left is the mean of the variance of X1 among all u with that difference.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

SMALLEST = 1e-12
"""Probabilities below this are left out: no figure that is told shows them."""
MOST_REACH = 10_000_000
"""The largest noise of two laws whose common values are listed; wider ones are weighed as if they were independent."""


def joint_variance(first: Noise, second: Noise, *, same_keys: bool) -> float:
    """Return the variance of the best estimate of a large count from two noisy ones.

    Args:
        first: the law of one noise.
        second: the law of the other.
        same_keys: whether both were drawn with the same keys.

    >>> from discreet.noise.gaussian import Gaussian
    >>> round(joint_variance(Gaussian(sigma=2), Gaussian(sigma=2), same_keys=False), 2)
    2.04
    """
    if same_keys and max(_reach(law) for law in (first, second)) <= MOST_REACH:
        return _moving_together(first, second)
    variances = first.variance, second.variance
    return 0.0 if 0 in variances else 1 / sum(1 / variance for variance in variances)


def _moving_together(first: Noise, second: Noise) -> float:
    reach = max(_reach(law) for law in (first, second))
    values = np.arange(-reach, reach + 1)
    # What lies beyond belongs to the last value.
    below = [np.append(law.cdf(values[:-1]), 1.0) for law in (first, second)]
    edges = np.unique(np.concatenate([[0.0], *below]))
    width, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    noise, other = (values[np.minimum(np.searchsorted(cdf, middle), len(values) - 1)] for cdf in below)
    _, group = np.unique(noise - other, return_inverse=True)
    share, mean, square = (np.bincount(group, width * noise**power) for power in range(3))
    return float(np.sum(square - mean**2 / share))


def _reach(law: Noise) -> int:
    return int(law.bound) if math.isfinite(law.bound) else law.reach(SMALLEST)
