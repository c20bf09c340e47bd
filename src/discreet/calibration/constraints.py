"""What limits the noise: every constraint an object with its formula, so that it can be told, drawn and relaxed.

Bounded noise has two numbers, its variance V and its bound E. Averaging gives V a lower limit, hiding the bound an
upper one that grows with E, and E itself may not be too large for users. Noise without a bound has one, epsilon of a
count: averaging gives it an upper limit, the accuracy of small areas a lower one (Bach 2020, sections on risk, on
demographics at high geographic detail and on upcoming censuses).
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
    LEAST_SURE,
    LIKELIHOOD,
    disclosures_at,
    largest_holding,
    reached_together,
)
from discreet.risk.residual_bound import PREDICTED, rivals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.risk.residual_bound import NoiseTerms

OPTIMAL, PAPER = "optimal", "paper"
ATTACKERS = (OPTIMAL, PAPER)
"""Who is held off: with everything published at once, or with the averages and extreme gaps of the paper."""
AT_LEAST, AT_MOST = "at least", "at most"
VARIANCE, BOUND, EPSILON = "variance", "bound", "epsilon"
UNITS = {VARIANCE: "persons squared", BOUND: "persons", EPSILON: "1"}
AVERAGING, AS_PUBLISHED, HIDDEN_BOUND, ROOM = "averaging", "as published", "hidden bound", "room"
ACCEPTABLE_BOUND, ACCURATE_AREAS = "acceptable bound", "accurate areas"
AVERAGES = {OPTIMAL: "combines everything published", PAPER: "takes the paper's averages"}
"""How each attacker combines what is published."""
ACCURATE = 20
"""Persons that no total of an area should be off by, as the paper has it."""
ABOVE_BOUND, GAUSSIAN = "counts well above the bound", "errors of the estimate close to Gaussian"
"""What averaging is taken to have."""
NARROW, WIDE = 0.05, 1e4
"""Sigmas between which a discrete Gaussian law is looked for."""
SLACK = 1e-9
"""Relative error of a limit that is found by bisection."""


@dataclass(frozen=True, eq=False)
class Constraint:
    """One limit of the noise.

    Attributes:
        name: a short name.
        about: `variance`, `bound` or `epsilon`.
        side: `at least` or `at most`.
        limit: by bound, the limit; the same for every bound where it does not depend on it.
        formula: the equation.
        reason: what it is for, in words.
        assumptions: what must be true for it to hold.
        holds: whether a value at a bound keeps the constraint, where that is quicker to say than the limit.
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
        """Say whether a variance, a bound or an epsilon keeps the constraint."""
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
    """Return the least variance at which averaging succeeds no more often than is accepted.

    Args:
        ratio: r, the variance of the attacker's estimate in units of V.
        statistic: what she knows best.
        confidence: the success she may have.
        attacker: whose estimate it is.
        surrogate: whether r is the closed form for levels that divide evenly.
    """
    needed = variance_needed(ratio, confidence)
    return Constraint(
        AVERAGING,
        VARIANCE,
        AT_LEAST,
        lambda _: needed,
        "V >= 1 / (4 z^2 r), z the normal quantile of (1 + alpha) / 2",
        _held(statistic, confidence, attacker),
        _averaging_assumptions(ABOVE_BOUND, surrogate=surrogate),
    )


def as_published(confidence: float) -> Constraint:
    """Return the least variance at which a count is published as it is no more often than is accepted.

    For noise of a few values the Gaussian limit of averaging says too little: who just reads a count is right with
    P(x = 0). Of all laws with a variance the one with most entropy and no bound, the discrete Gaussian, has the largest
    P(x = 0) of those with most entropy, so that its limit serves every bound.
    """
    needed = _variance_unread(confidence)
    return Constraint(
        AS_PUBLISHED,
        VARIANCE,
        AT_LEAST,
        lambda _: needed,
        "V with P(x = 0) <= alpha",
        f"a count is published as it is in at most {confidence:.0%} of cases",
        ("maximum-entropy noise", "counts above the bound; smaller ones are published as they are more or less often"),
    )


@lru_cache(maxsize=64)
def _variance_unread(confidence: float) -> float:
    """Return the variance of the discrete Gaussian law that leaves a count as it is with a probability."""
    low, high = NARROW, WIDE
    while high / low > 1 + SLACK:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if DiscreteGaussian(sigma=middle).pmf(0) > confidence else (low, middle)
    return DiscreteGaussian(sigma=high).variance


