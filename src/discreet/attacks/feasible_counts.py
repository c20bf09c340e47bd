"""Feasible counts: the smallest and the largest true count that published values and all sums allow.

A published y allows the true counts n with p(n -> y) > 0. With a bound E they lie in max(0, y - E) .. y + E; if zeros
have no noise, y != 0 implies n >= 1. A parent is the sum of its children. For a parent T and children c the limits

    lo(T) >= sum lo(c)      lo(c) >= lo(T) - sum of hi over the other children
    hi(T) <= sum hi(c)      hi(c) <= hi(T) - sum of lo over the other children

pass through all equations until nothing changes, at most 50 times. One pass exhausts a single equation. In a forced
tuple all noise terms are at the bound (Bach 2020, "Exploiting margins"): the sums meet. With noise by participants,
and none on empty cells, a part published differently from its parent implies n(T) >= n(c) + 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attacker_view import AssumedNoise, PopulationCounts
    from discreet.equations.least_squares import Link

UNBOUNDED = 2**40
"""Upper limit of unbounded intervals: larger than any count, and its sums are exact."""
SWEEPS = 50
"""Maximum number of passes through all equations; a few suffice, unless the assumed sharing of noise is wrong."""
ROUNDING = 1e-6
"""Maximum rounding error of a mean over tables."""


@dataclass(frozen=True, eq=False)
class FeasibleCounts:
    """The interval of feasible counts of every cell.

    Attributes:
        low: the smallest feasible count, by cell.
        high: the largest feasible count, by cell.
        consistent: whether every cell has a feasible count; if not, the assumed noise distribution is wrong.
    """

    low: Ints
    high: Ints
    consistent: bool = True

    @property
    def certain(self) -> Flags:
        """Return which cells have only one feasible count."""
        found: Flags = self.low == self.high
        return found


def allowed(published: Floats, noise: AssumedNoise) -> FeasibleCounts:
    """Return the counts that are feasible given only the published value of the cell itself."""
    if noise.shared == "nothing" or not np.isfinite(noise.bound):
        return _within(published, noise)
    seen = np.rint(published).astype(np.int64)
    # The distributions of large counts repeat: the feasible counts of a value depend only on its remainder.
    top = len(noise.laws) + 2 * noise.reach
    kind = np.where(seen <= top, seen, top + 1 + (seen - top - 1) % noise.repeat)
    values, place = np.unique(kind, return_inverse=True)
    away = np.arange(-noise.reach, noise.reach + 1)
    possible = noise.chance(values[:, None] + away, values[:, None]) > 0
    # A value that no count can produce is contradictory: its lower limit exceeds its upper limit.
    least = np.where(possible, away, noise.reach + 1).min(axis=1)
    largest = np.where(possible, away, -noise.reach - 1).max(axis=1)
    return _checked(seen + least[place.ravel()], seen + largest[place.ravel()])


def _within(published: Floats, noise: AssumedNoise) -> FeasibleCounts:
    """Return the counts within the bound, which also applies to a mean over tables."""
    low = np.zeros(len(published), dtype=np.int64)
    high = np.full(len(published), UNBOUNDED)
    if np.isfinite(noise.bound):
        low = np.maximum(np.ceil(published - noise.reach - ROUNDING), 0).astype(np.int64)
        high = np.floor(published + noise.reach + ROUNDING).astype(np.int64)
    if not noise.zeros_are_noisy:
        low = np.maximum(low, published != 0)
    return _checked(low, high)


def _checked(low: Ints, high: Ints) -> FeasibleCounts:
    return FeasibleCounts(low, high, consistent=bool((low <= high).all()))


def intervals(view: PopulationCounts, noise: AssumedNoise, known: Mapping[str, Floats]) -> FeasibleCounts:
    """Return the feasible counts given all published values, all sums and public counts.

    Args:
        view: the published counts of a population.
        noise: the noise distribution.
        known: public true counts of whole statistics, by name.
    """
    start = allowed(view.published, noise)
    low, high = start.low, start.high
    equations = view.layout.equations
    for name, counts in known.items():
        cells = equations.cells_of(view.layout.lattice.position(name))
        low[cells] = high[cells] = np.rint(counts).astype(np.int64)
    if not start.consistent:
        return start
    # Noisy empty cells draw noise by coordinates: equal participants then do not imply equal noise.
    by_persons = noise.shared == "participants" and not noise.zeros_are_noisy
    return propagated(low, high, equations.links, view.published if by_persons else None)


def propagated(low: Ints, high: Ints, links: list[Link], shown: Floats | None = None) -> FeasibleCounts:
    """Return the intervals after propagation through all equations until nothing changes; modify them in place.

    Args:
        low: the smallest feasible count of every cell.
        high: the largest feasible count.
        links: the equations.
        shown: the published values, if cells with the same persons have equal published values; otherwise None.
    """
    with_statistic: dict[int, list[int]] = {}
    for number, link in enumerate(links):
        for start in (link.fine, link.coarse):
            with_statistic.setdefault(start, []).append(number)
    open_links, order = set(range(len(links))), list(range(len(links)))
    for _ in range(SWEEPS):
        # Alternate directions: a change at one end then reaches the other in one pass.
        order.reverse()
        for number in [each for each in order if each in open_links]:
            link = links[number]
            open_links.discard(number)
            for start in _tighten(link, low, high, shown):
                open_links.update(with_statistic[start])
            if not _fits(link, low, high):
                return FeasibleCounts(low, high, consistent=False)
    return FeasibleCounts(low, high)


def _tighten(link: Link, low: Ints, high: Ints, shown: Floats | None) -> list[int]:
    """Tighten the intervals of one link; return the first cells of the statistics that changed."""
    parent, children = link.parent, slice(link.fine, link.fine + len(link.parent))
    parents = slice(link.coarse, link.coarse + link.size)
    low_below, high_below = low[children], high[children]
    low_sum, high_sum = _sums(link, low_below), _sums(link, high_below)
    low_above = np.maximum(low[parents], low_sum)
    high_above = np.minimum(high[parents], high_sum)
    most = high_above[parent]
    if shown is not None:
        apart = shown[children] != shown[parents][parent]
        # Unequal values imply a person in another child; this adds information if all others might be empty.
        alone = apart & (low_sum[parent] == low_below)
        low_above = np.maximum(low_above, low_sum + (np.bincount(parent[alone], minlength=link.size) > 0))
    new_low = np.maximum(low_below, low_above[parent] - (high_sum[parent] - high_below))
    new_high = np.minimum(high_below, most - (low_sum[parent] - low_below))
    if shown is not None:
        new_high = np.minimum(new_high, most - apart)
    coarse = bool((low_above != low[parents]).any() or (high_above != high[parents]).any())
    fine = bool((new_low != low_below).any() or (new_high != high_below).any())
    low[parents], high[parents], low[children], high[children] = low_above, high_above, new_low, new_high
    return [start for start, new in ((link.fine, fine), (link.coarse, coarse)) if new]


def _sums(link: Link, values: Ints) -> Ints:
    return np.bincount(link.parent, values, link.size).astype(np.int64)


def _fits(link: Link, low: Ints, high: Ints) -> bool:
    """Return whether every cell of a link still has a feasible count."""
    return all(
        bool((low[start : start + size] <= high[start : start + size]).all())
        for start, size in ((link.fine, len(link.parent)), (link.coarse, link.size))
    )


@dataclass(frozen=True)
class ForcedTuples:
    """Forced tuples of large counts: all noise terms are at the bound, which discloses the true counts.

    Attributes:
        found: the number of forced tuples.
        tuples: the number of tuples whose published parts are all above the bound.
        expected: the expected number of forced tuples among these, 2 p_E^(c + 1) for each.
    """

    found: int
    tuples: int
    expected: float


def forced_tuples(view: PopulationCounts, noise: AssumedNoise) -> ForcedTuples:
    """Return the tuples whose gap, sum of parts - total, is (c + 1) E or - (c + 1) E."""
    layout = view.layout
    if not np.isfinite(noise.bound) or noise.bound == 0:
        return ForcedTuples(0, 0, 0.0)
    bound, large = int(noise.bound), np.mean(noise.laws[-noise.repeat :], axis=0)
    least, most = large[noise.reach - bound], large[noise.reach + bound]
    tables = layout.equations.noise_term_counts[layout.equations.statistics]
    found, tuples, expected = 0, 0, 0.0
    for link in layout.equations.links:
        below = view.published[link.fine : link.fine + len(link.parent)]
        above = view.published[link.coarse : link.coarse + link.size]
        children = link.children
        # A single child equals its parent. The true counts of forced tuples are known.
        proper = children > (1 if layout.spsn else 0)
        gap = np.bincount(link.parent, below, link.size) - above
        up = np.sign(gap).astype(np.int64) * bound
        forced = proper & (np.abs(np.abs(gap) - (children + 1) * bound) < ROUNDING)
        small = np.bincount(link.parent, below - up[link.parent] <= bound, link.size) > 0
        found += int((forced & ~small).sum())
        seen = proper & (np.bincount(link.parent, below <= bound, link.size) == 0)
        tuples += int(seen.sum())
        parts = children[seen] * tables[layout.statistic_of[link.fine]]
        whole = tables[layout.statistic_of[link.coarse]]
        expected += float((most**parts * least**whole + least**parts * most**whole).sum())
    return ForcedTuples(found, tuples, expected)
