"""The measures that use additive tuples: parts and their total, published side by side.

How many tuples a programme offers is counted as the paper counts sex breakdowns: the
cells of every published statistic by a level of c categories next to the total, divided by
c. Tuples within deeper levels are not counted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.rival_noise import rival
from discreet.risk.bound import bound_disclosure
from discreet.risk.margins import forced_tuples
from discreet.risk.registry import measure
from discreet.risk.tuple_patterns import pattern_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.programme.lattice import Lattice
    from discreet.results import Result
    from discreet.risk.case import Case

MOST_CATEGORIES = 4
"""Levels with more categories are not looked at: each set of theirs reveals a bound rarely."""
WIDEST_ENUMERATED = 100
"""The largest bound for which patterns are enumerated."""
SMALL = 6
"""Published counts up to this are tried in every pattern of two parts and their total."""
RARE = 1e-6
"""Patterns less likely than this are not reported as the worst."""


def tuples_by_size(lattice: Lattice, *, spsn: bool) -> dict[int, tuple[str, int]]:
    """Return, by the number of categories, the first level that offers most independent tuples, and how many."""
    found: dict[int, tuple[str, int]] = {}
    for size, level, tuples in _offered(lattice, spsn=spsn):
        if tuples > found.get(size, ("", 0))[1]:
            found[size] = (level, tuples)
    return dict(sorted(found.items()))


def _offered(lattice: Lattice, *, spsn: bool) -> Iterator[tuple[int, str, int]]:
    """Give for every level of few categories next to the total its size, its name and its tuples.

    A tuple is a published cell together with its parts along one axis: every cell of a
    statistic at the axis' first level, grouped by the rest, whose total is published too.
    """
    times = np.where(lattice.published, 1 if spsn else lattice.tables, 0)
    for number, axis in enumerate(lattice.axes):
        size = axis.sizes[0]
        if 2 <= size <= MOST_CATEGORIES:
            parts = lattice.published & (lattice.depths[:, number] == 1)
            whole = lattice.coarser(number)
            parts &= (whole >= 0) & lattice.published[whole]
            yield size, axis.levels[0], int((times * lattice.cells)[parts].sum() / size)


@measure("bound")
def bound(case: Case) -> list[Result]:
    """Return how surely residuals reveal the bound, a limit where counts are known, and the paper's extreme gap."""
    law = case.record.noise()
    # A rule without random noise has no bound to reveal: anyone may know it.
    if not math.isfinite(law.bound) or case.record.is_deterministic:
        return []
    results = []
    noise = case.record.ptable() if case.record.has_ptable else law
    if wider := rival(noise, int(law.bound) + 1):
        results += case.noise_terms.results(law, wider, case.confidence)
    offered = tuples_by_size(case.lattice, spsn=case.record.spsn)
    largest = [
        bound_disclosure(law, tuples=n, categories=c, confidence=case.confidence) for c, (_, n) in offered.items()
    ]
    if largest:
        results.append(max(largest, key=lambda found: found.reached).result())
    return results


@measure("margins")
def margins(case: Case) -> list[Result]:
    """Return how many tuples are forced, and what small published patterns tell about true 1s."""
    law = case.record.noise()
    offered = tuples_by_size(case.lattice, spsn=case.record.spsn)
    if not math.isfinite(law.bound) or not offered:
        return []
    categories, (_, tuples) = next(iter(offered.items()))
    results = []
    if not case.record.is_deterministic:
        results = [forced_tuples(law, tuples=tuples, categories=categories).result()]
    if case.record.has_ptable and law.bound <= WIDEST_ENUMERATED:
        shared = case.record.spsn and case.record.mechanism == "cell-key"
        noise_by = "participants" if shared else "coordinates"
        patterns = pattern_table(case.record.ptable(), largest=SMALL, noise_by=noise_by)
        results += patterns.results(at_least=RARE)
    return results
