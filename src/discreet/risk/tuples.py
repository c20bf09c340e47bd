"""The measures that use additive tuples: parts and their total, published side by side.

How many tuples a programme offers is counted as the paper counts sex breakdowns: the
cells of every published statistic by a level of c categories next to the total, divided by
c. Tuples within deeper levels are not counted.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.rival import rival
from discreet.risk.bound import LEAST_SURE, bound_disclosure, bounds_told_apart, reached_together
from discreet.risk.margins import forced_tuples
from discreet.risk.patterns import pattern_table
from discreet.risk.registry import measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.programme.lattice import Lattice
    from discreet.results import Result
    from discreet.risk.bound import BoundDisclosure
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


def all_tuples(lattice: Lattice, *, spsn: bool) -> dict[int, int]:
    """Return, by the number of categories, how many tuples all levels next to a total offer together."""
    found: dict[int, int] = {}
    for size, _, tuples in _offered(lattice, spsn=spsn):
        if tuples:
            found[size] = found.get(size, 0) + tuples
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
    """Return whether the bound could be inferred from additive tuples, by the level that tells most."""
    law = case.record.noise()
    offered = tuples_by_size(case.lattice, spsn=case.record.spsn)
    # A rule without random noise has no bound that gaps reveal: anyone may know it.
    if not math.isfinite(law.bound) or not offered or case.record.is_deterministic:
        return []
    largest = [
        bound_disclosure(law, tuples=n, categories=c, confidence=case.confidence) for c, (_, n) in offered.items()
    ]
    worst = max(largest, key=lambda found: found.reached)
    results = [worst.result()]
    if case.record.has_ptable and (wider := rival(case.record.ptable(), int(law.bound) + 1)):
        categories, (_, tuples) = next(iter(offered.items()))
        # Who guesses is right in half of the cases already.
        sure = max(case.confidence, LEAST_SURE)
        told = bounds_told_apart(law, wider, tuples=tuples, categories=categories, confidence=sure)
        results.append(told.result())
        every = [
            bounds_told_apart(law, wider, tuples=n, categories=c, confidence=sure)
            for c, n in all_tuples(case.lattice, spsn=case.record.spsn).items()
        ]
        if sum(each.tuples for each in every) > tuples:
            results.append(_together(every))
    return results


def _together(found: list[BoundDisclosure]) -> Result:
    """Return how surely the tuples of all levels and sizes give the bound away to who weighs every gap."""
    first, reached = found[0], reached_together(found)
    verdict = "may" if reached >= first.confidence else "cannot"
    counted = " and ".join(f"{each.tuples:,} sets of {each.categories} parts" for each in found)
    return replace(
        first.result(),
        value=reached,
        sentence=f"From all levels together she {verdict} find it: {counted} next to a total give it away with "
        f"probability {reached:.3g} at most.",
        equation="(1 + sqrt(1 - prod (1 - H^2)^(2 tuples))) / 2",
        assumptions=(*first.assumptions, "sets within levels, and of more than 4 parts, tell more"),
    )


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
