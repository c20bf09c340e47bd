"""Constraints on the noise. Each constraint is an object with its formula that can be reported, drawn and relaxed.

Bounded noise has two parameters, its variance V and its bound E. Averaging sets a lower limit on V. Bound disclosure
sets an upper limit on V that grows with E. The accuracy that users accept limits E. Unbounded noise has one parameter,
epsilon per count: averaging sets its upper limit, the accuracy of small areas its lower limit (Bach 2020, sections on
risk, on demographics at high geographic detail and on upcoming censuses).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from discreet.accuracy.expected_accuracy import epsilon_needed
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.uniform import Uniform
from discreet.results import Result
from discreet.risk.averaging import epsilon_allowed, variance_needed
from discreet.risk.bound_disclosure import (
    EXTREME,
    GAP,
    LIKELIHOOD,
    MIN_CONFIDENCE,
    combined_confidence,
    disclosures_at,
    largest_satisfying,
)
from discreet.risk.residual_bound import PREDICTED, rivals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.risk.residual_bound import NoiseTerms

OPTIMAL, PAPER = "optimal", "paper"
ATTACKERS = (OPTIMAL, PAPER)
"""Attacker models: the optimal one uses all published counts, the paper's one uses its averages and extreme gaps."""
AT_LEAST, AT_MOST = "at least", "at most"
VARIANCE, BOUND, EPSILON = "variance", "bound", "epsilon"
UNITS = {VARIANCE: "persons squared", BOUND: "persons", EPSILON: "1"}
AVERAGING, AS_PUBLISHED, BOUND_DISCLOSURE, ROOM = "averaging", "as published", "bound disclosure", "room"
ACCEPTABLE_BOUND, ACCURATE_AREAS = "acceptable bound", "accurate areas"
AVERAGES = {OPTIMAL: "the optimal linear attack", PAPER: "the paper's averaging attack"}
"""The averaging attack of each attacker model."""
ACCURATE = 20
"""Largest accepted error of the total of an area in persons, as in the paper."""
ABOVE_BOUND, GAUSSIAN = "counts well above the bound", "errors of the estimate close to Gaussian"
"""Assumptions of the averaging attacks."""
NARROW, WIDE = 0.05, 1e4
"""Smallest and largest sigma of the search for a discrete Gaussian distribution."""
SLACK = 1e-9
"""Relative tolerance on a limit found by bisection."""


@dataclass(frozen=True, eq=False)
class Constraint:
    """One constraint on the noise.

    Attributes:
        name: a short name.
        about: the constrained parameter: `variance`, `bound` or `epsilon`.
        side: `at least` or `at most`.
        limit: the limit as a function of the bound.
        formula: the equation.
        reason: the effect of the constraint, as a clause.
        assumptions: the conditions under which the limit is valid.
        holds: whether a value at a bound satisfies the constraint; given where this is faster than the limit.
    """

    name: str
    about: str
    side: str
    limit: Callable[[int], float]
    formula: str
    reason: str
    assumptions: tuple[str, ...] = ()
    holds: Callable[[float, int], bool] | None = None

    def allows(self, value: float, bound: int = 0) -> bool:
        """Return whether a variance, a bound or an epsilon satisfies the constraint."""
        if self.holds is not None:
            return self.holds(value, bound)
        edge = self.limit(bound)
        return value >= edge * (1 - SLACK) if self.side == AT_LEAST else value <= edge * (1 + SLACK)

    def result(self, bound: int) -> Result:
        """Return the limit at a bound as a result."""
        value = self.limit(bound)
        where = f" at bound {bound}" if self.limit(1) != self.limit(2) else ""
        return Result(
            name=f"{self.name.replace(' ', '_')}_{self.about}",
            value=value,
            unit=UNITS[self.about],
            sentence=f"{self.name.capitalize()}: {self.about} {self.side} {value:.4g}{where}, so that {self.reason}.",
            assumptions=self.assumptions,
            equation=self.formula,
        )


def averaging_variance(
    ratio: float, statistic: str, confidence: float, *, attacker: str = OPTIMAL, surrogate: bool = False
) -> Constraint:
    """Return the minimum variance at which averaging meets the target.

    Args:
        ratio: r, the variance of the attacker's estimate in units of V.
        statistic: the most exposed statistic.
        confidence: the target: the largest accepted success rate of the attacker.
        attacker: the attacker model of the estimate.
        surrogate: whether r is the closed form for levels that divide evenly.
    """
    needed = variance_needed(ratio, confidence)
    return Constraint(
        AVERAGING,
        VARIANCE,
        AT_LEAST,
        lambda _: needed,
        "V >= 1 / (4 z^2 r), z the normal quantile of (1 + alpha) / 2",
        _averaging_reason(statistic, confidence, attacker),
        _averaging_assumptions(ABOVE_BOUND, surrogate=surrogate),
    )


def as_published(confidence: float) -> Constraint:
    """Return the minimum variance at which the share of counts published unchanged meets the target.

    For noise with few values the Gaussian limit of averaging is too weak: an attacker who reads a published count as
    the true count is correct with probability P(x = 0). Among maximum-entropy distributions of a given variance, the
    unbounded one (the discrete Gaussian) has the largest P(x = 0). Its limit therefore applies to every bound.
    """
    needed = _variance_unread(confidence)
    return Constraint(
        AS_PUBLISHED,
        VARIANCE,
        AT_LEAST,
        lambda _: needed,
        "V with P(x = 0) <= alpha",
        f"a count is published unchanged in at most {confidence:.0%} of cases",
        ("maximum-entropy noise", "counts above the bound; smaller counts are unchanged more or less often"),
    )


