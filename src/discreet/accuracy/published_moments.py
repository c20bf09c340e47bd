"""Mean and variance of what is published for a count that is itself random.

For a Poisson count n with mean mu and noise by true count: E[y] = mu + E[bias(n)] and
Var(y) = E[Var(y | n)] + Var(E[y | n]). Only small counts have laws of their own, so the sums over n are short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Floats
    from discreet.noise.by_count import LawByCount

CHUNK = 1 << 20
"""Probabilities that are looked at together."""


@dataclass(frozen=True, eq=False)
class PublishedMoments:
    """Mean and variance of a published count whose true count is Poisson.

    Attributes:
        bias: E[y | n] - n - shift of the true counts n = 0, 1, ...; none beyond.
        extra: Var(y | n) - large of these counts.
        large: Var(y | n) of larger counts.
        shift: E[y | n] - n of larger counts.
    """

    bias: Floats
    extra: Floats
    large: float
    shift: float = 0.0

    @classmethod
    def of(cls, law: LawByCount) -> PublishedMoments:
        """Return the moments of a law; where laws take turns, large counts have the mean of their variances."""
        last = max(len(law.laws), law.reach if law.non_negative else 0)
        # Turns of a few true counts no longer show once Poisson counts spread over many of them.
        last += 4 * law.repeat**2 if law.repeat > 1 else 0
        counts = np.arange(last + law.repeat, dtype=np.float64)
        bias, variance = _bias_and_variance(law, counts)
        shift, large = float(bias[last:].mean()), float(variance[last:].mean())
        return cls(bias[:last] - shift, variance[:last] - large, large, shift)

    def at(self, means: Floats) -> tuple[Floats, Floats, Floats]:
        """Return mean and variance of the published count, and the derivative of the mean by log mu, for means mu."""
        from scipy.special import gammaln, xlogy

        first, cross, second, extra = (np.zeros_like(means) for _ in range(4))
        most = means.max(initial=0.0)
        # A Poisson count is hardly ever further above its mean.
        within = int(most + 12 * np.sqrt(most)) + 30
        differ = (np.abs(self.bias[:within]) > 1e-12) | (np.abs(self.extra[:within]) > 1e-12)
        for count in np.flatnonzero(differ).tolist():
            chance = np.exp(xlogy(count, means) - means - gammaln(count + 1))
            bias = self.bias[count]
            first += chance * bias
            cross += chance * bias * count
            second += chance * bias**2
            extra += chance * self.extra[count]
        covariance = cross - means * first
        variance = self.large + extra + means + 2 * covariance + second - first**2
        return means + self.shift + first, variance, means + covariance


def _bias_and_variance(law: LawByCount, counts: Floats) -> tuple[Floats, Floats]:
    """Return E[y | n] - n and Var(y | n) of true counts, some of them at a time."""
    noise = np.arange(-law.reach, law.reach + 1, dtype=np.float64)
    laws = np.stack(law.laws)
    found = np.empty((2, len(counts)))
    size = max(CHUNK // len(noise), 1)
    for start in range(0, len(counts), size):
        part = slice(start, start + size)
        chances = laws[law.rows(counts[part].astype(np.int64))]
        # What a published count is away from the true one; nothing is published below 0 where that is cut.
        away = np.maximum(noise, -counts[part, None]) if law.non_negative else noise
        first = (chances * away).sum(axis=1)
        found[:, part] = first, (chances * away**2).sum(axis=1) - first**2
    return found[0], found[1]
