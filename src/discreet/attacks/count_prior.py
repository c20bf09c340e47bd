"""Empirical prior of true counts, estimated from the published counts of a release alone.

The true counts of one kind of statistic follow a mixture of Poisson distributions, p(n) = sum of w_r e^-r r^n / n!,
over rates r from 0 on. Maximum likelihood by expectation maximisation gives the weights: each moves to the mean of its
posterior over all published counts until it converges. A mixture is smooth where shares of single counts would follow
the noise. One additional count, spread over all rates, keeps every rate possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.attacks.attacker_view import AssumedNoise, PopulationCounts

STEPS = 200
SMALL = 30
"""The prior distinguishes counts up to this one; all larger counts are equally likely."""
KINDS = 20
"""Number of classes of statistics, by their share of published zeros."""
LOWEST_RATE = 0.01
RATES = 40
"""Number of positive rates of the mixture, a geometric sequence from the lowest rate."""
ROUNDING = 1e-15
"""Probabilities below this are rounding errors."""


@dataclass(frozen=True, eq=False)
class MeanNoise:
    """The distribution of the sum of the values that several tables publish for one count, with independent noise.

    Attributes:
        noise: the noise distribution in one table.
        times: the number of tables.
    """

    noise: AssumedNoise
    times: int

    @property
    def reach(self) -> int:
        """Return the largest distance of the mean from the true count."""
        return self.noise.reach

    def chance(self, counts: Ints, published: Ints) -> Floats:
        """Return P(sum of published values | true count) for broadcastable arrays."""
        counts, published = np.broadcast_arrays(counts, published)
        noise, reach = published - self.times * counts, self.times * self.reach
        inside = (np.abs(noise) <= reach) & (counts >= 0)
        return np.where(inside, self._table[self._row(counts), np.clip(noise + reach, 0, 2 * reach)], 0.0)

    @property
    def _last(self) -> int:
        # Values cut at 0 have a separate distribution for every count within reach of 0.
        cut = self.reach + self.noise.repeat if self.noise.non_negative else 0
        return max(len(self.noise.laws) - 1, cut)

    def _row(self, counts: Ints) -> Ints:
        last = self._last
        return np.where(counts <= last, np.maximum(counts, 0), last - (last - counts) % self.noise.repeat)

    @cached_property
    def _table(self) -> Floats:
        counts, noise = np.arange(self._last + 1)[:, None], np.arange(-self.reach, self.reach + 1)
        width = 2 * self.times * self.reach + 1
        once = np.fft.rfft(self.noise.chance(counts, counts + noise), n=width)
        found: Floats = np.fft.irfft(once**self.times, n=width)
        return np.where(found > ROUNDING, found, 0.0)


def mean_noise(noise: AssumedNoise, times: int) -> AssumedNoise | MeanNoise:
    """Return the distribution of the sum over the tables that contain a count, with independent noise."""
    return noise if times == 1 else MeanNoise(noise, times)


def empirical_prior(published: Floats, noise: AssumedNoise, times: int = 1) -> Floats:
    """Return the share of every true count from 0 on among cells of one kind.

    The shares are those of counts that can have a published value up to a limit. Beyond it a prior carries little
    information, and all counts are equally likely.

    Args:
        published: the published values; the mean if several tables have independent noise.
        noise: the noise distribution in one table.
        times: the number of tables that a value averages.
    """
    limit = SMALL + noise.reach
    seen = np.rint(published * times).astype(np.int64)
    values, cells = np.unique(seen[seen <= limit * times], return_counts=True)
    counts = np.arange(limit + noise.reach + 1)
    laws = _poisson(counts)
    shown = laws @ mean_noise(noise, times).chance(counts[:, None], values[None, :])
    possible = (shown > 0).any(axis=0)
    weights = _weights(shown[:, possible], cells[possible])
    share: Floats = weights @ laws
    share[counts > SMALL] = share[SMALL]
    share /= share.sum()
    return share


def _poisson(counts: Ints) -> Floats:
    """Return the Poisson distribution of every rate of the mixture, truncated at the largest count."""
    from scipy.special import gammaln, xlogy

    rates = np.concatenate([[0.0], np.geomspace(LOWEST_RATE, counts[-1], RATES)])[:, None]
    found: Floats = np.exp(xlogy(counts, rates) - rates - gammaln(counts + 1))
    found /= found.sum(axis=1, keepdims=True)
    return found


def _weights(shown: Floats, cells: Ints) -> Floats:
    """Return the mixture weights, given the probabilities of published values by component and their frequencies."""
    even = np.full(len(shown), 1 / len(shown))
    weights = even
    for _ in range(STEPS):
        behind = weights @ shown
        moved = (weights * (shown @ (cells / behind)) + even) / (cells.sum() + 1)
        still = np.abs(moved - weights).max() < 1e-6
        weights = moved
        if still:
            break
    return weights


def kinds(view: PopulationCounts) -> Ints:
    """Return the kind of every statistic; statistics with a similar share of published zeros have one kind."""
    statistic_of = view.layout.statistic_of
    share = np.bincount(statistic_of, view.published == 0) / np.bincount(statistic_of)
    return np.ceil(KINDS * share).astype(np.int64)


def kind_priors(view: PopulationCounts, noise: AssumedNoise) -> list[Floats]:
    """Return for every statistic the prior of true counts of its kind."""
    layout = view.layout
    tables = layout.equations.noise_term_counts[layout.equations.statistics]
    kind, place = np.unique(np.stack([kinds(view), tables]), axis=1, return_inverse=True)
    place = place.ravel()
    found = [
        empirical_prior(view.published[(place == number)[layout.statistic_of]], noise, int(times))
        for number, times in enumerate(kind[1])
    ]
    return [found[number] for number in place.tolist()]