@lru_cache(maxsize=64)
def _variance_unread(confidence: float) -> float:
    """Return the variance of the discrete Gaussian distribution with a given P(x = 0)."""
    low, high = NARROW, WIDE
    while high / low > 1 + SLACK:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if DiscreteGaussian(sigma=middle).pmf(0) > confidence else (low, middle)
    return DiscreteGaussian(sigma=high).variance


def bound_disclosure_limit(
    tuples: Mapping[int, int], confidence: float, attacker: str, terms: NoiseTerms | None = None
) -> Constraint:
    """Return the largest variance, by bound, at which the probability of bound disclosure is below the target.

    Args:
        tuples: by number of parts, the number of published sets of parts with their total.
        confidence: the target: the probability at which the bound counts as disclosed.
        attacker: `paper` or `optimal`.
        terms: the noise terms that the residuals of all published counts disclose; None if the optimal attacker uses
            only the sets.
    """
    sure = {GAP: confidence, LIKELIHOOD: max(confidence, MIN_CONFIDENCE)}
    ways = (GAP, LIKELIHOOD) if attacker == OPTIMAL else (GAP,)
    residuals = terms if attacker == OPTIMAL else None

    def hides(variance: float, bound: int) -> bool:
        if residuals is not None:
            return residuals.success(*rivals(variance, bound)) < sure[LIKELIHOOD]
        found = (disclosures_at(variance, bound, tuples, confidence=confidence, attacker=how) for how in ways)
        return all(combined_confidence(each) < sure[how] for how, each in zip(ways, found, strict=True))

    @lru_cache(maxsize=512)
    def limit(bound: int) -> float:
        if residuals is not None:
            return residuals.largest_variance(bound, sure[LIKELIHOOD])
        return largest_satisfying(partial(hides, bound=bound), Uniform(bound=bound).variance)

    def holds(variance: float, bound: int) -> bool:
        return variance <= Uniform(bound=bound).variance and hides(variance, bound)

    formula = EXTREME.replace(",", " < alpha,", 1)
    counted: tuple[str, ...] = ("mutually independent sets of 2 to 4 parts with their total",)
    if residuals is not None:
        formula, counted = PREDICTED.replace(",", " < alpha,", 1), residuals.assumptions
    elif attacker == OPTIMAL:
        formula += "; (1 + sqrt(1 - prod (1 - H^2)^(2 sets))) / 2 < alpha for all gaps"
    return Constraint(
        BOUND_DISCLOSURE,
        VARIANCE,
        AT_MOST,
        limit,
        formula,
        f"the bound is identified with a probability below {sure[ways[-1]]:.3g}",
        ("maximum-entropy noise", ABOVE_BOUND, *counted),
        holds,
    )


def variance_limit() -> Constraint:
    """Return the largest variance of a distribution with a given bound."""
    return Constraint(
        ROOM,
        VARIANCE,
        AT_MOST,
        lambda bound: Uniform(bound=bound).variance,
        "V <= E (E + 1) / 3",
        "the variance does not exceed that of the uniform distribution on -E .. E",
    )


def acceptable_bound(largest: int) -> Constraint:
    """Return the largest bound that users accept."""
    return Constraint(
        ACCEPTABLE_BOUND,
        BOUND,
        AT_MOST,
        lambda _: float(largest),
        "E <= E_max",
        f"no published count differs from its true count by more than {largest}",
    )


def averaging_epsilon(
    ratio: float, statistic: str, confidence: float, *, attacker: str = OPTIMAL, surrogate: bool = False
) -> Constraint:
    """Return the largest epsilon per count at which averaging meets the target."""
    allowed = epsilon_allowed(ratio, confidence)
    return Constraint(
        AVERAGING,
        EPSILON,
        AT_MOST,
        lambda _: allowed,
        "eps <= sqrt(2 / V), V = 1 / (4 z^2 r); at one sigma sqrt(8 r)",
        _averaging_reason(statistic, confidence, attacker),
        (
            "every table has independent noise",
            *_averaging_assumptions("counts well above the noise", surrogate=surrogate),
        ),
    )


def accurate_areas(areas: int, confidence: float, within: float = ACCURATE) -> Constraint:
    """Return the minimum epsilon per count at which the totals of all areas are accurate.

    Args:
        areas: the number of areas.
        confidence: the probability that all totals are accurate.
        within: the largest accepted error of a total, in persons.
    """
    needed = epsilon_needed(within, areas, confidence)
    return Constraint(
        ACCURATE_AREAS,
        EPSILON,
        AT_LEAST,
        lambda _: needed,
        "eps >= log(t / (1 - alpha)) / E_alpha",
        f"the totals of all {areas:,} areas have an error of at most {within:g}, with probability {confidence:.0%}",
        ("a union bound over the areas", "one noise term per total"),
    )


def _averaging_reason(statistic: str, confidence: float, attacker: str) -> str:
    return f"{AVERAGES[attacker]} recovers counts of {statistic} exactly in at most {confidence:.0%} of cases"


def _averaging_assumptions(counts: str, *, surrogate: bool) -> tuple[str, ...]:
    even = ("every level divides evenly; the attack on uneven levels may be stronger or weaker",) if surrogate else ()
    return (counts, GAUSSIAN, *even)
