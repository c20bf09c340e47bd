"""Intervals of differences, ratios, shares and means of published counts with a known noise distribution.

A published count y allows the true counts n with P(y | n) > 0. Under a flat prior on n >= 0 their posterior is

    P(n | y) = P(y | n) / sum over m >= 0 of P(y | m).

Differences, ratios and shares of two counts follow by enumeration. Intervals are posterior quantiles, so they are valid
for bounded noise, for fixed zeros and for small counts, unlike normal intervals. Means of many counts are
approximately normal, with the errors of the delta method,

    m = sum(v y) / N,    N = sum(y),    Var(m) = sum((v - m)^2 V) / N^2 + sum(y (v - m)^2) / N^2,

the first term from the noise, the second from the persons, if treated as a sample (Cochran, "Sampling Techniques",
1977, chapter 6).

Counts have independent noise. A total published with its own noise is not the sum of its parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import whole
from discreet.errors import ParameterError
from discreet.noise.by_count import transition_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Floats, Ints
    from discreet.noise.by_count import AnyLaw, TransitionMatrix

CONFIDENCE = 0.95
"""The coverage probability of an interval."""
TAIL = (1 - CONFIDENCE) / 2
"""The probability beyond either end of an interval."""
MIN_TOTAL = 5
"""The smallest ratio of a total to its noise for which the delta method is adequate for a mean."""
HAIR = 1e-12
"""The tolerance of the comparison of quantiles, below the error of the probabilities."""

ALIKE = "flat prior on true counts; the coverage of single small counts may be lower"
OWN_NOISE = "the two counts have independent noise with the given distribution"
NOT_BOTH = "not both counts are 0"


@dataclass(frozen=True)
class NoisyEstimate:
    """A figure computed from published counts, with its uncertainty due to noise.

    Attributes:
        value: the figure; for a difference, ratio or share the posterior median, which equals that of the published
            counts if these exceed the reach of the noise.
        standard_error: the standard error; infinite if the figure is unbounded.
        lower: the lower end of the 95 percent interval.
        upper: the upper end of the interval; infinite if a denominator is 0 with more than 2.5 percent.
        assumptions: the assumptions of the interval.
    """

    value: float
    standard_error: float
    lower: float
    upper: float
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        if math.isinf(self.upper):
            value = "unbounded" if math.isinf(self.value) else f"{self.value:.4g}"
            return f"{value}, 95% interval from {self.lower:.4g} on, without an upper limit"
        return f"{self.value:.4g}, 95% interval {self.lower:.4g} to {self.upper:.4g}"


@dataclass(frozen=True)
class MeanEstimate:
    """The mean of a value over the counted persons.

    Attributes:
        value: the mean.
        noise_error: the standard error due to the noise.
        sampling_error: the standard error due to the persons, treated as a sample.
        bias: the bias of the mean due to the noise, to second order.
        assumptions: the assumptions of the errors.
    """

    value: float
    noise_error: float
    sampling_error: float
    bias: float
    assumptions: tuple[str, ...]

    @property
    def standard_error(self) -> float:
        """Return both errors combined."""
        return math.hypot(self.noise_error, self.sampling_error)

    @property
    def of_persons_counted(self) -> NoisyEstimate:
        """Return the interval of the mean of the counted persons: noise only."""
        return self._normal(self.noise_error)

    @property
    def of_population(self) -> NoisyEstimate:
        """Return the interval of the mean of the population behind the counted persons: noise and sampling."""
        return self._normal(self.standard_error)

    def _normal(self, error: float) -> NoisyEstimate:
        from scipy.special import ndtri

        half = float(ndtri(1 - TAIL)) * error
        return NoisyEstimate(self.value, error, self.value - half, self.value + half, self.assumptions)


@dataclass(frozen=True)
class NoisyCount:
    """A published count and its noise distribution."""

    published: int
    law: TransitionMatrix

    @cached_property
    def counts(self) -> Ints:
        """Return the possible true counts in increasing order."""
        return self._possible[0]

    @cached_property
    def chances(self) -> Floats:
        """Return the posterior probabilities of the possible true counts."""
        return self._possible[1]

    @property
    def mean(self) -> float:
        """Return the posterior mean of the true count."""
        return float(self.counts @ self.chances)

    @property
    def variance(self) -> float:
        """Return the posterior variance of the true count."""
        return float((self.counts - self.mean) ** 2 @ self.chances)

    @property
    def noise_variance(self) -> float:
        """Return the variance of the noise, averaged over the possible true counts."""
        return float(self.law.variance_of(self.counts) @ self.chances)

    @property
    def empty(self) -> float:
        """Return the probability that the true count is 0."""
        return float(self.chances[0]) if self.counts[0] == 0 else 0.0

    def at_most(self, counts: Ints) -> Floats:
        """Return the probabilities that the true count is at most each of some counts."""
        place = np.clip(counts - self.counts[0] + 1, 0, len(self.counts))
        found: Floats = self._cumulated[place]
        return found

    @cached_property
    def _cumulated(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.chances)])

    @cached_property
    def _possible(self) -> tuple[Ints, Floats]:
        counts = np.arange(max(self.published - self.law.reach, 0), max(self.published + self.law.reach, 0) + 1)
        chances = self.law.chance(counts, np.array(self.published))
        if not chances.any():
            raise ParameterError(
                f"No true count is published as {self.published} under this noise distribution. Check the count, or "
                "give the noise distribution of the release.",
                parameter="published",
            )
        kept = slice(int(np.argmax(chances > 0)), len(chances) - int(np.argmax(chances[::-1] > 0)))
        return counts[kept], chances[kept] / chances.sum()


def _noisy(published: int, law: AnyLaw) -> NoisyCount:
    """Return a published count with its noise distribution; raise an error if it is not a whole number."""
    return NoisyCount(int(whole(published, "published")), transition_matrix(law))


def count_difference(a: int, b: int, law: AnyLaw) -> NoisyEstimate:
    """Return a - b of two published counts.

    The value is that of the published counts, unless the possible noise is restricted near 0. The standard error is
    sqrt(V_a + V_b).

    >>> from discreet.noise.ptable import PTable
    >>> print(count_difference(120, 100, PTable.max_entropy(variance=2, bound=5)))
    20, 95% interval 16 to 24
    """
    first, second = _noisy(a, law), _noisy(b, law)
    values = np.arange(first.counts[0] - second.counts[-1], first.counts[-1] - second.counts[0] + 1)
    reached = np.cumsum(np.convolve(first.chances, second.chances[::-1]))
    lower, value, upper = (
        float(values[np.searchsorted(reached, level)]) for level in (TAIL + HAIR, 0.5 - HAIR, 1 - TAIL - HAIR)
    )
    error = math.sqrt(first.noise_variance + second.noise_variance)
    return NoisyEstimate(value, error, lower, upper, (OWN_NOISE, ALIKE))


def count_ratio(a: int, b: int, law: AnyLaw) -> NoisyEstimate:
    """Return a / b of two published counts; without an upper limit if P(b = 0) exceeds 2.5 percent.

    The standard error refers to ratios with a denominator above 0.

    Args:
        a: the published numerator.
        b: the published denominator, with independent noise.
        law: the noise distribution of both counts.
    """
    first, second = _noisy(a, law), _noisy(b, law)
    lower, value, upper = _ratio_quantiles(first, second)
    error = math.inf if math.isinf(upper) else _ratio_error(first, second)
    return NoisyEstimate(value, error, lower, upper, (OWN_NOISE, ALIKE, NOT_BOTH))


def count_share(part: int, rest: int, law: AnyLaw) -> NoisyEstimate:
    """Return part / (part + rest) of two published counts; a published total is not the sum of the two.

    Args:
        part: the published count of persons with a property.
        rest: the published count of persons without it.
        law: the noise distribution of both counts.
    """
    first, second = _noisy(part, law), _noisy(rest, law)
    lower, value, upper = (r / (1 + r) if math.isfinite(r) else 1.0 for r in _ratio_quantiles(first, second))
    return NoisyEstimate(value, _share_error(first, second), lower, upper, (OWN_NOISE, ALIKE, NOT_BOTH))


def count_mean(values: ArrayLike, counts: ArrayLike, law: AnyLaw) -> MeanEstimate:
    """Return the mean of a value over persons counted by that value, e.g. age.

    Args:
        values: the value of each category.
        counts: the published count of each category.
        law: the noise distribution of the counts.
    """
    law = transition_matrix(law)
    value, count = np.asarray(values, dtype=np.float64), whole(counts, "counts")
    if value.ndim != 1 or value.shape != count.shape or not np.isfinite(value).all():
        raise ParameterError(
            f"A mean needs one finite value for every count. Values have the shape {value.shape}, counts "
            f"{count.shape}. Give two lists of the same length.",
            parameter="values",
        )
    shown, place = np.unique(count, return_inverse=True)
    variances = np.array([NoisyCount(y, law).noise_variance for y in shown.tolist()])[place]
    total, noise = float(count.sum()), math.sqrt(float(variances.sum()))
    if total <= MIN_TOTAL * noise:
        raise ParameterError(
            f"The counts sum to {total:g} with typical noise of {noise:.1f}; a mean needs a total above {MIN_TOTAL} "
            "times the noise. Use fewer or larger categories.",
            parameter="counts",
        )
    middle = float(value @ count) / total
    apart = value - middle
    clipped = ("few counts are near 0, where negative counts are published as 0",) if law.non_negative else ()
    return MeanEstimate(
        middle,
        math.sqrt(float(apart**2 @ variances)) / total,
        math.sqrt(max(float(apart**2 @ count), 0.0)) / total,
        -float(apart @ variances) / total**2,
        ("counts have independent noise with the given distribution", "normal approximation", ALIKE, *clipped),
    )


def _ratio_quantiles(a: NoisyCount, b: NoisyCount) -> tuple[float, float, float]:
    """Return lower end, median and upper end of a / b, given that not both are 0; infinite for b = 0."""
    possible = 1 - a.empty * b.empty
    if possible <= HAIR:
        raise ParameterError(
            "Both counts are 0, so their ratio and share are undefined. Give a count above 0.", parameter="b"
        )
    positive = b.counts > 0
    counts, chances = b.counts[positive], b.chances[positive] / possible

    def below(values: Floats) -> Ints:
        found: Ints = np.floor(np.multiply.outer(values, counts)).astype(np.int64)
        return found

    levels = np.array([TAIL + HAIR, 0.5 - HAIR, 1 - TAIL - HAIR])
    low, high = np.full(3, -1.0), np.full(3, float(a.counts[-1]))
    while (high - low > 1e-12 * high + 1e-15).any():
        middle = (low + high) / 2
        reached = a.at_most(below(middle)) @ chances >= levels
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    # A quantile is the first ratio of whole numbers above the lower end.
    first = ((below(low) + 1) / counts).min(axis=1, initial=math.inf)
    lower, median, upper = np.where(chances.sum() < levels, math.inf, first).tolist()
    return lower, median, upper


def _ratio_error(a: NoisyCount, b: NoisyCount) -> float:
    """Return the standard deviation of a / b for denominators above 0; a and 1 / b are independent."""
    positive = b.counts > 0
    chances = b.chances[positive] / b.chances[positive].sum()
    first, second = ((chances / b.counts[positive] ** power).sum() for power in (1, 2))
    return math.sqrt(max(float((a.variance + a.mean**2) * second - (a.mean * first) ** 2), 0.0))


def _share_error(a: NoisyCount, b: NoisyCount) -> float:
    """Return the standard deviation of a / (a + b), given that not both are 0."""
    weights, firsts, seconds = (np.zeros(len(b.counts)) for _ in range(3))
    for place, other in enumerate(b.counts.tolist()):
        here = a.counts + other > 0
        shares, chances = a.counts[here] / (a.counts[here] + other), a.chances[here]
        weights[place], firsts[place], seconds[place] = chances.sum(), chances @ shares, chances @ shares**2
    weight = weights @ b.chances
    first, second = firsts @ b.chances / weight, seconds @ b.chances / weight
    return math.sqrt(max(float(second - first**2), 0.0))
