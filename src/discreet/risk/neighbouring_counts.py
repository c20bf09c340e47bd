"""Pairs of neighbouring counts: the distributions of the published count with and without one person or household.

`Neighbours` defines the two populations that an attacker must not distinguish. A noise distribution gives one pair, the
distribution and its shifted copy. A p-table gives one pair for every two adjacent true counts, because each count has
its own row. The parameters that all measures of epsilon and delta share are declared here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.by_count import noise_by_count
from discreet.noise.distribution import WIDEST, Noise, ProbabilityTable, TabulatedNoise
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.parameters import (
    Domain,
    Parameter,
    non_negative,
    positive,
    positive_whole,
    share,
)
from discreet.noise.ptable import PTable
from discreet.risk.privacy_loss import PrivacyLoss

if TYPE_CHECKING:
    from discreet.noise.by_count import NoiseByCount
    from discreet.noise.rounded import RoundedRow

positive_share = Domain("above 0 and below 1", lambda value: share.contains(value) and value > 0)

EPSILON = Parameter("ε", non_negative, (0.1, 10.0), 0, "log of the largest probability ratio with and without a person")
DELTA = Parameter("δ", share, (1e-10, 1e-3), 0, "probability excluded from the guarantee")
EXCESS = Parameter("δ'", share, (1e-10, 1e-3), 0, "delta above the floor due to the noise bound")
SLACK = Parameter("δ'", positive_share, (1e-10, 1e-3), 0, "delta above the floor due to the noise bound")
BUDGET = Parameter("ε", positive, (0.1, 10.0), 0, "privacy budget of the whole output")
STATISTICS = Parameter("t", positive_whole, (1, 10_000), 0, "published counts that contain one person")
HOUSEHOLD = Parameter("h", positive_whole, (1, 10), 0, "persons who are protected together")
STEP = Parameter("s", positive, (1e-4, 1e-2), 0, "step to whose multiples losses are rounded")


RELATIONS = {"add-remove": 1, "replace-one": 2}
"""The number of changed counts per statistic: a person is added or removed, or moves between cells."""


@dataclass(frozen=True)
class Neighbours:
    """Two populations that differ by one person or by one household.

    With households of h persons, all h may be in one cell of a statistic, which then
    changes by h. Composition uses this case: t changes by h. For every distribution with
    concave log-probability it is worse than h persons in h cells (t h changes by 1): by a
    chain of h steps of one person each, the loss of the product never exceeds that of the
    single change by h.

    Attributes:
        relation: "add-remove" (with and without the person) or "replace-one" (one person or another).
        household: the number of persons protected together.
    """

    relation: str = "add-remove"
    household: int = 1

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise UnknownNameError.among("neighbour relation", self.relation, RELATIONS)
        HOUSEHOLD.check("Neighbours", "household", self.household)

    def counts(self, statistics: int) -> int:
        """Return the number of published counts that change, given the number of statistics that contain one person.

        >>> Neighbours("replace-one").counts(2775)
        5550
        """
        STATISTICS.check("Neighbours", "statistics", statistics)
        return statistics * RELATIONS[self.relation]

    @property
    def protected_unit(self) -> str:
        """Return the protected unit in words."""
        return "one person" if self.household == 1 else f"one household of {self.household}"

    @property
    def assumption(self) -> str:
        """Return the relation as an assumption."""
        change = (
            "added or removed" if self.relation == "add-remove" else "replaced by another, two counts per statistic"
        )
        together = "" if self.household == 1 else ", all its members in one cell of every statistic"
        return f"neighbours: {self.protected_unit} {change}{together}"


ONE_PERSON = Neighbours()
"""One person added or removed."""


Source: TypeAlias = "Noise | NoiseByCount"
"""A noise distribution for every count, or a p-table."""

SMALLEST = 1e-300
"""The smallest tabulated probability of unbounded distributions."""

ANY_COUNT = "counts n and n + 1"


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbouring true counts.

    Attributes:
        name: the two counts in words.
        up: the loss when the larger count is true.
        down: the loss when the smaller count is true.
    """

    name: str
    up: PrivacyLoss
    down: PrivacyLoss

    @property
    def directions(self) -> tuple[PrivacyLoss, PrivacyLoss]:
        """Return the loss in both directions."""
        return self.up, self.down

    @property
    def floor(self) -> float:
        """Return the delta that no epsilon removes in the worse direction."""
        return max(loss.floor for loss in self.directions)

    @property
    def beyond(self) -> float:
        """Return the probability that was not tabulated in the worse direction."""
        return max(loss.beyond for loss in self.directions)

    def delta(self, epsilon: float) -> float:
        """Return delta at epsilon in the worse direction."""
        return max(loss.delta(epsilon) for loss in self.directions)

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon for delta in the worse direction; infinite without a finite one."""
        return max(loss.epsilon(delta) for loss in self.directions)


def pairs(source: Source, key_space: int | None = None) -> tuple[Pair, ...]:
    """Return every pair of neighbouring counts of a noise distribution or a p-table.

    Args:
        source: a noise distribution or a p-table.
        key_space: the number of keys to which the distribution is rounded; None
            for the distribution before rounding.
    """
    noise = noise_by_count(source)
    if isinstance(noise, PTable):
        return tuple(row_pair(noise, count, key_space) for count in range(len(noise.rows)))
    return (law_pair(noise.large, key_space=key_space),)


def row_pair(ptable: PTable, count: int, key_space: int | None = None) -> Pair:
    """Return the pair of true counts `count` and `count + 1`.

    From the last row on, this is the last row against its shifted copy, or
    against the next row of the cycle if large counts use several rows in turn.
    """
    smaller, larger = (
        _table(ptable.rows[number], key_space) for number in ptable.row_numbers([count, count + 1]).tolist()
    )
    return Pair(f"counts {count} and {count + 1}", up=_loss(larger, smaller, -1), down=_loss(smaller, larger, 1))


def law_pair(law: Noise, shift: int = 1, key_space: int | None = None) -> Pair:
    """Return a distribution against its copy shifted by `shift`, for a change of the count by `shift` persons."""
    name = ANY_COUNT if shift == 1 else f"counts n and n + {shift}"
    if key_space is None and isinstance(law, TwoSidedGeometric | Laplace):
        loss = _exponential_loss(law, shift)
        return Pair(name, up=loss, down=loss)
    table = _table(law, key_space)
    # An unbounded distribution is symmetric: both tails beyond the table are equal.
    beyond = 2 * float(law.cdf(table.values[0] - 1)) if key_space is None else 0.0
    other = law if key_space is None else table
    return Pair(name, up=_loss(table, other, -shift, beyond), down=_loss(table, other, shift, beyond))


def _loss(p: ProbabilityTable, q: ProbabilityTable | Noise, shift: int, beyond: float = 0.0) -> PrivacyLoss:
    """Return the loss under p; the true count of q is `shift` above that of p."""
    return PrivacyLoss.between(p.log_probability, q.log_pmf(p.values - shift), beyond)


def _exponential_loss(law: TwoSidedGeometric | Laplace, shift: int) -> PrivacyLoss:
    """Return the loss of a distribution whose probability falls by a constant factor per step on either side of 0.

    All noise values below 0 have the same loss, and so do all values above the
    shift. Merging them gives a finite table without a remainder.
    """
    middle = np.arange(shift + 1)
    tail = np.log(law.cdf([-1, -shift - 1]))
    log_p = np.concatenate([tail[:1], law.log_pmf(middle), tail[1:]])
    log_q = np.concatenate([tail[1:], law.log_pmf(middle - shift), tail[:1]])
    return PrivacyLoss.between(log_p, log_q)


def _table(law: Noise, key_space: int | None) -> ProbabilityTable:
    """Return the values of a distribution and their log-probabilities, before or after rounding to keys."""
    if key_space is not None:
        return _rounded_table(law.rounded(key_space))
    if isinstance(law, TabulatedNoise):
        return law.table
    edge = int(law.bound) if math.isfinite(law.bound) else law.reach(SMALLEST)
    if edge > WIDEST:
        raise ParameterError(
            f"{type(law).__name__} is too wide to assess: values beyond ±{WIDEST} are not tabulated. Use a smaller "
            "scale.",
            parameter="scale",
        )
    values = np.arange(-edge, edge + 1)
    return ProbabilityTable(values, law.log_pmf(values))


def _rounded_table(row: RoundedRow) -> ProbabilityTable:
    law = row.law()
    return ProbabilityTable(np.array(list(law)), np.log([float(share) for share in law.values()]))
