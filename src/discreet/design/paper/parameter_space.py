"""The parameter space: what all constraints leave of variance, bound and epsilon, read strictly and with some slack.

Sections 4.3 and 5 of the paper and its figure 6. Strictly, every Member State must be safe: the smallest k / t^2, the
sets of Germany, the areas of France. Relaxed, the constraint of the most favourable country is taken instead: the
paper's yellow regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.design.constraints import (
    OPTIMAL,
    PAPER,
    acceptable_bound,
    accurate_areas,
    averaging_epsilon,
    averaging_variance,
    hidden_bound,
    room,
)
from discreet.design.paper.numbers import PROGRAMME, number
from discreet.design.paper.published import LAUS, NEXT_FRESH, SHARED, SMALLEST, SMALLEST_FRESH, TUPLES
from discreet.design.paper.sources import COUNTRIES, RULES
from discreet.design.region import Allowed, Plane, allowed
from discreet.equations.closed_form import success
from discreet.risk.averaging import ONE_SIGMA
from discreet.utility.accuracy_bound import epsilon_needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.design.constraints import Constraint
    from discreet.design.paper.numbers import Number
    from discreet.design.paper.sources import Sources

MOST_BOUND = 10
"""The largest bound that the paper takes users to accept."""
STRICT, RELAXED = "strict", "relaxed"
PUBLISHED_INPUTS = "published"
WORST = "the worst statistic"
ROUNDED_SIGMA = 0.68
"""The confidence of the paper's constraint on areas."""
RATIOS = {PAPER: "greedy", OPTIMAL: "optimal"}
"""By attacker, the ratios she reaches."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One reading of all constraints.

    Attributes:
        name: `strict` or `relaxed`.
        ratio: the ratio of averaging with SPSN.
        tuples: sets of women, men and total.
        fresh: the ratio of averaging without SPSN.
        country: whose areas are to be accurate.
        attacker: who looks for the bound.
    """

    name: str
    ratio: float
    tuples: int
    fresh: float
    country: str
    attacker: str = PAPER

    @property
    def basis(self) -> str:
        """Return the inputs in words."""
        sets = "Germany's" if self.name == STRICT else "Malta's"
        return f"ratio {self.ratio:.4g} and {sets} {self.tuples:,} sets"

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """Return all constraints: on variance, bound and epsilon."""
        return (
            averaging_variance(self.ratio, WORST, ONE_SIGMA),
            hidden_bound({2: self.tuples}, ONE_SIGMA, self.attacker),
            room(),
            acceptable_bound(MOST_BOUND),
            averaging_epsilon(self.fresh, WORST, ONE_SIGMA),
            accurate_areas(LAUS[self.country], ROUNDED_SIGMA),
        )

    @cached_property
    def plane(self) -> Plane:
        """Return what is left of variance and bound."""
        return Plane(tuple(each for each in self.constraints if each.about != "epsilon"), MOST_BOUND)

    @property
    def line(self) -> Allowed:
        """Return what is left of epsilon."""
        return allowed(self.constraints, "epsilon")

    def limits(self, name: str) -> tuple[float, ...]:
        """Return what one constraint on the variance gives, for every acceptable bound."""
        limit = next(each.limit for each in self.constraints if (each.name, each.about) == (name, "variance"))
        return tuple(limit(row.bound) for row in self.plane.rows)

    def errors(self, epsilons: Sequence[float]) -> tuple[float, ...]:
        """Return the error that no total exceeds, log(t / (1 - alpha)) / epsilon."""
        return tuple(epsilon_needed(epsilon, LAUS[self.country], ROUNDED_SIGMA) for epsilon in epsilons)


@dataclass(frozen=True, eq=False)
class Space:
    """The parameter space under one attacker.

    Attributes:
        inputs: `published`, or the rule by which the programme was counted.
        attacker: who is held off.
        strict: every Member State is safe.
        relaxed: the most favourable constraint of each kind.
    """

    inputs: str
    attacker: str
    strict: Reading
    relaxed: Reading


def numbers(sources: Sources) -> Iterator[Number]:
    """Give the numbers of this part."""
    space = published_space()
    strict, relaxed = space.strict, space.relaxed
    yield number("band-least", strict.line.high, "sqrt(8 x 0.0118), above which the worst count is averaged away")
    yield number("band-most", relaxed.line.high, "sqrt(8 x 0.0170), the next smallest ratio")
    low = strict.plane.needed
    yield number("variance-range", low, f"strictly from {low:.2f} on (0.0867)")
    right = success(2, SMALLEST)
    note = (
        f"averaging asks for {low:.2f}: at V = 2 the worst count is right in {right:.1%} of cases instead of 68 %, "
        "which is the paper's relaxed reading"
    )
    yield number("least-variance", low, note)
    yield from _least_bounds(space)
    yield number("window-least", relaxed.line.low, "log(68 / 0.32) / 20, Malta; France needs 0.58")
    yield number("window-most", relaxed.line.high, "sqrt(8 x 0.0170), the next smallest ratio; the smallest gives 0.31")
    note = f"middle of {relaxed.line.low:.3f} (Malta) and {strict.line.high:.3f} (smallest ratio)"
    yield number("window-middle", (relaxed.line.low + strict.line.high) / 2, note)
    for rule in RULES:
        own = programme_space(sources, rule, PAPER)
        yield from _own(own, rule)


def _least_bounds(space: Space) -> Iterator[Number]:
    for reading, variant in ((space.strict, "strict"), (space.relaxed, "relaxed")):
        first = reading.plane.feasible[0]
        note = f"{reading.basis}: variances of {first.low:.2f} to {first.high:.2f} are left at E = {first.bound}"
        yield number("least-bound", float(first.bound), note, variant=variant)


def _own(space: Space, rule: str) -> Iterator[Number]:
    plane, note = space.strict.plane, f"rule {rule}: {space.strict.basis}"
    first = plane.smallest_bound()
    yield number("variance-range", plane.needed, note, variant=rule, basis=PROGRAMME)
    yield number("least-bound", None if first is None else float(first), note, variant=rule, basis=PROGRAMME)
    note = f"rule {rule}: sqrt(8 x {space.strict.fresh:.4f}), the smallest ratio without SPSN"
    yield number("window-most", space.strict.line.high, note, variant=rule, basis=PROGRAMME)


def published_space() -> Space:
    """Return figure 6 from the published ratios, sets and areas."""
    return Space(
        PUBLISHED_INPUTS,
        PAPER,
        Reading(STRICT, SMALLEST, TUPLES["DE"], SMALLEST_FRESH, "France"),
        Reading(RELAXED, SHARED, TUPLES["MT"], NEXT_FRESH, "Malta"),
    )


def programme_space(sources: Sources, rule: str, attacker: str) -> Space:
    """Return the same for the programme as it is, under a rule of counting and an attacker."""
    kind = RATIOS[attacker]

    def most_exposed(*, spsn: bool) -> list[float]:
        return sorted(
            sources.smallest(rule, spsn=spsn, attacker=kind, country=country).ratio for country in sources.countries
        )

    shared, fresh = most_exposed(spsn=True), most_exposed(spsn=False)
    tuples = [sources.tuples(country, rule) for country in COUNTRIES]
    return Space(
        rule,
        attacker,
        Reading(STRICT, shared[0], tuples[0], fresh[0], "France", attacker),
        Reading(RELAXED, shared[-1], tuples[1], fresh[-1], "Malta", attacker),
    )
