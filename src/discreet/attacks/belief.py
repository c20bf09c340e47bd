"""What an attacker believes about the noise: its law for every true count, and which cells share it.

The law may be known whole (offices publish their settings, and secrecy of a method is no
protection), or only as far as a release tells it: a typical size and a vague bound.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.noise.base import Noise
    from discreet.release.record import Record

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-12
"""Probability beyond which the tail of an unbounded law is cut."""
SHARED = {"cell-key": "participants", "coordinates": "coordinates", "eps-dp": "coordinates", "exact": "participants"}
"""What shares its noise under each mechanism; nothing does under the others."""
TOLD_BOUND = re.compile(r"about (\d+)")


@dataclass(frozen=True, eq=False)
class CountNoise:
    """The law of noise by true count.

    Attributes:
        laws: by row, the probabilities of noise -reach .. reach.
        shared: `participants`, `coordinates` or `nothing`: which cells have one noise.
        non_negative: whether what would have been negative is published as 0.
        repeat: how many of the last laws take turns for large counts.
        exactly: whether the law is known, or made up from what a release tells.
        variance: of the noise of a large count.
        bound: the largest absolute noise of any count, infinite if there is none.
    """

    laws: tuple[Floats, ...]
    shared: str
    variance: float
    bound: float
    repeat: int = 1
    non_negative: bool = False
    exactly: bool = True

    @property
    def reach(self) -> int:
        """Return the largest noise that is considered."""
        return len(self.laws[0]) // 2

    @property
    def zeros_are_noisy(self) -> bool:
        """Say whether an empty cell may be published as something else."""
        return bool(self.laws[0][self.reach] < 1)

    def rows(self, counts: Ints) -> Ints:
        """Return the number of the law that serves each true count."""
        last = len(self.laws) - 1
        if self.repeat == 1:
            return np.minimum(counts, last)
        first = last - self.repeat + 1
        return np.where(counts <= last, counts, first + (counts - first) % self.repeat)

    def chance(self, counts: Ints, published: Ints) -> Floats:
        """Return P(published | true count), for arrays that fit each other."""
        counts, published = np.broadcast_arrays(counts, published)
        noise = published - counts
        inside = (np.abs(noise) <= self.reach) & (counts >= 0)
        row = self.rows(np.maximum(counts, 0))
        found = np.where(inside, self._table[row, np.clip(noise + self.reach, 0, 2 * self.reach)], 0.0)
        if self.non_negative:
            below = self._cumulated[row, np.clip(self.reach - counts, 0, 2 * self.reach)]
            below = np.where((counts <= self.reach) & (counts >= 0), below, 0.0)
            found = np.where(published == 0, below, np.where(published < 0, 0.0, found))
        return found

    def publish(self, counts: Ints, random: np.random.Generator) -> Ints:
        """Return true counts with fresh noise of this law, each with its own."""
        row = self.rows(counts)
        uniform = random.random(counts.shape)
        noise = np.empty(counts.shape, dtype=np.int64)
        for number in np.unique(row).tolist():
            here = row == number
            noise[here] = np.searchsorted(self._cumulated[number], uniform[here], side="right") - self.reach
        found = counts + np.clip(noise, -self.reach, self.reach)
        return np.maximum(found, 0) if self.non_negative else found

    def variance_of(self, counts: Ints) -> Floats:
        """Return the variance of the noise of each true count."""
        return self._variances[self.rows(counts)]

    @cached_property
    def _table(self) -> Floats:
        return np.stack(self.laws)

    @cached_property
    def _cumulated(self) -> Floats:
        return np.cumsum(self._table, axis=1)

    @cached_property
    def _variances(self) -> Floats:
        noise = np.arange(-self.reach, self.reach + 1)
        mean = self._table @ noise
        found: Floats = self._table @ noise**2 - mean**2
        return found


def belief_of(record: Record) -> CountNoise:
    """Return the whole law of a record, as an attacker knows it who knows all but the keys."""
    if record.law == "none":
        return CountNoise((np.ones(1),), "participants", 0.0, 0.0)
    shared = SHARED.get(record.mechanism, "nothing") if record.spsn else "nothing"
    if record.has_ptable:
        table = record.ptable()
        return _believed(table.rows, shared, table.large, repeat=table.repeat, non_negative=record.non_negative)
    if record.largest_variance > record.variance * (1 + 1e-9):
        raise ParameterError(
            "This release spends its privacy budget unevenly: some counts have less noise than others. The attacks "
            "take all counts to have one law and would find less than there is. Attack one with an even budget.",
            parameter="budget",
        )
    zeros, others = record.law_of(0), record.law_of(1) or record.noise()
    return _believed([zeros, others], shared, others, non_negative=record.non_negative)


def belief_told(told: dict[str, Any]) -> CountNoise:
    """Return a law that fits what a release tells its users: maximum entropy within a bound, else geometric."""
    typical = float(told.get("typical_noise") or 0.0)
    if not typical:
        return CountNoise((np.ones(1),), "participants", 0.0, 0.0, exactly="typical_noise" not in told)
    shared = "participants" if "cell keys" in str(told.get("method")) else "coordinates"
    shared = shared if told.get("same_count_same_noise") else "nothing"
    bound = TOLD_BOUND.search(str(told.get("bound", "")))
    if bound is None:
        # Variance 2q / (1 - q)^2 = v, solved for q = exp(-epsilon).
        v = typical**2
        law: Noise = TwoSidedGeometric(epsilon=-math.log((v + 1 - math.sqrt(2 * v + 1)) / v))
        return _believed([None, law], shared, law, non_negative="negative" in told, exactly=False)
    # The bound is below the number told; the variance may not need all of it.
    table = PTable.max_entropy(variance=typical**2, bound=int(bound[1]) - 1)
    return _believed(table.rows, shared, table.large, non_negative="negative" in told, exactly=False)


def _believed(
    rows: Sequence[Noise | None],
    shared: str,
    large: Noise,
    *,
    repeat: int = 1,
    non_negative: bool = False,
    exactly: bool = True,
) -> CountNoise:
    """Return laws as arrays of one length; the bound is that of whichever law has most."""
    bound = max(law.bound if law else 0 for law in rows)
    reach = max(_reach(law) if law else 0 for law in rows)
    noise = np.arange(-reach, reach + 1)
    laws = [law.pmf(noise) if law else (noise == 0).astype(float) for law in rows]
    return CountNoise(
        tuple(law / law.sum() for law in laws), shared, large.variance, bound, repeat, non_negative, exactly
    )


def _reach(law: Noise) -> int:
    """Return the largest noise worth considering; a bounded law may have none at 0."""
    return int(law.bound) if math.isfinite(law.bound) else law.reach(NEGLIGIBLE)
