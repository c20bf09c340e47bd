"""Residuals of least squares: what every published count that fits into equations reveals of its own noise.

With the leverage h of a noise term, the leave-one-out residual of its published count y,

    e = (y - x) / (1 - h),   x the projection of all published counts,

is the noise of y plus an error of variance V h / (1 - h) that the noise of all other counts makes. The noise of y is
independent of y - e, the estimate of its count from all others. An attacker who compares two bounds of the noise adds
up the log-likelihood ratios of all residuals. With B the sum of their Bhattacharyya exponents the attacker is right
with probability about

    Phi(sqrt(2 B)).

This is exact for a Gaussian sum with one variance under both bounds, for which B is one eighth of the squared distance
of its means in standard deviations. The error of a residual is a sum of noises with the same bound, not Gaussian.
Residuals that share noises depend on each other. Two noise distributions of one variance differ first in their fourth
cumulants. With M = I - H, H the projection of the noise terms, the errors multiply the difference of the fourth
cumulants of a residual by sum_j (M_ij / M_ii)^4. The variance of the sum of all log-likelihood ratios grows by as much,
because fourth powers of two residuals covary by their correlation to the fourth. So B becomes B S, with concentration

    S = sum_ij M_ij^4 / sum_i M_ii^4 >= 1.

It remains a prediction and not a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.closed_form import best_ratios
from discreet.equations.leverage import probe_leverages
from discreet.noise.rival_noise import bhattacharyya

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Flags, Floats, Ints
    from discreet.equations.leverage import Equations
    from discreet.programme.lattice import Lattice

WORK = 6 * 10**6
"""Cells times probes; more probes change the exponents of a programme by 3 % at most (measured on Luxembourg)."""
FEWEST, MOST = 4, 20
"""Probes of a large and of a small programme."""
TINY = 1e-12
SEED = 15
"""Of the probes, so that the same programme always has the same figures."""
BINS = 100
"""Of the histogram of leverages, equally wide."""
PRECISION, MOST_ROUNDS = 2500, 100
"""Of the concentration, whose standard error is 1 / sqrt(rounds sum_i M_ii^4): 0.02, with rounds of four probes."""
ROUGH = 1e-2
"""How close these probes must come to fitting the equations, relatively."""
TOLERANCE = 1e-5
"""How close the projection must come to fitting the equations, relatively."""
CERTAINLY = 3.0
"""Standard deviations by which an estimate exceeds the smallest large count."""
ALONE = 0.999
"""Leverage from which on no other count says anything about a noise."""


@dataclass(frozen=True, eq=False)
class Leverages:
    """How many noise terms have which leverage, by statistic.

    Attributes:
        terms: by published statistic and bin, how many independent noise terms; a noise that several cells show counts
            once, in the first statistic.
        total: the sum of their leverages.
        surrogate: whether they are those of the closed form for levels that divide evenly.
        concentration: S, by how much more all residuals reveal together than one by one.
    """

    terms: Floats
    total: Floats
    surrogate: bool = False
    concentration: float = 1.0

    @property
    def number(self) -> int:
        """Return how many noise terms there are."""
        return round(float(self.terms.sum()))

    def restricted(self, statistics: Flags) -> Leverages:
        """Return the leverages of some statistics; where the others are not published, they are no smaller."""
        return replace(self, terms=self.terms[statistics], total=self.total[statistics])

    def exponent(self, law: Floats, other: Floats, variance: float) -> float:
        """Return the sum of the Bhattacharyya exponents of all residuals, times their concentration.

        Args:
            law: the noise distribution on -E .. E.
            other: the one that it is compared with.
            variance: V, of both.
        """
        found = 0.0
        for number, leverages in zip(*(each.sum(axis=0).tolist() for each in (self.terms, self.total)), strict=True):
            if number and leverages < ALONE * number:
                leverage = leverages / number
                found += number * bhattacharyya(law, other, variance * leverage / (1 - leverage))
        return self.concentration * found


def joined(parts: Sequence[Leverages]) -> Leverages:
    """Return the leverages of several populations as one, the statistics of each after those of the one before."""
    terms, total = (np.concatenate([getattr(each, name) for each in parts]) for name in ("terms", "total"))
    weights = [_fourth_powers(each.total / np.maximum(each.terms, 1), each.terms) for each in parts]
    shared = np.average([each.concentration for each in parts], weights=np.maximum(weights, TINY))
    return Leverages(terms, total, any(each.surrogate for each in parts), float(shared))


@dataclass(frozen=True, eq=False)
class Residuals:
    """Leave-one-out residuals, one per unknown.

    Attributes:
        values: the residuals e.
        estimate: of each true count, from all other published counts.
        leverage: of each unknown.
        variance: V h / (1 - h), of the error of each residual and of each estimate.
    """

    values: Floats
    estimate: Floats
    leverage: Floats
    variance: Floats

    def large(self, smallest: int) -> Flags:
        """Return which true counts are certainly not smaller; their own noise has no part in the choice."""
        return (self.leverage < ALONE) & (self.estimate - CERTAINLY * np.sqrt(self.variance) >= smallest)


def residuals_of(equations: Equations, published: Floats, leverage: Floats, variance: float) -> Residuals:
    """Return the leave-one-out residuals of published counts.

    Args:
        equations: the equations between all published cells.
        published: the value of every cell.
        leverage: of every cell's unknown.
        variance: V.
    """
    first = first_cells(equations)
    fitted = equations.project(published, tolerance=TOLERANCE).values[first]
    own = np.minimum(leverage[first], ALONE)
    values = (published[first] - fitted) / (1 - own)
    return Residuals(values, published[first] - values, leverage[first], variance * own / (1 - own))


def success_of(exponent: float) -> float:
    """Return Phi(sqrt(2 B)), how often a comparison of two noise distributions is right.

    >>> success_of(0.0), round(success_of(0.5), 4)
    (0.5, 0.8413)
    """
    return (1 + math.erf(math.sqrt(exponent))) / 2


def probed_leverages(equations: Equations, statistic: Ints) -> Leverages:
    """Return the leverages of all noise terms, with random probes of the equations.

    Args:
        equations: the equations between all published cells.
        statistic: for every cell the number of its statistic.
    """
    leverage = steady_leverages(equations, statistic)
    found = histogram(statistic, leverage, equations, first_cells(equations))
    return replace(found, concentration=concentration(equations, leverage))


def concentration(equations: Equations, leverage: Floats) -> float:
    """Return S, the sum of M_ij^4 over all pairs of noise terms by that over i = j, with random probes.

    With random signs a, b, c and their products d the expected product of the residuals of a, b, c and d at a noise
    term is the sum of M_ij^4 over j.

    Args:
        equations: the equations between all published cells.
        leverage: of every cell's unknown.
    """
    first, random = first_cells(equations), np.random.default_rng(SEED)
    noises = _noises(equations, first)
    own = np.repeat(np.arange(len(first)), noises.astype(np.int64))
    single = _fourth_powers(leverage[first] / noises, noises)
    if single < TINY:
        return 1.0
    place = np.zeros(int(equations.unknowns.max()) + 1, dtype=np.int64)
    place[equations.unknowns[first]] = np.arange(len(first))
    shown = equations.spread > 0
    rounds = min(max(math.ceil(PRECISION / single), 1), MOST_ROUNDS)
    total = 0.0
    for _ in range(rounds):
        signs = random.choice([-1.0, 1.0], size=(3, len(own)))
        product = np.ones(len(own))
        for probe in (*signs, signs.prod(axis=0)):
            mean = np.bincount(own, probe) / noises
            fitted = equations.project(np.where(shown, mean[place[equations.unknowns]], 0.0), tolerance=ROUGH)
            product *= probe - fitted.values[first][own]
        total += float(product.sum())
    return max(total / (rounds * single), 1.0)


def _fourth_powers(leverage: Floats, terms: Floats) -> float:
    """Return the sum of (1 - h)^4 over noise terms."""
    return float((terms * (1 - np.minimum(leverage, 1)) ** 4).sum())


def closed_form_leverages(lattice: Lattice, *, spsn: bool) -> Leverages:
    """Return the leverages of a population whose levels divide evenly.

    Args:
        lattice: the statistics of the population.
        spsn: whether the same participants have the same noise; if not, every table has its own.
    """
    times = (lattice.published if spsn else lattice.tables).astype(float)
    shown = lattice.published
    ratio = np.clip(best_ratios(lattice, times)[shown], 0, 1)
    number = times[shown] * lattice.cells[shown]
    return replace(_by_statistic(np.arange(int(shown.sum())), ratio, number, int(shown.sum())), surrogate=True)


def first_cells(equations: Equations) -> Ints:
    """Return the first cell of every unknown that has noise."""
    first: Ints = np.unique(equations.unknowns, return_index=True)[1]
    return first[equations.spread[first] > 0]


def histogram(statistic: Ints, leverage: Floats, equations: Equations, cells: Ints) -> Leverages:
    """Return how many noise terms of some cells have which leverage.

    Args:
        statistic: for every cell the number of its statistic.
        leverage: of every cell's unknown.
        equations: the equations between all cells, which give how many noise terms a cell shows.
        cells: those that count.
    """
    noises = _noises(equations, cells)
    return _by_statistic(statistic[cells], leverage[cells] / noises, noises, int(statistic.max()) + 1)


def _noises(equations: Equations, cells: Ints) -> Floats:
    """Return how many noise terms some cells show."""
    together = np.bincount(equations.unknowns)[equations.unknowns]
    found: Floats = np.round(together[cells] / equations.spread[cells] ** 2)
    return found


def binned(leverage: Floats, shared: float = 1.0) -> Leverages:
    """Return the leverages of one noise term each, as if of one statistic, with their concentration."""
    found = _by_statistic(np.zeros(len(leverage), dtype=np.int64), leverage, np.ones(len(leverage)), 1)
    return replace(found, concentration=shared)


def _by_statistic(statistic: Ints, leverage: Floats, noises: Floats, statistics: int) -> Leverages:
    place = statistic * BINS + np.minimum(leverage * BINS, BINS - 1).astype(np.int64)
    terms, total = (
        np.bincount(place, weights, statistics * BINS).astype(np.float64).reshape(statistics, BINS)
        for weights in (noises, noises * leverage)
    )
    return Leverages(terms, total)


def steady_leverages(equations: Equations, group: Ints, *, probes: int | None = None) -> Floats:
    """Return the leverage of every cell's unknown, with less random error than single cells have.

    Cells of one group and equally many cells in one unknown are drawn towards their mean until they differ as much as
    they do beyond the error of the probes, whose variance is 2 h^2 (1 - h^2) / probes.

    Args:
        equations: the equations between all published cells.
        group: for every cell the number of its statistic.
        probes: how many, by the number of cells if left out.
    """
    probes = probes or min(max(WORK // equations.cells, FEWEST), MOST)
    found = probe_leverages(equations, np.random.default_rng(SEED), probes=probes)
    together = np.bincount(equations.unknowns)[equations.unknowns]
    alike = np.unique(group * (int(together.max()) + 1) + together, return_inverse=True)[1]
    cells = np.bincount(alike)
    mean = np.bincount(alike, found) / cells
    spread = np.bincount(alike, (found - mean[alike]) ** 2) / np.maximum(cells - 1, 1)
    error = 2 * mean**2 * np.maximum(1 - mean**2, 0) / probes
    kept = np.sqrt(np.divide(spread - error, spread, out=np.zeros_like(spread), where=spread > error))
    return np.clip(mean[alike] + kept[alike] * (found - mean[alike]), 0, 1)
