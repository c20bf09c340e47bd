"""Noise with a rival bound, and noise smoothed by an estimation error, for likelihood attacks.

A likelihood attacker compares the noise of large counts with the same noise under another bound. Only the bound
differs; mean, variance and shape are kept:

- A p-table with its settings is solved again with the other bound and all other constraints (stay, floor, monotone).
  Objective and threshold concern small counts only.
- A row of unknown origin is continued at both ends. The logarithm of its probabilities continues with its last second
  difference, as a parabola, but never increases. A smaller bound truncates the row. Among all distributions with the
  row's mean and variance, the result is the nearest to this in relative entropy: the probabilities are multiplied by
  exp(a v + b v^2). For a Gaussian shape both methods give the maximum-entropy distribution.

A comparison with a distribution of another shape would identify the shape instead of the bound.

Residuals contain the noise with an independent Gaussian error. The density of x + N(0, v) under a noise distribution p
is f(e) = sum_x p(x) phi((e - x) / sqrt(v)) / sqrt(v). Two noise distributions with densities f and g differ by the
Bhattacharyya exponent -log of the integral of sqrt(f g).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.distribution import Noise
from discreet.noise.dual import solve
from discreet.noise.feasibility import variance_limits
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTableRow

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.noise.by_count import AnyLaw
    from discreet.noise.ptable_settings import PTableSettings

REACHED = 1e-6
"""Relative tolerance up to which two variances count as equal."""
CONVERGED = 1e-12
"""Tolerance on the moments, relative to the square of the bound, at which the search ends."""
MOST_STEPS = 200


def rival(noise: AnyLaw, bound: int) -> Noise | None:
    """Return the noise of large counts with another bound, of the same shape, mean and variance.

    Args:
        noise: a p-table, a distribution by count, or one distribution for all counts.
        bound: the largest absolute noise of the result.

    Returns:
        The distribution; None for unbounded noise, for rounding, and if the variance is larger than the bound allows.

    >>> from discreet.noise.ptable import PTable
    >>> found = rival(PTable.max_entropy(variance=2, bound=5, stay=0.6), 6)
    >>> round(found.variance, 6), round(float(found.pmf(0)), 6)
    (2.0, 0.6)
    """
    law, settings = (noise, None) if isinstance(noise, Noise) else (noise.large, noise.settings)
    if not math.isfinite(law.bound) or law.variance <= 0 or bound < 1:
        return None
    if isinstance(law, MaxEntropy):
        return _max_entropy(law.variance, bound)
    if settings:
        return _solved(law, settings, bound)
    return _continued(law, bound)


def _max_entropy(variance: float, bound: int) -> MaxEntropy | None:
    """Return the maximum-entropy distribution, up to the uniform one."""
    largest = bound * (bound + 1) / 3
    return MaxEntropy(variance=min(variance, largest), bound=bound) if variance <= largest * (1 + REACHED) else None


def _solved(law: Noise, settings: PTableSettings, bound: int) -> Noise | None:
    """Return the last row for the other bound under the same constraints."""
    other = replace(settings, bound=bound, threshold=0, objective="entropy")
    problem = replace(other.row_problems()[other.last_row], variance=law.variance)
    if problem.plain and not problem.equality:
        return _max_entropy(law.variance, bound)
    limits = variance_limits(problem)
    if limits is None or not limits[0] < law.variance < limits[1]:
        return _continued(law, bound) if bound > law.bound else None
    row = _row(problem.values, solve([problem])[0].probability)
    return row if row.variance >= law.variance * (1 - REACHED) else None


def _continued(law: Noise, bound: int) -> PTableRow | None:
    """Return the distribution with the same mean and variance that is nearest to the continued or truncated one."""
    x = np.arange(-int(law.bound), int(law.bound) + 1)
    log = law.log_pmf(x)
    possible = np.flatnonzero(np.isfinite(log))
    x, log = x[possible[0] : possible[-1] + 1], log[possible[0] : possible[-1] + 1]
    probability = np.exp(log)
    mean = float(probability @ x)
    wider = bound - int(law.bound)
    if wider > 0:
        log = np.concatenate([_beyond(log[::-1], wider)[::-1], log, _beyond(log, wider)])
        x = np.arange(x[0] - wider, x[-1] + wider + 1)
    inside = (np.abs(x) <= bound) & np.isfinite(log)
    found = _tilted(x[inside], log[inside], mean, law.variance)
    return None if found is None else _row(x[inside], found)


def _beyond(log: Floats, steps: int) -> Floats:
    """Return the logarithms beyond the last one: a parabola through the last three that never increases."""
    last = log[-3:][::-1]
    last = last[np.logical_and.accumulate(np.isfinite(last))]
    fall = last[0] - last[1] if len(last) > 1 else 0.0
    bend = fall - (last[1] - last[2]) if len(last) > 2 else 0.0
    falls = np.minimum(fall + bend * np.arange(1, steps + 1), 0.0)
    beyond: Floats = last[0] + np.cumsum(falls)
    return beyond


def _tilted(x: Ints, log: Floats, mean: float, variance: float) -> Floats | None:
    """Return p proportional to exp(log + a x + b x^2) with this mean and variance; None if the search fails.

    Newton's method on the convex function log(sum exp(log + a u + b u^2)) - a E[u] - b E[u^2], u = x scaled to 1.
    """
    if len(x) < 2 or not x[0] < mean < x[-1]:
        return None
    scale = float(np.abs(x).max())
    features = np.stack([x / scale, (x / scale) ** 2], axis=1)
    target = np.array([mean / scale, (variance + mean**2) / scale**2])

    def dual(theta: Floats) -> tuple[float, Floats]:
        s = log + features @ theta
        e = np.exp(s - s.max())
        return float(s.max() + math.log(e.sum()) - theta @ target), e / e.sum()

    theta = np.zeros(2)
    value, p = dual(theta)
    for _ in range(MOST_STEPS):
        gap = features.T @ p - target
        if np.abs(gap).max() <= CONVERGED:
            return p
        centred = features - features.T @ p
        step = -np.linalg.pinv(centred.T * p @ centred, hermitian=True) @ gap
        length = 1.0
        while dual(theta + length * step)[0] > value + 1e-4 * length * float(gap @ step) + 1e-14 and length > 1e-12:
            length /= 2
        theta = theta + length * step
        value, p = dual(theta)
    return None


def _row(values: Ints, probabilities: Floats) -> PTableRow:
    return PTableRow(int(np.abs(values).max()), tuple(values.tolist()), tuple(probabilities.tolist()))


POINTS = 6
"""Number of grid points per standard deviation of the error, or per unit if that is smaller."""
REACH = 8.0
"""Number of standard deviations of the error by which the grid extends beyond the noise."""
SMALLEST = 0.01
"""Minimum variance of an error: with a smaller one, whole numbers can be distinguished with certainty."""

UNEXPLAINED = 1e-12
"""Minimum probability of a grid point under any distribution, so that no single value decides with certainty."""


def bhattacharyya(law: Floats, other: Floats, variance: float) -> float:
    """Return the Bhattacharyya exponent of two noise distributions observed with a Gaussian error.

    Args:
        law: the probabilities of -E .. E.
        other: the probabilities of another distribution, whose E may differ.
        variance: the variance of the error; 0 for no error.

    >>> round(bhattacharyya(np.array([0.1, 0.8, 0.1]), np.array([0.2, 0.6, 0.2]), 0), 6)
    0.024638
    """
    _, f, g = _densities(law, other, variance)
    # 1 - sum sqrt(f g) loses digits; half the squared distance of the roots does not.
    return -math.log1p(-float(np.square(np.sqrt(f) - np.sqrt(g)).sum()) / 2)


def log_ratios(law: Floats, other: Floats, variance: float, seen: Floats) -> Floats:
    """Return log f - log g of values observed with a Gaussian error; 0 far beyond the noise of both."""
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
