"""Massive averaging: how precisely an attacker who combines all published tables knows each statistic.

For every statistic a, its independent redundant representations (IRRs) are the published statistics that refine it; the
one with N_s cells sums k = N_s / N_a noise terms per cell. There are four attackers, each described
by the ratio of the variance of the estimate to the variance V of one noise term:

- plain: the mean of all t IRRs, k / t^2 with k the sum of their sizes (the paper's equation);
- greedy: the paper's improvement, IRRs in increasing size while k / t^2 decreases;
- inverse variance: 1 / sum(1 / k_i), never worse than any mean (Cauchy-Schwarz);
- optimal: the best linear unbiased estimate from all published cells, in the closed form of `equations.closed_form`.

Without SPSN a statistic counts once per table that publishes it (m_s). The paper's two attackers count the statistic
itself once, as the paper's figures imply.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.closed_form import best_ratios, precision
from discreet.verdicts import ONE_SIGMA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Floats, Ints
    from discreet.programme.lattice import Lattice

CHUNK = 1 << 24
"""The number of pairs of statistics compared at a time."""


@dataclass(frozen=True, eq=False)
class Averaging:
    """The ratios of every published statistic, in the order of the lattice."""

    names: list[str]
    t: Ints
    k: Floats
    plain: Floats
    greedy: Floats
    inverse_variance: Floats
    optimal: Floats


def averaging_of(lattices: Mapping[str, Lattice], *, spsn: bool = True, known: str | None = None) -> Averaging:
    """Return the averaging ratios of every statistic, separately for each population.

    Args:
        lattices: the statistics by population.
        spsn: whether a statistic has the same noise in all tables.
        known: a statistic whose true counts the attacker knows in every population that publishes it.
    """
    parts = [averaging(each, spsn=spsn, known=_where_published(each, known)) for each in lattices.values()]
    if len(parts) == 1:
        return parts[0]
    names = [f"{name} of {of}" for of, part in zip(lattices, parts, strict=True) for name in part.names]
    columns = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Averaging)[1:])
    return Averaging(names, *columns)


def _where_published(lattice: Lattice, known: str | None) -> str | None:
    return known if known is not None and lattice.publishes(known) else None


def averaging(lattice: Lattice, *, spsn: bool = True, known: str | None = None) -> Averaging:
    """Return the averaging ratios of every published statistic.

    Args:
        lattice: the statistics of a programme.
        spsn: whether a statistic has the same noise in all tables.
        known: a statistic whose true counts the attacker knows, e.g. the total.
    """
    published = lattice.published
    times = (published if spsn else lattice.tables).astype(float)
    t = lattice.over_finer(times) - (times - 1)
    k = lattice.over_finer(times * lattice.cells) / lattice.cells - (times - 1)
    greedy = _greedy(lattice, times)
    names = [name for name, shown in zip(lattice.names(), published, strict=True) if shown]
    return Averaging(
        names,
        t[published].astype(np.int64),
        k[published],
        (k / t**2)[published],
        greedy,
        (1 / (lattice.cells * precision(lattice, times)))[published],
        best_ratios(lattice, times, known)[published],
    )


def _greedy(lattice: Lattice, times: Floats) -> Floats:
    """Return the paper's greedy k / t^2 of every published statistic.

    Statistics are sorted by number of cells once: the IRRs of every statistic are then
    in increasing order of size.
    """
    order = np.flatnonzero(lattice.published)
    order = order[np.argsort(lattice.cells[order], kind="stable")]
    signs, cells, multiple = lattice.signs[:, order], lattice.cells[order], times[order].astype(np.int64)
    ratio = np.empty(len(order))
    size = max(CHUNK // max(len(order), 1), 1)
    for start in range(0, len(order), size):
        part = slice(start, start + size)
        lacking = np.zeros((signs[:, part].shape[1], len(order)), dtype=bool)
        for word in signs:
            lacking |= (word[part, None] & ~word[None, :]) != 0
        for row, missing in enumerate(lacking, start=start):
            finer = np.flatnonzero(~missing)
            ratio[row] = _first_low(cells[finer] / cells[row], np.where(finer == row, 1, multiple[finer]))
    found = np.empty(len(lattice))
    found[order] = ratio
    return found[lattice.published]


def smallest_greedy(lattice: Lattice) -> tuple[float, int]:
    """Return the smallest greedy k / t^2 of all statistics with consistent noise, and the position of that statistic.

    No mean is better than inverse-variance weights. Statistics are examined in increasing order of this lower bound
    until it exceeds the smallest greedy ratio so far.
    """
    order = np.flatnonzero(lattice.published)
    order = order[np.argsort(lattice.cells[order], kind="stable")]
    signs, cells = lattice.signs[:, order], lattice.cells[order]
    limit = 1 / (cells * precision(lattice, lattice.published.astype(float))[order])
    best, place = math.inf, -1
    for row in np.argsort(limit, kind="stable").tolist():
        if limit[row] >= best:
            break
        finer = np.flatnonzero(~(signs[:, row, None] & ~signs).any(axis=0))
        ratio = _first_low(cells[finer] / cells[row], np.ones(len(finer), dtype=np.int64))
        if ratio < best:
            best, place = ratio, int(order[row])
    return best, place


def _first_low(sizes: Floats, times: Ints) -> float:
    """Return the last k / t^2 before it first increases, adding IRRs in increasing size; ties continue."""
    sizes = np.repeat(sizes, times)
    ratio = np.cumsum(sizes) / np.arange(1, len(sizes) + 1) ** 2
    rises = ratio[1:] > ratio[:-1] * (1 + 1e-12)
    first = int(rises.argmax()) if len(rises) else 0
    return float(ratio[first] if len(rises) and rises[first] else ratio[-1])


@dataclass(frozen=True)
class Representation:
    """One representation of a statistic: the finer statistic, its terms per count, and its number of tables."""

    statistic: str
    terms: float
    tables: int


def representations(lattice: Lattice, name: str, *, spsn: bool = True) -> list[Representation]:
    """Return the independent redundant representations of a statistic, including itself, by number of terms."""
    place = lattice.position(name)
    finer = np.flatnonzero((lattice.depths >= lattice.depths[place]).all(axis=1) & lattice.published)
    finer = finer[np.argsort(lattice.cells[finer], kind="stable")]
    names = lattice.names()
    return [
        Representation(names[s], float(lattice.cells[s] / lattice.cells[place]), 1 if spsn else int(lattice.tables[s]))
        for s in finer.tolist()
    ]


def chebyshev(variance: float, ratio: float) -> float:
    """Return Chebyshev's lower bound of the success, 1 - V ratio / (1/2)^2, for any noise distribution."""
    return max(1 - variance * ratio / 0.25, 0.0)


def variance_needed(ratio: float, confidence: float = ONE_SIGMA) -> float:
    """Return the variance at which the success equals the confidence: V = 1 / (4 z^2 ratio).

    >>> round(variance_needed(0.0867), 2)
    2.88
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    return 0.25 / (z**2 * ratio)


def epsilon_allowed(ratio: float, confidence: float = ONE_SIGMA) -> float:
    """Return the epsilon of Laplace noise with the variance `variance_needed`, sqrt(2 / V).

    >>> round(epsilon_allowed(0.0118), 3)
    0.307
    """
    return math.sqrt(2 / variance_needed(ratio, confidence))
