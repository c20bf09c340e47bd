"""Test of independence of a two-way table with noisy counts.

Pearson's statistic is the sum of (y - m)^2 / m with m = row total x column total / total. It assumes that the variance
of a count y equals its mean m. A published count varies more: noise is added to a random true count n,

    E[y] = mu + E[bias(n)],    Var(y) = E[Var(y | n)] + Var(E[y | n]),    n a Poisson count of mean mu.

Var(y) is mu + V if every count has noise of variance V. Only small counts have separate noise distributions, so the
sums over n are short. The noise-aware test fits the model of independence mu_ij = exp(a_i + b_j) with these moments and
compares

    sum of (y - E[y])^2 / Var(y)

with the chi-square distribution of (r - 1)(c - 1) degrees of freedom. The fit is by iteratively reweighted least
squares. It has the same large-sample distribution as the exact minimum of the statistic, and without noise it is
Pearson's test. For small expected counts the chi-square distribution is only approximate; the bootstrap draws tables
from the fitted model instead.

Rinott, O'Keefe, Shlomo and Skinner, "Confidentiality and Differential Privacy in the Dissemination of Frequency Tables"
(2018), and Wang, Lee and Kifer, "Revisiting differentially private hypothesis tests for categorical data" (2015), show
the error of the naive test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import whole
from discreet.errors import ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.arrays import Flags, Floats, Ints
    from discreet.noise.by_count import AnyLaw, TransitionMatrix

CHUNK = 1 << 20
"""The number of probabilities processed together."""


@dataclass(frozen=True, eq=False)
class PublishedMoments:
    """Mean and variance of a published count whose true count is Poisson.

    Attributes:
        bias: E[y | n] - n - shift of the true counts n = 0, 1, ...; 0 for larger counts.
        extra: Var(y | n) - large of these counts.
        large: Var(y | n) of larger counts.
        shift: E[y | n] - n of larger counts.
    """

    bias: Floats
    extra: Floats
    large: float
    shift: float = 0.0

    @classmethod
    def of(cls, law: TransitionMatrix) -> PublishedMoments:
        """Return the moments of a noise distribution; alternating rows of large counts are averaged."""
        last = max(len(law.laws), law.reach if law.non_negative else 0)
        # The alternation of rows averages out if Poisson counts spread over many true counts.
        last += 4 * law.repeat**2 if law.repeat > 1 else 0
        counts = np.arange(last + law.repeat, dtype=np.float64)
        bias, variance = _bias_and_variance(law, counts)
        shift, large = float(bias[last:].mean()), float(variance[last:].mean())
        return cls(bias[:last] - shift, variance[:last] - large, large, shift)

    def at(self, means: Floats) -> tuple[Floats, Floats, Floats]:
        """Return mean and variance of the published count, and the derivative of its mean by log mu, for means mu."""
        from scipy.special import gammaln, xlogy

        first, cross, second, extra = (np.zeros_like(means) for _ in range(4))
        most = means.max(initial=0.0)
        # Larger Poisson counts have a negligible probability.
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


def _bias_and_variance(law: TransitionMatrix, counts: Floats) -> tuple[Floats, Floats]:
    """Return E[y | n] - n and Var(y | n) of true counts, in batches."""
    noise = np.arange(-law.reach, law.reach + 1, dtype=np.float64)
    laws = np.stack(law.laws)
    found = np.empty((2, len(counts)))
    size = max(CHUNK // len(noise), 1)
    for start in range(0, len(counts), size):
        part = slice(start, start + size)
        chances = laws[law.rows(counts[part].astype(np.int64))]
        # The deviation of the published from the true count; published counts may be truncated at 0.
        away = np.maximum(noise, -counts[part, None]) if law.non_negative else noise
        first = (chances * away).sum(axis=1)
        found[:, part] = first, (chances * away**2).sum(axis=1) - first**2
    return found[0], found[1]


ROUNDS = 200
"""The largest number of iterations of a fit; usually a few suffice."""
CLOSE = 1e-8
"""The change of the logarithms of the means below which a fit has converged."""
LONGEST_STEP = 1.0
"""The largest change of a logarithm per iteration, which prevents overshooting."""
FARTHEST = 7.0
"""The largest total change of a logarithm; rows whose best mean is 0 stop here."""
RIDGE = 1e-9
"""A small ridge on the diagonal, because the constant shared by rows and columns is not identified."""

POISSON = "true counts are Poisson, or persons belong to cells independently of each other"
LARGE = (
    "expected counts are not small (about 5 or more), and noise with heavy tails does not exceed them; otherwise the "
    "test rejects slightly too often: use the bootstrap"
)
EXACT = "the test ignores the noise of the counts"
NOISE = "every count has independent noise with the given distribution"
MODEL = "the fitted table of independent rows and columns is close to the true one"


@dataclass(frozen=True)
class IndependenceTest:
    """A test of independence of rows and columns.

    Attributes:
        name: the name of the test.
        statistic: the test statistic.
        degrees: the degrees of freedom, (r - 1)(c - 1) for the r rows and c columns used.
        p_value: the probability of this or a larger statistic if rows and columns are independent.
        left_out: the number of rows and columns excluded because their counts sum to 0 or less.
        assumptions: the assumptions of the p-value.
    """

    name: str
    statistic: float
    degrees: int
    p_value: float
    left_out: int
    assumptions: tuple[str, ...]

    def result(self) -> Result:
        """Return the p-value with its sentence."""
        left_out = f" Excluded rows and columns with a sum of 0 or less: {self.left_out}." if self.left_out else ""
        return Result(
            name=f"independence_{self.name}",
            value=self.p_value,
            unit="1",
            sentence=f"If rows and columns were independent, a chi-square statistic of {self.statistic:.2f} or more on "
            f"{self.degrees} degrees of freedom would have probability {self.p_value:.3g}.{left_out}",
            assumptions=self.assumptions,
            equation="sum of (y - E[y])^2 / Var(y)",
        )


@dataclass(frozen=True)
class IndependenceBeforeAfter:
    """The test of the true counts, and the two tests available to a user of the published counts."""

    before: IndependenceTest
    naive: IndependenceTest
    aware: IndependenceTest

    def results(self) -> list[Result]:
        """Return the three p-values."""
        return [self.before.result(), self.naive.result(), self.aware.result()]


def pearson(counts: ArrayLike) -> IndependenceTest:
    """Return Pearson's test of a two-way table, ignoring noise; negative counts are set to 0.

    >>> test = pearson([[10, 20], [30, 40]])
    >>> round(test.statistic, 4), test.degrees, round(test.p_value, 4)
    (0.7937, 1, 0.373)
    """
    table = two_way(counts)
    negatives = int((table < 0).sum())
    taken = (f"negative counts set to 0: {negatives:,}",) if negatives else ()
    return _chi_square_test("naive", pearson_statistics(table[None]), (EXACT, *taken, POISSON, LARGE))


def noise_aware(published: ArrayLike, law: AnyLaw) -> IndependenceTest:
    """Return the test that accounts for the noise of the published counts; negative counts are used unchanged.

    Args:
        published: rows and columns of published counts, without totals.
        law: the noise distribution by true count.
    """
    table = two_way(published)
    return _chi_square_test(
        "noise_aware", noise_aware_statistics(table[None], transition_matrix(law)), (NOISE, POISSON, LARGE)
    )


def bootstrapped(published: ArrayLike, law: AnyLaw, *, seed: int, tables: int = 999) -> IndependenceTest:
    """Return the noise-aware test with a p-value that does not depend on the chi-square distribution.

    Tables are drawn from the fitted model of independence and perturbed. The p-value is
    (1 + tables at least as far from independence) / (1 + tables). The distance from independence is measured by the
    chi-square p-value (Beran's prepivoting, 1988): a drawn table may have empty rows, therefore fewer degrees of
    freedom and a smaller statistic. Comparing the statistics alone would reject too often.

    Args:
        published: rows and columns of published counts, without totals.
        law: the noise distribution by true count.
        seed: the seed of the random numbers.
        tables: the number of tables to draw.
    """
    if tables < 1:
        raise ParameterError.outside("bootstrap", "tables", tables, "1 or more", "999 to 9999")
    table, law = two_way(published), transition_matrix(law)
    random = np.random.default_rng(seed)
    found = noise_aware_statistics(table[None], law)
    _refuse_flat(found)
    drawn = law.publish(random.poisson(np.broadcast_to(found.means[0], (tables, *table.shape))), random)
    # The fits of equal tables may differ in the last digits.
    as_far = int((noise_aware_statistics(drawn, law).p_values <= found.p_values[0] + CLOSE).sum())
    return IndependenceTest(
        "bootstrap",
        float(found.statistic[0]),
        int(found.degrees[0]),
        (1 + as_far) / (1 + tables),
        _left_out(found),
        (NOISE, POISSON, MODEL),
    )


def independence(true: ArrayLike, published: ArrayLike, law: AnyLaw) -> IndependenceBeforeAfter:
    """Return the tests before and after noise; the first one is confidential."""
    before, after = two_way(true), two_way(published)
    if before.shape != after.shape:
        raise ParameterError(
            f"The published table has {after.shape[0]} rows and {after.shape[1]} columns, the true one "
            f"{before.shape[0]} and {before.shape[1]}. Give both with the same rows and columns.",
            parameter="published",
        )
    return IndependenceBeforeAfter(
        _chi_square_test("true", pearson_statistics(before[None]), (POISSON, LARGE)),
        pearson(after),
        noise_aware(after, law),
    )


def two_way(counts: ArrayLike) -> Ints:
    """Return counts as a two-way table of whole numbers; error messages never show a count."""
    try:
        table = whole(counts, "counts")
    except ValueError as error:
        raise ParameterError(
            "The rows of the two-way table have different lengths. Set cells without a count to 0.",
            parameter="counts",
        ) from error
    if table.ndim != 2 or not table.size:
        raise ParameterError(
            f"A two-way table has rows and columns, but the given shape is {table.shape}. Give a list of rows.",
            parameter="counts",
        )
    return table


@dataclass(frozen=True, eq=False)
class Statistics:
    """Test statistics of many tables; the first axis is the table.

    Attributes:
        statistic: the test statistic by table.
        degrees: the degrees of freedom by table; 0 with fewer than two non-empty rows or columns.
        means: the fitted true means; 0 in excluded rows and columns.
        rows: whether each row is used, by table.
        columns: whether each column is used, by table.
    """

    statistic: Floats
    degrees: Ints
    means: Floats
    rows: Flags
    columns: Flags

    @property
    def p_values(self) -> Floats:
        """Return the chi-square p-values; 1 for 0 degrees of freedom."""
        from scipy.special import chdtrc

        found: Floats = np.where(self.degrees > 0, chdtrc(np.maximum(self.degrees, 1), self.statistic), 1.0)
        return found


def pearson_statistics(tables: Ints) -> Statistics:
    """Return Pearson's statistic of many tables; negative counts are set to 0, empty rows and columns excluded."""
    counts = np.maximum(tables, 0).astype(np.float64)
    rows, columns = _used(counts)
    means = _products(counts, rows, columns)
    statistic = _over(((counts - means) ** 2), means).sum(axis=(1, 2))
    return Statistics(statistic, _degrees(rows, columns), means, rows, columns)


def noise_aware_statistics(tables: Ints, law: TransitionMatrix) -> Statistics:
    """Return the noise-aware statistic of many tables."""
    counts = tables.astype(np.float64)
    rows, columns = _used(counts)
    used = rows[:, :, None] & columns[:, None, :]
    moments = PublishedMoments.of(law)
    means = _fit(counts, used, _products(counts, rows, columns), moments)
    mean, variance, _ = moments.at(means)
    statistic = _over(np.where(used, (counts - mean) ** 2, 0.0), variance).sum(axis=(1, 2))
    return Statistics(statistic, _degrees(rows, columns), np.where(used, means, 0.0), rows, columns)


def _chi_square_test(name: str, found: Statistics, assumptions: tuple[str, ...]) -> IndependenceTest:
    _refuse_flat(found)
    return IndependenceTest(
        name,
        float(found.statistic[0]),
        int(found.degrees[0]),
        float(found.p_values[0]),
        _left_out(found),
        assumptions,
    )


def _refuse_flat(found: Statistics) -> None:
    """Raise ParameterError if the first table cannot be tested."""
    if not found.rows.any():
        raise ParameterError(
            "The table has no persons and cannot be tested. Give a table whose counts sum to more than 0.",
            parameter="counts",
        )
    if not found.degrees[0]:
        raise ParameterError(
            "The table has fewer than two non-empty rows or columns and cannot be tested for independence. "
            "Choose a table with more categories.",
            parameter="counts",
        )


def _left_out(found: Statistics) -> int:
    return int((~found.rows[0]).sum() + (~found.columns[0]).sum())


def _used(counts: Floats) -> tuple[Flags, Flags]:
    """Return the rows and columns whose counts sum to more than 0 over the columns and rows used."""
    rows, columns = np.ones(counts.shape[:2], dtype=bool), np.ones((counts.shape[0], counts.shape[2]), dtype=bool)
    while True:
        kept_rows = rows & (np.einsum("tij,tj->ti", counts, columns) > 0)
        kept_columns = columns & (np.einsum("tij,ti->tj", counts, kept_rows) > 0)
        if (kept_rows == rows).all() and (kept_columns == columns).all():
            return rows, columns
        rows, columns = kept_rows, kept_columns


def _products(counts: Floats, rows: Flags, columns: Flags) -> Floats:
    """Return row total x column total / total over the rows and columns used; 0 elsewhere."""
    of_rows = np.einsum("tij,tj->ti", counts, columns) * rows
    of_columns = np.einsum("tij,ti->tj", counts, rows) * columns
    total = of_rows.sum(axis=1)
    return _over(of_rows[:, :, None] * of_columns[:, None, :], total[:, None, None])


def _degrees(rows: Flags, columns: Flags) -> Ints:
    found: Ints = np.maximum(rows.sum(axis=1) - 1, 0) * np.maximum(columns.sum(axis=1) - 1, 0)
    return found


def _over(numerator: Floats, denominator: Floats) -> Floats:
    """Return a quotient; 0 where the denominator is 0."""
    found: Floats = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    return found


def _fit(counts: Floats, used: Flags, start: Floats, moments: PublishedMoments) -> Floats:
    """Return the means exp(a_i + b_j) that solve the weighted equations by table; 1 in unused cells."""
    first = np.log(np.where(used, start, 1.0))
    change = np.zeros((len(counts), sum(counts.shape[1:])))
    moving = np.arange(len(counts))
    for _ in range(ROUNDS):
        if not len(moving):
            break
        means = np.exp(first[moving] + _spread(change[moving], counts.shape))
        step = _step(counts[moving], used[moving], means, moments)
        new = np.clip(change[moving] + np.clip(step, -LONGEST_STEP, LONGEST_STEP), -FARTHEST, FARTHEST)
        moved = np.abs(new - change[moving]).max(axis=1)
        change[moving] = new
        moving = moving[moved > CLOSE]
    found: Floats = np.where(used, np.exp(first + _spread(change, counts.shape)), 1.0)
    return found


def _spread(change: Floats, shape: tuple[int, ...]) -> Floats:
    """Return a_i + b_j, given one row of a_i and b_j per table."""
    return change[:, : shape[1], None] + change[:, None, shape[1] :]


def _step(counts: Floats, used: Flags, means: Floats, moments: PublishedMoments) -> Floats:
    """Return one step of Fisher scoring for all a_i and b_j."""
    mean, variance, slope = moments.at(means)
    weight = np.where(used, _over(slope**2, variance), 0.0)
    pull = np.where(used, _over(slope * (counts - mean), variance), 0.0)
    rows, columns = weight.sum(axis=2), weight.sum(axis=1)
    diagonal = np.concatenate([rows, columns], axis=1)
    size = diagonal.shape[1]
    matrix = np.zeros((len(counts), size, size))
    matrix[:, : rows.shape[1], rows.shape[1] :] = weight
    matrix[:, rows.shape[1] :, : rows.shape[1]] = weight.transpose(0, 2, 1)
    ridge = RIDGE * (diagonal.max(axis=1, keepdims=True) + 1)
    matrix[:, np.arange(size), np.arange(size)] = diagonal + ridge
    towards = np.concatenate([pull.sum(axis=2), pull.sum(axis=1)], axis=1)
    found: Floats = np.linalg.solve(matrix, towards[:, :, None])[:, :, 0]
    return found
