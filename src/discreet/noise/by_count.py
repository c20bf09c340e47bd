"""The law of noise for every true count in one array: probabilities, draws and variances of many counts at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.noise.ptable import PTable, PTableRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.arrays import Floats, Ints
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable_settings import PTableSettings

NEGLIGIBLE = 1e-12
"""Probability beyond which the tail of an unbounded law is cut."""

CENTRED = 1e-9
"""A mean that is rounding alone."""


@dataclass(frozen=True, eq=False)
class NoiseByCount:
    """The law of noise by true count.

    Attributes:
        laws: by row, the probabilities of noise -reach .. reach.
        non_negative: whether what would have been negative is published as 0.
        repeat: how many of the last laws take turns for large counts.
        variance: of the noise of a large count.
        bound: the largest absolute noise of any count, infinite if there is none.
        settings: what the p-table was solved from, where it is known.
    """

    laws: tuple[Floats, ...]
    variance: float
    bound: float
    repeat: int = 1
    non_negative: bool = False
    settings: PTableSettings | None = None

    @property
    def reach(self) -> int:
        """Return the largest noise that is considered."""
        return len(self.laws[0]) // 2

    @property
    def large(self) -> PTableRow:
        """Return the law of large counts: the last one, or the mean of those that take turns."""
        noise = range(-self.reach, self.reach + 1)
        law = np.mean(self.laws[-self.repeat :], axis=0)
        return PTableRow(len(self.laws) - 1, tuple(noise), tuple(law.tolist()))

    @property
    def typical_change(self) -> float:
        """Return the root mean square noise of a large count: standard deviation and mean together."""
        return math.hypot(math.sqrt(self.variance), self.mean)

    @property
    def mean(self) -> float:
        """Return the mean of the noise of a large count."""
        return self.large.mean

    def centred(self, published: Floats) -> Floats:
        """Return published values without the mean noise of large counts, as an attacker who knows the law does.

        Where empty cells have no noise a published 0 stays as it is.
        """
        if abs(self.mean) < CENTRED:
            return published
        return np.where((published != 0) | self.zeros_are_noisy, published - self.mean, published)

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


AnyLaw: TypeAlias = "NoiseByCount | PTable | Noise"
"""What users may give for a law of noise; `by_count` takes each."""


def by_count(noise: AnyLaw | None, *, zeros: bool = False, non_negative: bool = False) -> NoiseByCount:
    """Return the law of every true count.

    Args:
        noise: a p-table, or a law, which is then the same for all counts; None is no noise at all. What is by count
            already stays as it is.
        zeros: whether a law gives empty cells noise too; a p-table says so itself.
        non_negative: whether what would be negative is published as 0.

    >>> by_count(PTable.max_entropy(variance=2, bound=5)).variance_of(np.array([0, 1, 7])).round(3).tolist()
    [0.0, 1.721, 2.0]
    """
    if isinstance(noise, NoiseByCount):
        return noise
    if noise is None:
        return NoiseByCount((np.ones(1),), 0.0, 0.0)
    if isinstance(noise, PTable):
        made = _tabulated(noise.rows, noise.large, repeat=noise.repeat, non_negative=non_negative)
        return replace(made, settings=noise.settings)
    return _tabulated([noise if zeros else None, noise], noise, non_negative=non_negative)


def _tabulated(
    rows: Sequence[Noise | None], large: Noise, *, repeat: int = 1, non_negative: bool = False
) -> NoiseByCount:
    """Return laws as arrays of one length; the bound is that of whichever law has most."""
    bound = max(law.bound if law else 0 for law in rows)
    reach = max(_reach(law) if law else 0 for law in rows)
    noise = np.arange(-reach, reach + 1)
    laws = [law.pmf(noise) if law else (noise == 0).astype(float) for law in rows]
    return NoiseByCount(tuple(law / law.sum() for law in laws), large.variance, bound, repeat, non_negative)


def _reach(law: Noise) -> int:
    """Return the largest noise worth considering; a bounded law may have none at 0."""
    return int(law.bound) if math.isfinite(law.bound) else law.reach(NEGLIGIBLE)
