"""The disclosed noise of a release (a standard deviation and an approximate bound), and a distribution that fits it.

The standard deviation is published with one decimal, so it represents a range of ± 0.05. For protection the minimum of
the range is the conservative value; for the error of a count, the maximum.
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

DISCLOSED_BOUND = re.compile(r"about (\d+)")
HALF_A_UNIT = 0.05
"""Half a unit of the last decimal of the disclosed standard deviation."""
NORMAL = 1.96
"""Half-width of a normal 95 % interval in standard deviations."""


def deviation_range(disclosed: dict[str, Any]) -> tuple[float, float] | None:
    """Return the range of standard deviations that round to the disclosed one; None if none is disclosed.

    >>> deviation_range({"typical_noise": 1.3})
    (1.25, 1.35)
    """
    typical = float(disclosed.get("typical_noise") or 0.0)
    if not typical:
        return None
    return round(max(typical - HALF_A_UNIT, HALF_A_UNIT), 6), round(typical + HALF_A_UNIT, 6)


def typical_change(disclosed: dict[str, Any]) -> float:
    """Return the disclosed root mean square change of a large count, from the standard deviation and the mean."""
    return math.hypot(float(disclosed.get("typical_noise") or 0.0), float(disclosed.get("mean_noise", 0.0)))


def noise_sentences(disclosed: dict[str, Any], counts: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences for data users on the noise of these columns of counts.

    >>> noise_sentences({"method": "random noise", "typical_noise": 3.0, "mean_noise": 4.0}, ["value"])[:2]
    ('Method: random noise; typical change of a count (root mean square): 5.0.', 'The mean change is +4.0.')
    """
    if "typical_noise" not in disclosed:
        return (f"Method: {disclosed['method']}.",)
    typical = f"typical change of a count (root mean square): {typical_change(disclosed):.1f}"
    found = [f"Method: {disclosed['method']}; {typical}."]
    if "mean_noise" in disclosed:
        found.append(f"The mean change is {disclosed['mean_noise']:+.1f}.")
    if "bound" in disclosed:
        found.append(f"A count changes by {disclosed['bound']}.")
    if WEIGHTED in counts:
        found.append("The noise of a weighted count is that of the unweighted count times the mean weight of its cell.")
    return (*found, *(str(disclosed[name]) for name in ("totals", "zeros", "negative") if name in disclosed))


def disclosed_noise(disclosed: dict[str, Any]) -> TransitionMatrix:
    """Return the maximum entropy distribution within the disclosed bound; without a bound, a geometric distribution.

    Its standard deviation is the largest that rounds to the disclosed one, so intervals have at least their nominal
    coverage. A disclosed mean increases it, as it increases the error of users. Noise without spread is a fixed change.
    Small counts below the disclosed smallest published count have probability 0, unless this is infeasible.
    """
    spread, non_negative, zeros = deviation_range(disclosed), "negative" in disclosed, "zeros" in disclosed
    mean = float(disclosed.get("mean_noise", 0.0))
    if spread is None:
        fixed = PTableRow(0, (0,), (1.0,)), PTableRow(1, (round(mean),), (1.0,))
        return transition_matrix(PTable(fixed), non_negative=non_negative) if round(mean) else transition_matrix(None)
    variance, bound = spread[1] ** 2 + mean**2, DISCLOSED_BOUND.search(str(disclosed.get("bound", "")))
    if bound is None:
        # Variance 2q / (1 - q)^2 = v, solved for q = exp(-epsilon).
        law = TwoSidedGeometric(epsilon=-math.log((variance + 1 - math.sqrt(2 * variance + 1)) / variance))
        return transition_matrix(law, zeros=zeros, non_negative=non_negative)
    # The true bound is below the disclosed number. The variance is limited to the maximum that the bound allows.
    most = int(bound[1]) - 1
    fits = partial(PTable.max_entropy, variance=min(variance, most * (most + 1) / 3), bound=most, perturb_zeros=zeros)
    try:
        table = fits(threshold=int(disclosed.get("smallest_published", 1)) - 1)
    except InfeasibleError:
        table = fits()
    return transition_matrix(table, non_negative=non_negative)


TAIL = 0.025
"""Tail probability on either side of a 95 % interval."""
QUANTILE_TOLERANCE = 1e-12
"""Tolerance for quantiles; it is smaller than the accuracy of the probabilities."""


class CountIntervals:
    """95 % intervals of true counts, from published counts and the disclosed noise of a release.

    Under a flat prior P(n | y) is proportional to P(y | n); an interval ends at the 2.5 % and 97.5 % quantiles. A count
    that is impossible under the disclosed distribution gets the normal interval.
    """

    def __init__(self, disclosed: dict[str, Any]) -> None:
        self._noise = disclosed_noise(disclosed)
        # From this count on, all counts have the same distribution and intervals of the same width.
        self._large = len(self._noise.laws) + 2 * self._noise.reach + 1
        self._known: dict[int, tuple[int, int]] = {}

    def of(self, published: Ints) -> tuple[Ints, Ints]:
        """Return the lower and the upper limits of the intervals."""
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
                ends = np.searchsorted(
                    reached / reached[-1], [TAIL + QUANTILE_TOLERANCE, 1 - TAIL - QUANTILE_TOLERANCE]
                )
                self._known[published] = int(counts[ends[0]]), int(counts[ends[1]])
            else:
                half = math.ceil(NORMAL * self._noise.typical_change)
                self._known[published] = max(published - half, 0), max(published + half, 0)
        return self._known[published]
