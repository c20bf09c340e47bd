"""The second part, beyond the paper: the same limits against who makes the best of what is published.

The paper's attacker averages representations and waits for an extreme gap. The optimal one takes the best linear
estimate from all published cells, and weighs every gap by its likelihood. Both for every Member State, as it would be
designed for: levels of one category are merged with the total, whose participants and noise they share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.calibration.constraints import OPTIMAL, PAPER, averaging_variance, bound_disclosure_limit, variance_limit
from discreet.calibration.feasible_region import FeasibleRegion
from discreet.paper.paper_inputs import RULES
from discreet.paper.parameter_space_part import MOST_BOUND, RATIOS
from discreet.results import Result
from discreet.risk.averaging import ONE_SIGMA, epsilon_allowed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.paper.paper_inputs import Sources

CALLED = {PAPER: "the paper's attacker", OPTIMAL: "the optimal attacker"}
WIDEST = 60
"""The largest bound that is tried."""
ASSUMED = (
    "counts well above the bound",
    "errors of the estimate close to Gaussian",
    "blocks of equal size where levels are nested",
    "noise independent between cells with different participants",
    "levels of one category merged with the total",
)


@dataclass(frozen=True)
class State:
    """What one Member State needs, under a rule of counting and against an attacker.

    Attributes:
        country: its code.
        rule: of counting levels.
        attacker: `paper` or `optimal`.
        statistic: the most exposed one, with SPSN.
        ratio: its variance in units of V.
        variance: what holds her to 68 %.
        hidden: the largest variance that keeps a bound of 10 hidden.
        bound: the smallest bound that leaves something, None if none up to WIDEST does.
        epsilon: the largest epsilon of a count without SPSN.
        tuples: sets of women, men and total.
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
        """Say whether a bound of 10 or less leaves something."""
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
    """Return, by rule, what the two attackers ask for, in one sentence."""
    told = []
    for rule in RULES:
        rows = {attacker: [row for row in found if (row.rule, row.attacker) == (rule, attacker)] for attacker in CALLED}
        if not rows[PAPER]:
            continue
        needed = {attacker: max(row.variance for row in each) for attacker, each in rows.items()}
        left = {attacker: sum(row.feasible for row in each) for attacker, each in rows.items()}
        told.append(
            f"With the programme counted by the rule {rule}, a variance of {needed[PAPER]:.2f} holds {CALLED[PAPER]} "
            f"to 68 % in every Member State, and {needed[OPTIMAL]:.2f} {CALLED[OPTIMAL]}. With the variance that each "
            f"needs itself, {left[PAPER]} and {left[OPTIMAL]} of {len(rows[PAPER])} can keep a bound of {MOST_BOUND} "
            "or less hidden from them (large counts, Gaussian errors, evenly split categories, levels of one category "
            "merged with the total, and the bound sought in sets of women, men and total)."
        )
    return told


def results(found: Sequence[State]) -> list[Result]:
    """Return, by rule and attacker, what is asked for in all Member States."""
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
        sentence=f"Counted by the rule {rule}, {CALLED[attacker]} is held to 68 % in every Member State by a "
        f"variance of {worst.variance:.2f} ({worst.country}); {least.country} needs {least.variance:.2f}.",
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
        f"States have a variance that resists averaging and keeps a bound of {MOST_BOUND} or less hidden.",
        assumptions=(*ASSUMED, "maximum-entropy noise", "the bound sought in sets of women, men and total"),
        equation="V_averaging <= V_hidden(E), E <= 10",
    )
    lowest = min(rows, key=lambda row: row.epsilon)
    yield Result(
        name=f"epsilon_allowed_{rule}_{attacker}",
        value=lowest.epsilon,
        unit="1",
        sentence=f"Counted by the rule {rule} and with new noise in every table, {CALLED[attacker]} is held to 68 % "
        f"by an epsilon of {lowest.epsilon:.3f} per count in every Member State ({lowest.country} decides).",
        worst=lowest.country,
        assumptions=ASSUMED,
        equation="eps = sqrt(2 / V), V = 1 / (4 z^2 r)",
    )
