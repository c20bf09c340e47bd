"""The same limits against the optimal attacker, which the paper does not treat.

The paper's attacker averages representations and waits for an extreme gap. The optimal attacker computes the optimal
linear estimate from all published cells, and the likelihood of all gaps. Both are evaluated for every Member State as
in a design: levels of one category are merged with the total, whose participants and noise they share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.calibration.constraints import OPTIMAL, PAPER, averaging_variance, bound_disclosure_limit, variance_limit
from discreet.calibration.feasible_region import FeasibleRegion
from discreet.paper.paper_inputs import RULES
from discreet.paper.parameter_space_part import MOST_BOUND, RATIOS
from discreet.results import Result
from discreet.risk.averaging import epsilon_allowed
from discreet.verdicts import ONE_SIGMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.paper.paper_inputs import Sources

CALLED = {PAPER: "the paper's attacker", OPTIMAL: "the optimal attacker"}
WIDEST = 60
"""Largest bound of the search."""
ASSUMED = (
    "counts well above the bound",
    "errors of the estimate close to Gaussian",
    "blocks of equal size where levels are nested",
    "noise independent between cells with different participants",
    "levels of one category merged with the total",
)


@dataclass(frozen=True)
class State:
    """The noise that one Member State needs under a rule of counting and an attacker model.

    Attributes:
        country: the code of the Member State.
        rule: the rule of counting levels.
        attacker: `paper` or `optimal`.
        statistic: the most exposed statistic, with SPSN.
        ratio: the variance of its estimate in units of V.
        variance: the variance that limits the attacker to 68 %.
        hidden: the largest variance at which a bound of 10 is not disclosed.
        bound: the smallest feasible bound; None if no bound up to WIDEST is feasible.
        epsilon: the largest epsilon per count without SPSN.
        tuples: the number of sets of women, men and total.
    """

    country: str
    rule: str
    attacker: str
    statistic: str
    ratio: float
    variance: float
    hidden: float
    bound: int | None
    epsilon: float
    tuples: int

    @property
    def feasible(self) -> bool:
        """Return whether a bound of 10 or less is feasible."""
        return self.bound is not None and self.bound <= MOST_BOUND


def states(sources: Sources) -> tuple[State, ...]:
    """Return every Member State under both rules and both attackers."""
    return tuple(
        _state(sources, country, rule, attacker)
        for rule in RULES
        for country in sources.countries
        for attacker in (PAPER, OPTIMAL)
    )


def _state(sources: Sources, country: str, rule: str, attacker: str) -> State:
    worst = sources.smallest(rule, spsn=True, keep_single=False, attacker=RATIOS[attacker], country=country)
    fresh = sources.smallest(rule, spsn=False, keep_single=False, attacker=RATIOS[attacker], country=country)
    tuples = sources.tuples(country, rule, keep_single=False)
    hidden = bound_disclosure_limit({2: tuples}, ONE_SIGMA, attacker)
    averages = averaging_variance(worst.ratio, worst.statistic, ONE_SIGMA, attacker=attacker)
    plane = FeasibleRegion((averages, hidden, variance_limit()), MOST_BOUND)
    return State(
        country,
        rule,
        attacker,
        worst.statistic,
        worst.ratio,
        plane.needed,
        hidden.limit(MOST_BOUND),
        plane.smallest_bound(WIDEST),
        epsilon_allowed(fresh.ratio),
        tuples,
    )


def sentences(found: Sequence[State]) -> list[str]:
    """Return, by rule, the noise needed against the two attackers, in sentences."""
    lines = []
    for rule in RULES:
        rows = {attacker: [row for row in found if (row.rule, row.attacker) == (rule, attacker)] for attacker in CALLED}
        if not rows[PAPER]:
            continue
        needed = {attacker: max(row.variance for row in each) for attacker, each in rows.items()}
        left = {attacker: sum(row.feasible for row in each) for attacker, each in rows.items()}
        lines.append(
            f"With the programme counted by the rule {rule}, a variance of {needed[PAPER]:.2f} limits {CALLED[PAPER]} "
            f"to 68 % in every Member State, and one of {needed[OPTIMAL]:.2f} limits {CALLED[OPTIMAL]}. With the "
            f"variance that each Member State needs itself, {left[PAPER]} and {left[OPTIMAL]} of {len(rows[PAPER])} "
            f"avoid disclosure of a bound of {MOST_BOUND} or less. Assumptions: large counts, Gaussian errors, evenly "
            "split categories, levels of one category merged with the total, and bound disclosure from sets of women, "
            "men and total."
        )
    return lines


def results(found: Sequence[State]) -> list[Result]:
    """Return, by rule and attacker, the noise needed in all Member States."""
    return [result for rule in RULES for attacker in (PAPER, OPTIMAL) for result in _results(found, rule, attacker)]


def _results(found: Sequence[State], rule: str, attacker: str) -> Iterator[Result]:
    rows = [row for row in found if (row.rule, row.attacker) == (rule, attacker)]
    if not rows:
        return
    worst, least = max(rows, key=lambda row: row.variance), min(rows, key=lambda row: row.variance)
    yield Result(
        name=f"variance_needed_{rule}_{attacker}",
        value=worst.variance,
        unit="persons squared",
        sentence=f"Counted by the rule {rule}, a variance of {worst.variance:.2f} ({worst.country}) limits "
        f"{CALLED[attacker]} to 68 % in every Member State; {least.country} needs {least.variance:.2f}.",
        worst=worst.country,
        assumptions=ASSUMED,
        equation="V = 1 / (4 z^2 r)",
    )
    left = [row for row in rows if row.feasible]
    yield Result(
        name=f"feasible_states_{rule}_{attacker}",
        value=float(len(left)),
        unit="Member States",
        sentence=f"Counted by the rule {rule} and against {CALLED[attacker]}, {len(left)} of {len(rows)} Member "
        f"States have a variance that meets both targets, averaging and bound disclosure, at a bound of {MOST_BOUND} "
        "or less.",
        assumptions=(*ASSUMED, "maximum-entropy noise", "bound disclosure from sets of women, men and total"),
        equation="V_averaging <= V_disclosure(E), E <= 10",
    )
    lowest = min(rows, key=lambda row: row.epsilon)
    yield Result(
        name=f"epsilon_allowed_{rule}_{attacker}",
        value=lowest.epsilon,
        unit="1",
        sentence=f"Counted by the rule {rule} and with independent noise in every table, an epsilon of "
        f"{lowest.epsilon:.3f} per count limits {CALLED[attacker]} to 68 % in every Member State ({lowest.country} "
        "decides).",
        worst=lowest.country,
        assumptions=ASSUMED,
        equation="eps = sqrt(2 / V), V = 1 / (4 z^2 r)",
    )