def bound_disclosure_limit(
    tuples: Mapping[int, int], confidence: float, attacker: str, terms: NoiseTerms | None = None
) -> Constraint:
    """Return the largest variance, by bound, at which an attacker identifies the bound less often than is accepted.

    Args:
        tuples: by number of parts, how many sets of parts and their total are published.
        confidence: from which on the bound counts as found.
        attacker: paper or optimal.
        terms: what the residuals of all published counts reveal; without it the optimal attacker has the sets alone.
    """
    sure = {GAP: confidence, LIKELIHOOD: max(confidence, LEAST_SURE)}
    ways = (GAP, LIKELIHOOD) if attacker == OPTIMAL else (GAP,)
    residuals = terms if attacker == OPTIMAL else None

    def hides(variance: float, bound: int) -> bool:
        if residuals is not None:
            return residuals.success(*rivals(variance, bound)) < sure[LIKELIHOOD]
        found = (disclosures_at(variance, bound, tuples, confidence=confidence, attacker=how) for how in ways)
        return all(reached_together(each) < sure[how] for how, each in zip(ways, found, strict=True))

    @lru_cache(maxsize=512)
    def limit(bound: int) -> float:
        if residuals is not None:
            return residuals.largest_variance(bound, sure[LIKELIHOOD])
        return largest_holding(partial(hides, bound=bound), Uniform(bound=bound).variance)

    def holds(variance: float, bound: int) -> bool:
        return variance <= Uniform(bound=bound).variance and hides(variance, bound)

    formula = EXTREME.replace(",", " < alpha,", 1)
    counted: tuple[str, ...] = ("sets of 2 to 4 parts and total, independent of each other",)
    if residuals is not None:
        formula, counted = PREDICTED.replace(",", " < alpha,", 1), residuals.assumptions
    elif attacker == OPTIMAL:
        formula += "; (1 + sqrt(1 - prod (1 - H^2)^(2 sets))) / 2 < alpha for all gaps"
    return Constraint(
        HIDDEN_BOUND,
        VARIANCE,
        AT_MOST,
        limit,
        formula,
        f"the bound is identified with a probability below {sure[ways[-1]]:.3g}",
        ("maximum-entropy noise", ABOVE_BOUND, *counted),
        holds,
    )


def variance_limit() -> Constraint:
    """Return the largest variance that a bound leaves room for."""
    return Constraint(
        ROOM,
        VARIANCE,
        AT_MOST,
        lambda bound: Uniform(bound=bound).variance,
        "V <= E (E + 1) / 3",
        "the noise fits the bound, all noises being equally likely at most",
    )


def acceptable_bound(largest: int) -> Constraint:
    """Return the largest bound that users accept."""
    return Constraint(
        ACCEPTABLE_BOUND,
        BOUND,
        AT_MOST,
        lambda _: float(largest),
        "E <= E_max",
        f"no count is off by more than {largest}",
    )


def averaging_epsilon(
    ratio: float, statistic: str, confidence: float, *, attacker: str = OPTIMAL, surrogate: bool = False
) -> Constraint:
    """Return the largest epsilon of a count at which averaging succeeds no more often than is accepted."""
    allowed = epsilon_allowed(ratio, confidence)
    return Constraint(
        AVERAGING,
        EPSILON,
        AT_MOST,
        lambda _: allowed,
        "eps <= sqrt(2 / V), V = 1 / (4 z^2 r); at one sigma sqrt(8 r)",
        _held(statistic, confidence, attacker),
        (
            "every table has noise of its own",
            *_averaging_assumptions("counts well above the noise", surrogate=surrogate),
        ),
    )


def accurate_areas(areas: int, confidence: float, within: float = ACCURATE) -> Constraint:
    """Return the least epsilon of a count with which no total of an area is far off.

    Args:
        areas: how many there are.
        confidence: of all being accurate.
        within: persons that a total may be off.
    """
    needed = epsilon_needed(within, areas, confidence)
    return Constraint(
        ACCURATE_AREAS,
        EPSILON,
        AT_LEAST,
        lambda _: needed,
        "eps >= log(t / (1 - alpha)) / E_alpha",
        f"no total of {areas:,} areas is more than {within:g} off, at a confidence of {confidence:.0%}",
        ("a union bound over the areas", "one noise per total"),
    )


def _held(statistic: str, confidence: float, attacker: str) -> str:
    who = f"who {AVERAGES[attacker]} is right about a count of {statistic}"
    return f"{who} in at most {confidence:.0%} of cases"


def _averaging_assumptions(counts: str, *, surrogate: bool) -> tuple[str, ...]:
    even = ("every level divides evenly; on uneven ones the attacker may know more or less",) if surrogate else ()
    return (counts, GAUSSIAN, *even)
