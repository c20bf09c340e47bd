"""The distribution of the published count given the true count, and what it implies.

Derived quantities: the bias from publishing negative counts as 0, the posterior of the true count given a published
count under a flat prior, and the shortest range of published counts with a requested probability. The last is computed
for one row of a p-table or for any noise distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.results import Result

if TYPE_CHECKING:
    from discreet.noise.by_count import NoiseByCount, TransitionMatrix
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable import PTable

NEGLIGIBLE = 1e-12
"""Tail probability at which the sum ends."""


def cut_bias(law: Noise | None, count: int) -> float:
    """Return E[max(0, n + X)] - n = sum over m > n of P(X <= -m); 0 without noise.

    >>> from discreet.noise.uniform import Uniform
    >>> cut_bias(Uniform(bound=2), 1)
    0.2
    """
    if law is None:
        return 0.0
    edge = count + 1
    while float(law.cdf(-edge)) > NEGLIGIBLE:
        edge *= 2
    return float(np.sum(law.cdf(-np.arange(count + 1, edge + 1))))


NEARLY_CERTAIN = 0.99
"""A posterior above which a published count discloses its true count."""


def check_disclosure(noise: NoiseByCount, *, plain: bool = False) -> None:
    """Raise an error for noise under which a published count above 0 discloses its true count.

    Args:
        noise: the noise by true count.
        plain: whether plain keys of the p-table's own key space draw the noise, instead of words of 64 bits.
    """
    published, posterior = noise.most_revealing_count(plain=plain)
    if posterior > NEARLY_CERTAIN:
        raise ParameterError(
            f"The {noise.label} does not protect: a published {published} has one true count with probability "
            f"{posterior:.4g} under a flat prior (limit: {NEARLY_CERTAIN}). Choose more noise, or give "
            "--allow-disclosure to publish nonetheless.",
            parameter="allow_disclosure",
        )


def posteriors_of_one(ptable: PTable, least: int = 1) -> dict[int, float]:
    """Return P(true 1 | published y) by published y from `least` on, under a flat prior.

    P(1 | y) = p(1 -> y) / sum_i p(i -> y), the sum over all true counts i.
    """
    bound = ptable.bound
    change = np.arange(-bound, bound + 1)
    chances = np.stack([row.pmf(change) for row in ptable.rows])
    found = {}
    for y in (1 + value for value in ptable.rows[1].table.values.tolist() if 1 + value >= least):
        counts = np.arange(max(y - bound, 0), y + bound + 1)
        reaching = chances[ptable.row_numbers(counts), y - counts + bound]
        if reaching.sum() > 0:
            found[y] = float(reaching[counts == 1][0] / reaching.sum())
    return found


def posterior_of_one(ptable: PTable) -> Result | None:
    """Return the largest posterior of a true 1 as a result; None if a true 1 is never published as 1 or more."""
    posteriors = posteriors_of_one(ptable, least=0)
    shown = {y: posterior for y, posterior in posteriors.items() if y >= 1}
    if not shown:
        return None
    published, posterior = max(shown.items(), key=lambda item: item[1])
    zero = f" P(true = 1 given published = 0) = {posteriors[0]:.3f}." if posteriors.get(0, 0) > 0 else ""
    return Result(
        name="posterior_of_one",
        equation="P(1 | y) = p(1 -> y) / sum_i p(i -> y)",
        value=posterior,
        unit="1",
        sentence=f"P(true = 1 given published = {published}) = {posterior:.3f} under a flat prior, the maximum over "
        f"published counts above 0.{zero}",
        worst=f"published {published}",
        assumptions=(
            "flat prior: every true count equally likely",
            "maximum over published counts from 1 on",
            "the attacker uses this one count and no margin",
            "noise distribution before rounding to keys",
        ),
    )


USUAL = 0.95
"""The default probability of a range: 19 of 20."""


@dataclass(frozen=True)
class PublishedRange:
    """The range of published counts of one true count with a requested probability.

    Attributes:
        count: the true count.
        low: the smallest published count of the range.
        high: the largest published count of the range.
        probability: the probability that the published count lies in the range.
        share: the requested probability.
    """

    count: int
    low: int
    high: int
    probability: float
    share: float

    @property
    def share_words(self) -> str:
        """Return the requested probability in words, as in `19 of 20`."""
        share = Fraction(self.share).limit_denominator(100)
        return f"{share.numerator} of {share.denominator}"

    @property
    def words(self) -> str:
        """Return the probability of the range in words, as in `at least 19 of 20 cases (0.959)`."""
        return f"at least {self.share_words} cases ({self.probability:.3f})"

    def result(self) -> Result:
        """Return the range as a result."""
        where = str(self.low) if self.low == self.high else f"{self.low} to {self.high}"
        return Result(
            name="published_range",
            equation="shortest [a, b] with sum of p(v) over a <= i + v <= b of at least the share",
            value=self.probability,
            unit="1",
            sentence=f"A count of {self.count} is published as {where} in {self.words}.",
            assumptions=("noise distribution before rounding to keys",),
        )


def published_range(ptable: PTable, count: int, share: float = USUAL) -> PublishedRange:
    """Return the shortest range of published counts with at least this probability; among several the likeliest.

    >>> from discreet.noise.ptable import PTable
    >>> published_range(PTable.max_entropy(variance=3, bound=5), 12).result().sentence
    'A count of 12 is published as 9 to 15 in at least 19 of 20 cases (0.959).'
    """
    if not 0 < share < 1:
        raise ParameterError.outside("published_range", "share", share, "between 0 and 1", "0.5 to 0.99")
    row = ptable.rows[int(ptable.row_numbers([count])[0])]
    values = np.arange(row.table.values.min(), row.table.values.max() + 1)
    total = np.concatenate([[0.0], np.cumsum(row.pmf(values))])
    for width in range(1, len(values) + 1):
        within = total[width:] - total[:-width]
        start = int(within.argmax())
        if within[start] >= share or width == len(values):
            break
    low = count + int(values[start])
    return PublishedRange(count, low, low + width - 1, min(float(within[start]), 1.0), share)


RAREST = 1e-4
"""Published counts at the ends with a smaller probability are omitted."""
EQUALLY = 1e-9
"""Tolerance below which probabilities count as equal."""


@dataclass(frozen=True)
class PublishedCounts:
    """The distribution of the published count for one true count.

    Attributes:
        usual: the shortest range with the requested probability; if two are equally likely, their union.
        published: the published counts, except rare ones at the ends.
        chances: the probability of each.
        stays: the probability that the count is unchanged.
        lost: the probability that 0 or less is published.
    """

    usual: PublishedRange
    published: tuple[int, ...]
    chances: tuple[float, ...]
    stays: float
    lost: float


def published_counts(law: TransitionMatrix, count: int, share: float = USUAL) -> PublishedCounts:
    """Return the distribution of the published count for a true count.

    >>> from discreet.noise.by_count import transition_matrix
    >>> from discreet.noise.ptable import PTable
    >>> published_counts(transition_matrix(PTable.max_entropy(variance=3, bound=5)), 12).usual.result().sentence
    'A count of 12 is published as 9 to 15 in at least 19 of 20 cases (0.959).'
    """
    values = np.arange(count - law.reach, count + law.reach + 1)
    chances = law.chance(np.full(len(values), count), values)
    total = np.concatenate([[0.0], np.cumsum(chances)])
    low, high, within = _shortest(total, share)
    usual = PublishedRange(count, int(values[low]), int(values[high]), min(within, 1.0), share)
    there = np.flatnonzero(chances >= RAREST)
    shown = slice(int(there[0]), int(there[-1]) + 1)
    return PublishedCounts(
        usual,
        tuple(values[shown].tolist()),
        tuple(chances[shown].tolist()),
        float(chances[values == count].sum()),
        float(chances[values <= 0].sum()),
    )


def _shortest(total: np.ndarray, share: float) -> tuple[int, int, float]:
    """Return the first and the last position of the shortest range with a probability; ties are merged.

    A symmetric distribution therefore has a symmetric range.
    """
    for width in range(1, len(total)):
        within = total[width:] - total[:-width]
        if within.max() >= share:
            break
    likeliest = np.flatnonzero(within >= within.max() - EQUALLY)
    low, high = int(likeliest[0]), int(likeliest[-1]) + width - 1
    return low, high, float(total[high + 1] - total[low])
