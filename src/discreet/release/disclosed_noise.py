"""The noise that a release discloses to data users, a typical size and a vague bound, and a distribution that fits it.

The size is published with one decimal and stands for a range: half a unit of that decimal either way. For protection
the minimum of the range is the conservative value; for the error of a count, the maximum.
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InfeasibleError
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable, PTableRow
from discreet.programme.model import WEIGHTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Ints
    from discreet.noise.by_count import TransitionMatrix

TOLD_BOUND = re.compile(r"about (\d+)")
HALF_A_UNIT = 0.05
"""Of the last decimal of the size that is told."""
NORMAL = 1.96
"""Standard deviations on either side of a normal 95 % interval."""


def told_range(told: dict[str, Any]) -> tuple[float, float] | None:
    """Return the least and the largest standard deviation that the told one may stand for; None where none is told.

    >>> told_range({"typical_noise": 1.3})
    (1.25, 1.35)
    """
    typical = float(told.get("typical_noise") or 0.0)
    if not typical:
        return None
    return round(max(typical - HALF_A_UNIT, HALF_A_UNIT), 6), round(typical + HALF_A_UNIT, 6)


def typical_change(told: dict[str, Any]) -> float:
    """Return the root mean square change of a large count that is told: typical noise and its mean together."""
    return math.hypot(float(told.get("typical_noise") or 0.0), float(told.get("mean_noise", 0.0)))


def noise_sentences(told: dict[str, Any], counts: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences for data users on the noise of these columns of counts.

    >>> noise_sentences({"method": "random noise", "typical_noise": 3.0, "mean_noise": 4.0}, ["value"])[:2]
    ('Method: random noise; a count typically changes by 5.0.', 'The mean of the changes is +4.0.')
    """
    if "typical_noise" not in told:
        return (f"Method: {told['method']}.",)
    found = [f"Method: {told['method']}; a count typically changes by {typical_change(told):.1f}."]
    if "mean_noise" in told:
        found.append(f"The mean of the changes is {told['mean_noise']:+.1f}.")
    if "bound" in told:
        found.append(f"A count changes by {told['bound']}.")
    if WEIGHTED in counts:
        found.append("A weighted count changes by the noise of the unweighted one, times the mean weight of its cell.")
    return (*found, *(str(told[name]) for name in ("totals", "zeros", "negative") if name in told))


def disclosed_noise(told: dict[str, Any]) -> TransitionMatrix:
    """Return the law with most entropy within the bound that is told, geometric where none is.

    It has the largest size that rounds to what is told: intervals made with it hold at least as often as they say.
    A mean that is told widens it, as it widens the error of users; noise without any spread is a fixed change.
    Small counts that are told never to be published have no chance, unless this is more than the size has room for.
    """
    spread, non_negative, zeros = told_range(told), "negative" in told, "zeros" in told
    mean = float(told.get("mean_noise", 0.0))
    if spread is None:
        fixed = PTableRow(0, (0,), (1.0,)), PTableRow(1, (round(mean),), (1.0,))
        return transition_matrix(PTable(fixed), non_negative=non_negative) if round(mean) else transition_matrix(None)
    variance, bound = spread[1] ** 2 + mean**2, TOLD_BOUND.search(str(told.get("bound", "")))
    if bound is None:
        # Variance 2q / (1 - q)^2 = v, solved for q = exp(-epsilon).
        law = TwoSidedGeometric(epsilon=-math.log((variance + 1 - math.sqrt(2 * variance + 1)) / variance))
        return transition_matrix(law, zeros=zeros, non_negative=non_negative)
    # The bound is below the number told; the variance may not need all of it, and is never more than it has room for.
    most = int(bound[1]) - 1
    fits = partial(PTable.max_entropy, variance=min(variance, most * (most + 1) / 3), bound=most, perturb_zeros=zeros)
    try:
        table = fits(threshold=int(told.get("smallest_published", 1)) - 1)
    except InfeasibleError:
        table = fits()
    return transition_matrix(table, non_negative=non_negative)


TAIL = 0.025
"""The probability on either side of a 95 % interval."""
HAIR = 1e-12
"""Less than the accuracy of the probabilities that quantiles are compared with."""


class CountIntervals:
    """95 % intervals of true counts, from the published ones and the noise that a release discloses.

    Under a flat prior P(n | y) is proportional to P(y | n); an interval ends at the 2.5 % and 97.5 % quantiles. A count
    that the disclosed distribution does not allow gets the normal interval.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self._noise = disclosed_noise(told)
        # From here on every count has the same distribution, and intervals the same width.
        self._large = len(self._noise.laws) + 2 * self._noise.reach + 1
        self._known: dict[int, tuple[int, int]] = {}

    def of(self, published: Ints) -> tuple[Ints, Ints]:
        """Return the lower and the upper ends."""
        small = np.minimum(published, self._large)
        different, places = np.unique(small, return_inverse=True)
        ends = np.array([self._ends(int(each)) for each in different], dtype=np.int64).reshape(-1, 2)[places.ravel()]
        return ends[:, 0] + published - small, ends[:, 1] + published - small

    def _ends(self, published: int) -> tuple[int, int]:
        if published not in self._known:
            reach = self._noise.reach
            counts = np.arange(max(published - reach, 0), max(published + reach, 0) + 1)
            reached = np.cumsum(self._noise.chance(counts, np.array(published)))
            if reached[-1] > 0:
                ends = np.searchsorted(reached / reached[-1], [TAIL + HAIR, 1 - TAIL - HAIR])
                self._known[published] = int(counts[ends[0]]), int(counts[ends[1]])
            else:
                half = math.ceil(NORMAL * self._noise.typical_change)
                self._known[published] = max(published - half, 0), max(published + half, 0)
        return self._known[published]
