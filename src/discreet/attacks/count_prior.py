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
"""Counts up to here are told apart, beside the reach of the noise; larger ones are taken as equally likely."""
KINDS = 20
"""Kinds of statistics that are told apart by their share of published zeros."""
LOWEST_RATE = 0.01
RATES = 40
"""Rates of the mixture beside 0, from the lowest on, each larger than the last by the same factor."""
ROUNDING = 1e-15
"""Probabilities below are no more than what rounding leaves."""


@dataclass(frozen=True, eq=False)
class MeanNoise:
    """The law of the sum of what several tables publish for one count, each with noise of its own.

    Attributes:
        noise: the law in one table.
        times: how many tables there are.
    """

    noise: AssumedNoise
    times: int

    @property
    def reach(self) -> int:
        """Return how far the mean may be from the true count."""
        return self.noise.reach

    def chance(self, counts: Ints, published: Ints) -> Floats:
        """Return P(sum of what is published | true count), for arrays that fit each other."""
        counts, published = np.broadcast_arrays(counts, published)
        noise, reach = published - self.times * counts, self.times * self.reach
        inside = (np.abs(noise) <= reach) & (counts >= 0)
        return np.where(inside, self._table[self._row(counts), np.clip(noise + reach, 0, 2 * reach)], 0.0)

    @property
    def _last(self) -> int:
        # What is cut at 0 has a law of its own at every count within reach of it.
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
    """Return the law of the sum over the tables that show a count, each with noise of its own."""
    return noise if times == 1 else MeanNoise(noise, times)


def empirical_prior(published: Floats, noise: AssumedNoise, times: int = 1) -> Floats:
    """Return the share of every true count from 0 on among cells of one kind.

    The shares are those of counts that can lead to a published value up to a limit; beyond it
    a prior tells little, and all counts are equally likely.

    Args:
        published: the published values; the mean, where several tables have noise of their own.
        noise: the law of the noise in one table.
        times: how many tables a value is the mean of.
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
    """Return the law of the counts for every rate of the mixture, cut at the largest count."""
    from scipy.special import gammaln, xlogy

    rates = np.concatenate([[0.0], np.geomspace(LOWEST_RATE, counts[-1], RATES)])[:, None]
    found: Floats = np.exp(xlogy(counts, rates) - rates - gammaln(counts + 1))
    found /= found.sum(axis=1, keepdims=True)
    return found


def _weights(shown: Floats, cells: Ints) -> Floats:
    """Return the weights of a mixture, given what each of its laws leads to and how often that was seen."""
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
    """Return for every statistic its kind: those with about the same share of published zeros are of one."""
    statistic_of = view.layout.statistic_of
    share = np.bincount(statistic_of, view.published == 0) / np.bincount(statistic_of)
    return np.ceil(KINDS * share).astype(np.int64)


def kind_priors(view: PopulationCounts, noise: AssumedNoise) -> list[Floats]:
    """Return for every statistic how often true counts occur in its kind."""
    layout = view.layout
    tables = layout.equations.noises[layout.equations.statistics]
    kind, place = np.unique(np.stack([kinds(view), tables]), axis=1, return_inverse=True)
    place = place.ravel()
    found = [
        empirical_prior(view.published[(place == number)[layout.statistic_of]], noise, int(times))
        for number, times in enumerate(kind[1])
    ]
    return [found[number] for number in place.tolist()]
