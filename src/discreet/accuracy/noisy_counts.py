"""Intervals of differences, ratios, shares and means of published counts with a known noise distribution.

A published count y allows the true counts n with P(y | n) > 0. Under a flat prior on n >= 0 their posterior is

    P(n | y) = P(y | n) / sum over m >= 0 of P(y | m).

Differences, ratios and shares of two counts follow by enumeration. Intervals are posterior quantiles, so they hold for
bounded noise, for zeros without noise and for small counts, where normal intervals do not. Means of many counts are
approximately normal, with the errors of the delta method,

    m = sum(v y) / N,    N = sum(y),    Var(m) = sum((v - m)^2 V) / N^2 + sum(y (v - m)^2) / N^2,

the first term from the noise, the second from the persons, if regarded as a sample (Cochran, "Sampling Techniques",
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
"""The probability that an interval covers."""
TAIL = (1 - CONFIDENCE) / 2
"""The probability on either side of an interval."""
LEAST_TOTAL = 5
"""A mean needs a total of at least so many times its own noise; otherwise the delta method misleads."""
HAIR = 1e-12
"""Less than the probabilities that quantiles are compared with are known to."""

ALIKE = "before publication no true count was likelier than another; single small counts may be covered less often"
OWN_NOISE = "the two counts have independent noises of the law that was given"
NOT_BOTH = "not both counts are 0"


@dataclass(frozen=True)
class NoisyEstimate:
    """A figure computed from published counts, with what the noise leaves open.

    Attributes:
        value: the figure; of a difference, ratio or share the median of what is possible, which for counts beyond the
            reach of the noise is that of the published counts.
        standard_error: its standard error; infinite where the figure is unbounded.
        lower: the lower end of the 95 percent interval.
        upper: its upper end, infinite where a denominator may well be 0.
        assumptions: what must hold for the interval.
    """

    value: float
    standard_error: float
    lower: float
    upper: float
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        if math.isinf(self.upper):
            value = "unbounded" if math.isinf(self.value) else f"{self.value:.4g}"
            return f"{value}, in 19 of 20 cases at least {self.lower:.4g}, without an upper limit"
        return f"{self.value:.4g}, in 19 of 20 cases between {self.lower:.4g} and {self.upper:.4g}"


@dataclass(frozen=True)
class MeanEstimate:
    """The mean of a value over the persons counted.

    Attributes:
        value: the mean.
        noise_error: its standard error from the noise.
        sampling_error: its standard error from the persons, seen as a sample.
        bias: what the noise adds to the mean on average, to second order.
        assumptions: what must hold for the errors.
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
        """Return the interval of the mean of the very persons who were counted: noise alone."""
        return self._normal(self.noise_error)

    @property
    def of_population(self) -> NoisyEstimate:
        """Return the interval of the mean where the persons counted came from: noise and sampling."""
        return self._normal(self.standard_error)

    def _normal(self, error: float) -> NoisyEstimate:
        from scipy.special import ndtri

        half = float(ndtri(1 - TAIL)) * error
        return NoisyEstimate(self.value, error, self.value - half, self.value + half, self.assumptions)


@dataclass(frozen=True)
class NoisyCount:
    """A published count and the law of its noise."""

    published: int
    law: TransitionMatrix

    @cached_property
    def counts(self) -> Ints:
        """Return the true counts that are possible, in rising order."""
        return self._possible[0]

    @cached_property
    def chances(self) -> Floats:
        """Return their probabilities."""
        return self._possible[1]

    @property
    def mean(self) -> float:
        """Return the mean of the true count."""
        return float(self.counts @ self.chances)

    @property
    def variance(self) -> float:
        """Return the variance of the true count."""
        return float((self.counts - self.mean) ** 2 @ self.chances)

    @property
    def noise_variance(self) -> float:
        """Return the variance of the noise, averaged over the true counts that are possible."""
        return float(self.law.variance_of(self.counts) @ self.chances)

    @property
    def empty(self) -> float:
        """Return the probability that the true count is 0."""
        return float(self.chances[0]) if self.counts[0] == 0 else 0.0

    def at_most(self, counts: Ints) -> Floats:
        """Return the probabilities that the true count is at most so many."""
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
                f"No true count is published as {self.published} under this law of noise. Check the count, or give the "
                "law that the counts were published with.",
                parameter="published",
            )
        kept = slice(int(np.argmax(chances > 0)), len(chances) - int(np.argmax(chances[::-1] > 0)))
        return counts[kept], chances[kept] / chances.sum()


def _noisy(published: int, law: AnyLaw) -> NoisyCount:
    """Return a published count with its law, or refuse what is no count."""
    return NoisyCount(int(whole(published, "published")), transition_matrix(law))


