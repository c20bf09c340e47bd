"""Mean and variance of what is published for a count that is itself random.

For a Poisson count n with mean mu and noise by true count: E[y] = mu + E[bias(n)] and
Var(y) = E[Var(y | n)] + Var(E[y | n]). Only small counts have laws of their own, so the sums over n are short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.by_count import LawByCount

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublishedMoments:
    """Mean and variance of a published count whose true count is Poisson.

    Attributes:
        bias: E[y | n] - n of the true counts n = 0, 1, ...; none beyond.
        extra: Var(y | n) - large of these counts.
        large: Var(y | n) of larger counts.
    """

    bias: Floats
    extra: Floats
    large: float

    @classmethod
    def of(cls, law: LawByCount) -> PublishedMoments:
        """Return the moments of a law; where laws take turns, large counts have the mean of their variances."""
        last = max(len(law.laws), law.reach if law.non_negative else 0)
        # Turns of a few true counts no longer show once Poisson counts spread over many of them.
        last += 4 * law.repeat**2 if law.repeat > 1 else 0
        counts = np.arange(last + law.repeat, dtype=np.float64)
        mean, square = (np.array([_moment(law, int(n), power) for n in counts]) for power in (1, 2))
        variance = square - mean**2
        large = float(variance[last:].mean())
        return cls((mean - counts)[:last], variance[:last] - large, large)

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
        return means + first, variance, means + covariance


def _moment(law: LawByCount, count: int, power: int) -> float:
    """Return E[y^power | n] of one true count."""
    shown = count + np.arange(-law.reach, law.reach + 1)
    row = law.laws[int(law.rows(np.array(count)))]
    return float(row @ (np.maximum(shown, 0) if law.non_negative else shown).astype(np.float64) ** power)
