"""What limits the noise: every constraint an object with its formula, so that it can be told, drawn and relaxed.

Bounded noise has two numbers, its variance V and its bound E. Averaging gives V a lower limit, hiding the bound an
upper one that grows with E, and E itself may not be too large for users. Noise without a bound has one, epsilon of a
count: averaging gives it an upper limit, the accuracy of small areas a lower one (Bach 2020, sections on risk, on
demographics at high geographic detail and on upcoming censuses).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.noise.uniform import Uniform
from discreet.risk.averaging import epsilon_allowed, variance_needed
from discreet.risk.bound import disclosure_at, largest_variance
from discreet.utility.accuracy_bound import epsilon_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OPTIMAL, PAPER = "optimal", "paper"
ATTACKERS = (OPTIMAL, PAPER)
"""Who is held off: with everything published at once, or with the averages and extreme gaps of the paper."""
AT_LEAST, AT_MOST = "at least", "at most"
VARIANCE, BOUND, EPSILON = "variance", "bound", "epsilon"
AVERAGING, HIDDEN_BOUND, ROOM = "averaging", "hidden bound", "room"
ACCEPTABLE_BOUND, ACCURATE_AREAS = "acceptable bound", "accurate areas"
PHRASES = {HIDDEN_BOUND: "a hidden bound", ROOM: "its room"}
"""How constraints are called within a sentence, where their name alone does not do."""
WEIGHERS = {PAPER: ("gap",), OPTIMAL: ("gap", "likelihood")}
"""How each attacker looks for the bound."""
COIN = 0.5
"""Telling two bounds apart starts from the toss of a coin: a smaller confidence asks for nothing."""
ACCURATE = 20
"""Persons that no total of an area should be off by, as the paper has it."""
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


def averaging_variance(ratio: float, statistic: str, confidence: float, *, surrogate: bool = False) -> Constraint:
    """Return the least variance at which averaging succeeds no more often than is accepted.

    Args:
        ratio: r, the variance of the attacker's estimate in units of V.
        statistic: what she knows best.
        confidence: the success she may have.
        surrogate: whether r is the closed form for levels that divide evenly.
    """
    needed = variance_needed(ratio, confidence)
    return Constraint(
        AVERAGING,
        VARIANCE,
        AT_LEAST,
        lambda _: needed,
        "V >= 1 / (4 z^2 r), z the normal quantile of (1 + alpha) / 2",
        _held(statistic, confidence),
        _averaging_assumptions("counts well above the bound", surrogate=surrogate),
    )


def hidden_bound(tuples: Mapping[int, int], confidence: float, attacker: str) -> Constraint:
    """Return the largest variance, by bound, at which the bound stays hidden.

    Args:
        tuples: by number of parts, how many sets of parts and their total are published.
        confidence: from which on the bound counts as found.
        attacker: paper or optimal.
    """
    ways = [
        {"tuples": many, "categories": parts, "confidence": confidence, "attacker": how}
        for parts, many in tuples.items()
        # The likelihood first: it is the stronger one almost always, and then the other needs one look.
        for how in reversed(WEIGHERS[attacker])
        if how == "gap" or confidence > COIN
    ]

    def hides(variance: float, bound: int, way: dict[str, object]) -> bool:
        return not disclosure_at(variance, bound, **way).inferable  # type: ignore[arg-type]

    @lru_cache(maxsize=512)
    def limit(bound: int) -> float:
        most = Uniform(bound=bound).variance
        for way in ways:
            if not hides(most, bound, way):
                most = largest_variance(bound, **way).value  # type: ignore[arg-type]
        return most

    def holds(variance: float, bound: int) -> bool:
        return variance <= Uniform(bound=bound).variance and all(hides(variance, bound, way) for way in ways)

    return Constraint(
        HIDDEN_BOUND,
        VARIANCE,
        AT_MOST,
        limit,
        "V with m(V, E) > tuples, m = ceil(log(1 - alpha) / log(1 - p1))"
        + (", and the same for the likelihood of all gaps" if attacker == OPTIMAL else ""),
        f"the bound is found with a confidence below {confidence:.0%}",
        ("maximum-entropy noise", "counts well above the bound", "sets of parts and total independent of each other"),
        holds,
    )


def room() -> Constraint:
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


def averaging_epsilon(ratio: float, statistic: str, confidence: float, *, surrogate: bool = False) -> Constraint:
    """Return the largest epsilon of a count at which averaging succeeds no more often than is accepted."""
    allowed = epsilon_allowed(ratio, confidence)
    return Constraint(
        AVERAGING,
        EPSILON,
        AT_MOST,
        lambda _: allowed,
        "eps <= sqrt(2 / V), V = 1 / (4 z^2 r); at one sigma sqrt(8 r)",
        _held(statistic, confidence),
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


def _held(statistic: str, confidence: float) -> str:
    return (
        f"who combines everything published is right about a count of {statistic} in at most {confidence:.0%} of cases"
    )


def _averaging_assumptions(counts: str, *, surrogate: bool) -> tuple[str, ...]:
    even = ("every level divides evenly; on uneven ones the attacker may know more or less",) if surrogate else ()
    return (counts, "errors of the estimate close to Gaussian", *even)
