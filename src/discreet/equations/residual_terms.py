"""Residuals of least squares: an estimate of the noise of every published count that occurs in equations.

With the leverage h of a noise term, the leave-one-out residual of its published count y,

    e = (y - x) / (1 - h),   x the projection of all published counts,

is the noise of y plus an error of variance V h / (1 - h) from the noise of all other counts. The noise of y is
independent of y - e, the estimate of its count from all others. An attacker who compares two bounds of the noise adds
up the log-likelihood ratios of all residuals. With B the sum of their Bhattacharyya exponents the attacker is right
with probability about

    Phi(sqrt(2 B)).

This is exact for a Gaussian sum with one variance under both bounds, for which B is one eighth of the squared distance
of its means in standard deviations. The error of a residual is a sum of noise terms with the same bound, not Gaussian.
Residuals that share noise terms are dependent. Two noise distributions with the same variance differ first in their
fourth cumulants. With M = I - H, H the projection of the noise terms, the errors multiply the difference of the fourth
cumulants of a residual by sum_j (M_ij / M_ii)^4. The variance of the sum of all log-likelihood ratios grows by the same
factor, because the covariance of the fourth powers of two residuals is proportional to the fourth power of their
correlation. B is therefore replaced by B S, with the concentration

    S = sum_ij M_ij^4 / sum_i M_ii^4 >= 1.

The result is a prediction, not a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.closed_form import best_ratios
from discreet.equations.leverage import probe_leverages
from discreet.noise.rival_noise import bhattacharyya
from discreet.progress import reported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Floats, Ints
    from discreet.equations.leverage import Equations
    from discreet.programme.lattice import Lattice
    from discreet.progress import Progress

WORK = 6 * 10**6
"""Cells times probes; more probes change the exponents of a programme by at most 3 % (measured on Luxembourg)."""
FEWEST, MOST = 4, 20
"""The number of probes for a large and for a small programme."""
TINY = 1e-12
SEED = 15
"""The seed of the probes, so that the same programme always has the same figures."""
BINS = 100
"""The number of bins of the histogram of leverages, of equal width."""
PRECISION, MOST_ROUNDS = 2500, 100
"""For the concentration: standard error 1 / sqrt(rounds sum_i M_ii^4), 0.02, with rounds of four probes."""
ROUGH = 1e-2
"""The relative tolerance of these probes."""
TOLERANCE = 1e-5
"""The relative tolerance of the projection."""
CERTAINLY = 3.0
"""The number of standard deviations by which an estimate must exceed the smallest large count."""
ALONE = 0.999
"""The leverage from which on other counts carry no information about a noise term."""


@dataclass(frozen=True, eq=False)
class Leverages:
    """A histogram of the leverages of noise terms, by statistic.

    Attributes:
        terms: the number of independent noise terms by published statistic and bin; a noise term that several cells
            share counts once, in the first statistic.
        total: the sum of the leverages by published statistic and bin.
        surrogate: whether the leverages are those of the closed form for equal blocks.
        concentration: S, the factor by which dependence between residuals increases the exponent.
    """

    terms: Floats
    total: Floats
    surrogate: bool = False
    concentration: float = 1.0

    @property
    def number(self) -> int:
        """Return the number of noise terms."""
        return round(float(self.terms.sum()))

    def restricted(self, statistics: Flags) -> Leverages:
        """Return the leverages of some statistics; without the other statistics, leverages are at least as large."""
        return replace(self, terms=self.terms[statistics], total=self.total[statistics])

    def exponent(self, law: Floats, other: Floats, variance: float) -> float:
        """Return the sum of the Bhattacharyya exponents of all residuals, times their concentration.

        Args:
            law: the noise distribution on -E .. E.
            other: the distribution to compare with.
            variance: V, the variance of both.
        """
        found = 0.0
        for number, leverages in zip(*(each.sum(axis=0).tolist() for each in (self.terms, self.total)), strict=True):
            if number and leverages < ALONE * number:
                leverage = leverages / number
                found += number * bhattacharyya(law, other, variance * leverage / (1 - leverage))
        return self.concentration * found


def joined(parts: Sequence[Leverages]) -> Leverages:
    """Return the leverages of several populations combined, with their statistics in order of population."""
    terms, total = (np.concatenate([getattr(each, name) for each in parts]) for name in ("terms", "total"))
    weights = [_fourth_powers(each.total / np.maximum(each.terms, 1), each.terms) for each in parts]
    shared = np.average([each.concentration for each in parts], weights=np.maximum(weights, TINY))
    return Leverages(terms, total, any(each.surrogate for each in parts), float(shared))


@dataclass(frozen=True, eq=False)
class Residuals:
    """Leave-one-out residuals, one per unknown.

    Attributes:
        values: the residuals e.
        estimate: the estimate of each true count from all other published counts.
        leverage: the leverage of each unknown.
        variance: V h / (1 - h), the variance of the error of each residual and of each estimate.
    """

    values: Floats
    estimate: Floats
    leverage: Floats
    variance: Floats

    def large(self, smallest: int) -> Flags:
        """Return which true counts are certainly at least `smallest`, independently of their own noise."""
        return (self.leverage < ALONE) & (self.estimate - CERTAINLY * np.sqrt(self.variance) >= smallest)


def residuals_of(equations: Equations, published: Floats, leverage: Floats, variance: float) -> Residuals:
    """Return the leave-one-out residuals of published counts.

    Args:
        equations: the equations between all published cells.
        published: the value of every cell.
        leverage: the leverage of the unknown of every cell.
        variance: V.
    """
    first = first_cells(equations)
    fitted = equations.project(published, tolerance=TOLERANCE).values[first]
    own = np.minimum(leverage[first], ALONE)
    values = (published[first] - fitted) / (1 - own)
    return Residuals(values, published[first] - values, leverage[first], variance * own / (1 - own))


def success_of(exponent: float) -> float:
    """Return Phi(sqrt(2 B)), the probability that a test of two noise distributions is right.

    >>> success_of(0.0), round(success_of(0.5), 4)
    (0.5, 0.8413)
    """
    return (1 + math.erf(math.sqrt(exponent))) / 2


def probed_leverages(equations: Equations, statistic: Ints, progress: Progress | None = None) -> Leverages:
    """Return the leverages of all noise terms, estimated with random probes of the equations.

    Args:
        equations: the equations between all published cells.
        statistic: the number of the statistic of every cell.
        progress: a callback with the stage, the completed probes and their number.
    """
    leverage = steady_leverages(equations, statistic, progress=progress)
    found = histogram(statistic, leverage, equations, first_cells(equations))
    return replace(found, concentration=concentration(equations, leverage, progress))


def concentration(equations: Equations, leverage: Floats, progress: Progress | None = None) -> float:
    """Return S, the sum of M_ij^4 over all pairs of noise terms divided by the sum over i = j, with random probes.

    With random signs a, b, c and their products d, the expected product of the residuals of a, b, c and d at a noise
    term is the sum of M_ij^4 over j.

    Args:
        equations: the equations between all published cells.
        leverage: the leverage of the unknown of every cell.
        progress: a callback with the stage, the completed rounds and their number.
    """
    first, random = first_cells(equations), np.random.default_rng(SEED)
    numbers = _noise_terms(equations, first)
    own = np.repeat(np.arange(len(first)), numbers.astype(np.int64))
    single = _fourth_powers(leverage[first] / numbers, numbers)
    if single < TINY:
        return 1.0
    place = np.zeros(int(equations.unknowns.max()) + 1, dtype=np.int64)
    place[equations.unknowns[first]] = np.arange(len(first))
    shown = equations.spread > 0
    rounds = min(max(math.ceil(PRECISION / single), 1), MOST_ROUNDS)
    total = 0.0
    for _ in reported(range(rounds), "residuals", progress):
        signs = random.choice([-1.0, 1.0], size=(3, len(own)))
        product = np.ones(len(own))
        for probe in (*signs, signs.prod(axis=0)):
            mean = np.bincount(own, probe) / numbers
            fitted = equations.project(np.where(shown, mean[place[equations.unknowns]], 0.0), tolerance=ROUGH)
            product *= probe - fitted.values[first][own]
        total += float(product.sum())
    return max(total / (rounds * single), 1.0)


def _fourth_powers(leverage: Floats, terms: Floats) -> float:
    """Return the sum of (1 - h)^4 over noise terms."""
    return float((terms * (1 - np.minimum(leverage, 1)) ** 4).sum())


def closed_form_leverages(lattice: Lattice, *, spsn: bool) -> Leverages:
    """Return the leverages of a population with equal blocks, by the closed form.

    Args:
        lattice: the statistics of the population.
        spsn: whether cells with the same participants have the same noise; if not, every table has its own.
    """
    times = (lattice.published if spsn else lattice.tables).astype(float)
    shown = lattice.published
    ratio = np.clip(best_ratios(lattice, times)[shown], 0, 1)
    number = times[shown] * lattice.cells[shown]
    return replace(_by_statistic(np.arange(int(shown.sum())), ratio, number, int(shown.sum())), surrogate=True)


def first_cells(equations: Equations) -> Ints:
    """Return the first cell of every unknown with noise."""
    first: Ints = np.unique(equations.unknowns, return_index=True)[1]
    return first[equations.spread[first] > 0]


def histogram(statistic: Ints, leverage: Floats, equations: Equations, cells: Ints) -> Leverages:
    """Return the histogram of leverages of the noise terms of some cells.

    Args:
        statistic: the number of the statistic of every cell.
        leverage: the leverage of the unknown of every cell.
        equations: the equations between all cells, which give the number of noise terms of a cell.
        cells: the selected cells.
    """
    numbers = _noise_terms(equations, cells)
    return _by_statistic(statistic[cells], leverage[cells] / numbers, numbers, int(statistic.max()) + 1)


def _noise_terms(equations: Equations, cells: Ints) -> Floats:
    """Return the number of noise terms of some cells."""
    together = np.bincount(equations.unknowns)[equations.unknowns]
    found: Floats = np.round(together[cells] / equations.spread[cells] ** 2)
    return found


def binned(leverage: Floats, shared: float = 1.0) -> Leverages:
    """Return a histogram of leverages, with one noise term each in a single statistic, and their concentration."""
    found = _by_statistic(np.zeros(len(leverage), dtype=np.int64), leverage, np.ones(len(leverage)), 1)
    return replace(found, concentration=shared)


def _by_statistic(statistic: Ints, leverage: Floats, numbers: Floats, statistics: int) -> Leverages:
    place = statistic * BINS + np.minimum(leverage * BINS, BINS - 1).astype(np.int64)
    terms, total = (
        np.bincount(place, weights, statistics * BINS).astype(np.float64).reshape(statistics, BINS)
        for weights in (numbers, numbers * leverage)
    )
    return Leverages(terms, total)


def steady_leverages(
    equations: Equations, group: Ints, *, probes: int | None = None, progress: Progress | None = None
) -> Floats:
    """Return the leverage of the unknown of every cell, with smaller random errors than single estimates.

    Cells of one group whose unknowns have the same number of cells are shrunk towards their mean. Their remaining
    variance is that beyond the error of the probes, which has variance 2 h^2 (1 - h^2) / probes.

    Args:
        equations: the equations between all published cells.
        group: the number of the statistic of every cell.
        probes: the number of probes; by default it depends on the number of cells.
        progress: a callback with the stage, the completed probes and their number.
    """
    probes = probes or min(max(WORK // equations.cells, FEWEST), MOST)
    found = probe_leverages(equations, np.random.default_rng(SEED), probes=probes, progress=progress)
    together = np.bincount(equations.unknowns)[equations.unknowns]
    alike = np.unique(group * (int(together.max()) + 1) + together, return_inverse=True)[1]
    cells = np.bincount(alike)
    mean = np.bincount(alike, found) / cells
    spread = np.bincount(alike, (found - mean[alike]) ** 2) / np.maximum(cells - 1, 1)
    error = 2 * mean**2 * np.maximum(1 - mean**2, 0) / probes
    kept = np.sqrt(np.divide(spread - error, spread, out=np.zeros_like(spread), where=spread > error))
    return np.clip(mean[alike] + kept[alike] * (found - mean[alike]), 0, 1)
