"""What one true count is published as, under any law: every published count with its chance, and where most lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.ranges import USUAL, PublishedRange

if TYPE_CHECKING:
    from discreet.noise.by_count import LawByCount

RAREST = 1e-4
"""Published counts at the ends that are rarer than this are left out."""
EQUALLY = 1e-9
"""Chances that differ by less, by rounding alone, are equal."""


@dataclass(frozen=True)
class PublishedCounts:
    """The law of what is published for one true count.

    Attributes:
        usual: the shortest range that holds as often as is asked for; where two are equally likely, both together.
        published: published counts, but for rare ones at the ends.
        chances: of each.
        stays: the chance that the true count is published.
        vanishes: the chance that 0 or less is published.
    """

    usual: PublishedRange
    published: tuple[int, ...]
    chances: tuple[float, ...]
    stays: float
    vanishes: float


def published_counts(law: LawByCount, count: int, share: float = USUAL) -> PublishedCounts:
    """Return what a true count is published as.

    >>> from discreet.noise.by_count import by_count
    >>> from discreet.noise.ptable import PTable
    >>> published_counts(by_count(PTable.max_entropy(variance=3, bound=5)), 12).usual.result().sentence
    'A count of 12 is published as 9 to 15 in at least 19 of 20 cases (0.959).'
    """
    values = np.arange(count - law.reach, count + law.reach + 1)
    chances = law.chance(np.full(len(values), count), values)
    total = np.concatenate([[0.0], np.cumsum(chances)])
    low, high, within = _shortest(total, share)
    usual = PublishedRange(count, int(values[low]), int(values[high]), min(within, 1.0), share)
    there = np.flatnonzero(chances >= RAREST)
    shown = slice(int(there[0]), int(there[-1]) + 1)
    return PublishedCounts(
        usual,
        tuple(values[shown].tolist()),
        tuple(chances[shown].tolist()),
        float(chances[values == count].sum()),
        float(chances[values <= 0].sum()),
    )


def _shortest(total: np.ndarray, share: float) -> tuple[int, int, float]:
    """Return first and last place of the shortest stretch with that much probability; equally likely ones together.

    A law that is the same on both sides then has a range that is.
    """
    for width in range(1, len(total)):
        within = total[width:] - total[:-width]
        if within.max() >= share:
            break
    likeliest = np.flatnonzero(within >= within.max() - EQUALLY)
    low, high = int(likeliest[0]), int(likeliest[-1]) + width - 1
    return low, high, float(total[high + 1] - total[low])
