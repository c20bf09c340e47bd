"""The largest of many areas to which something rare happens: how large it will be in most draws of the noise.

Each area has its own chance. That the largest one is no larger than s has the probability that it happens to none
above s, the product of their 1 - p; no draw is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints


@dataclass(frozen=True)
class Largest:
    """The size of the largest area that is struck.

    Attributes:
        median: half of all draws have a larger one.
        low: 39 of 40 draws have a larger one or one of this size.
        high: one of 40 draws has a larger one or one of this size.
    """

    median: int
    low: int
    high: int


def largest(sizes: Ints, chances: Floats) -> Largest:
    """Return how large the largest struck area is, over all draws of independent noises.

    >>> largest(np.array([100, 10]), np.array([0.6, 1.0]))
    Largest(median=100, low=10, high=100)
    """
    order = np.argsort(-sizes, kind="stable")
    with np.errstate(divide="ignore"):
        none = np.exp(np.cumsum(np.log1p(-chances[order])))
    struck = 1 - none

    def reached(share: float) -> int:
        place = min(int(np.searchsorted(struck, share)), len(order) - 1)
        return int(sizes[order[place]])

    return Largest(reached(0.5), reached(0.975), reached(0.025))
