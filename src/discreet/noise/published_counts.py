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


@dataclass(frozen=True)
class PublishedCounts:
    """The law of what is published for one true count.

    Attributes:
        usual: the shortest range that holds as often as is asked for.
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
    """Return first and last place of the shortest stretch with that much probability; of several the likeliest."""
    for width in range(1, len(total)):
        within = total[width:] - total[:-width]
        start = int(within.argmax())
        if within[start] >= share:
            break
    return start, start + width - 1, float(within[start])