def count_difference(a: int, b: int, law: AnyLaw) -> NoisyEstimate:
    """Return a - b of two published counts.

    The value is that of the published counts, unless they lie where only some noises are possible; the standard error
    is sqrt(V_a + V_b).

    >>> from discreet.noise.ptable import PTable
    >>> print(count_difference(120, 100, PTable.max_entropy(variance=2, bound=5)))
    20, in 19 of 20 cases between 16 and 24
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
    """Return a / b of two published counts; without an upper limit where b is 0 with more than 2.5 percent.

    The standard error is that of the ratios with a denominator above 0.

    Args:
        a: the published numerator.
        b: the published denominator, with a noise of its own.
        law: the law of both noises.
    """
    first, second = _noisy(a, law), _noisy(b, law)
    lower, value, upper = _ratio_quantiles(first, second)
    error = math.inf if math.isinf(upper) else _ratio_error(first, second)
    return NoisyEstimate(value, error, lower, upper, (OWN_NOISE, ALIKE, NOT_BOTH))


def count_share(part: int, rest: int, law: AnyLaw) -> NoisyEstimate:
    """Return part / (part + rest) of two published counts; a published total is not the sum of the two.

    Args:
        part: the published count of those with a property.
        rest: the published count of those without it.
        law: the law of both noises.
    """
    first, second = _noisy(part, law), _noisy(rest, law)
    lower, value, upper = (r / (1 + r) if math.isfinite(r) else 1.0 for r in _ratio_quantiles(first, second))
    return NoisyEstimate(value, _share_error(first, second), lower, upper, (OWN_NOISE, ALIKE, NOT_BOTH))


def count_mean(values: ArrayLike, counts: ArrayLike, law: AnyLaw) -> MeanEstimate:
    """Return the mean of a value over persons who are counted by that value, such as age.

    Args:
        values: the value of each category.
        counts: the published count of each category.
        law: the law of their noises.
    """
    law = transition_matrix(law)
    value, count = np.asarray(values, dtype=np.float64), whole(counts, "counts")
    if value.ndim != 1 or value.shape != count.shape or not np.isfinite(value).all():
        raise ParameterError(
            f"A mean needs one finite value for every count: values have the shape {value.shape}, counts "
            f"{count.shape}. Give two lists of the same length.",
            parameter="values",
        )
    shown, place = np.unique(count, return_inverse=True)
    variances = np.array([NoisyCount(y, law).noise_variance for y in shown.tolist()])[place]
    total, noise = float(count.sum()), math.sqrt(float(variances.sum()))
    if total <= LEAST_TOTAL * noise:
        raise ParameterError(
            f"The counts add up to {total:g} with a noise of typically {noise:.1f}; a mean needs at least "
            f"{LEAST_TOTAL} times the noise. Take fewer or larger categories.",
            parameter="counts",
        )
    middle = float(value @ count) / total
    apart = value - middle
    clipped = ("few counts are near 0, where negative ones were published as 0",) if law.non_negative else ()
    return MeanEstimate(
        middle,
        math.sqrt(float(apart**2 @ variances)) / total,
        math.sqrt(max(float(apart**2 @ count), 0.0)) / total,
        -float(apart @ variances) / total**2,
        ("counts have independent noises of the law that was given", "normal approximation", ALIKE, *clipped),
    )


def _ratio_quantiles(a: NoisyCount, b: NoisyCount) -> tuple[float, float, float]:
    """Return the lower end, the median and the upper end of a / b, infinite where b is 0, if not both are 0."""
    possible = 1 - a.empty * b.empty
    if possible <= HAIR:
        raise ParameterError(
            "Both counts are 0, so they have no ratio and no share. Give a count above 0.", parameter="b"
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
    """Return the standard deviation of a / b over denominators above 0: a and 1 / b are independent."""
    positive = b.counts > 0
    chances = b.chances[positive] / b.chances[positive].sum()
    first, second = ((chances / b.counts[positive] ** power).sum() for power in (1, 2))
    return math.sqrt(max(float((a.variance + a.mean**2) * second - (a.mean * first) ** 2), 0.0))


def _share_error(a: NoisyCount, b: NoisyCount) -> float:
    """Return the standard deviation of a / (a + b), if not both are 0."""
    weights, firsts, seconds = (np.zeros(len(b.counts)) for _ in range(3))
    for place, other in enumerate(b.counts.tolist()):
        here = a.counts + other > 0
        shares, chances = a.counts[here] / (a.counts[here] + other), a.chances[here]
        weights[place], firsts[place], seconds[place] = chances.sum(), chances @ shares, chances @ shares**2
    weight = weights @ b.chances
    first, second = firsts @ b.chances / weight, seconds @ b.chances / weight
    return math.sqrt(max(float(second - first**2), 0.0))
