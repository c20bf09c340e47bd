"""The parameter space: the feasible variance, bound and epsilon under a strict and a relaxed reading.

Sections 4.3 and 5 of the paper and its figure 6. In the strict reading the constraints hold for every Member State: the
smallest k / t^2, the sets of Germany, the areas of France. In the relaxed reading the constraint of the most favourable
country is used instead: the paper's yellow regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.accuracy.expected_accuracy import epsilon_needed
from discreet.calibration.constraints import (
    ACCURATE,
    OPTIMAL,
    PAPER,
    acceptable_bound,
    accurate_areas,
    averaging_epsilon,
    averaging_variance,
    bound_disclosure_limit,
    variance_limit,
)
from discreet.calibration.feasible_region import AllowedRange, FeasibleRegion, allowed_range
from discreet.equations.closed_form import success
from discreet.paper.number_comparison import PROGRAMME, number
from discreet.paper.paper_inputs import COUNTRIES, KEPT, RULES
from discreet.paper.published_numbers import LAUS, NEXT_FRESH, SHARED, SMALLEST, SMALLEST_FRESH, TUPLES
from discreet.risk.averaging import epsilon_allowed
from discreet.verdicts import ONE_SIGMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.calibration.constraints import Constraint
    from discreet.paper.number_comparison import NumberComparison
    from discreet.paper.paper_inputs import Sources

MOST_BOUND = 10
"""The largest bound that users accept according to the paper."""
STRICT, RELAXED = "strict", "relaxed"
PUBLISHED_INPUTS = "published"
WORST = "the worst statistic"
ROUNDED_SIGMA = 0.68
"""The confidence of the paper's constraint on areas."""
MANY_AREAS = 1000
"""A number of areas that most countries exceed, according to the paper."""
RATIOS = {PAPER: "greedy", OPTIMAL: "optimal"}
"""The ratios of each attacker."""


@dataclass(frozen=True, eq=False)
class ConstraintReading:
    """One reading of all constraints.

    Attributes:
        name: `strict` or `relaxed`.
        ratio: the ratio of averaging with SPSN.
        tuples: the number of sets of women, men and total.
        fresh: the ratio of averaging without SPSN.
        country: the country whose areas have to be accurate.
        attacker: the attacker model.
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
            averaging_variance(self.ratio, WORST, ONE_SIGMA, attacker=self.attacker),
            bound_disclosure_limit({2: self.tuples}, ONE_SIGMA, self.attacker),
            variance_limit(),
            acceptable_bound(MOST_BOUND),
            averaging_epsilon(self.fresh, WORST, ONE_SIGMA, attacker=self.attacker),
            accurate_areas(LAUS[self.country], ROUNDED_SIGMA),
        )

    @cached_property
    def plane(self) -> FeasibleRegion:
        """Return the feasible region of variance and bound."""
        return FeasibleRegion(tuple(each for each in self.constraints if each.about != "epsilon"), MOST_BOUND)

    @property
    def line(self) -> AllowedRange:
        """Return the feasible range of epsilon."""
        return allowed_range(self.constraints, "epsilon")

    def limits(self, name: str) -> tuple[float, ...]:
        """Return the limit of one constraint on the variance for every acceptable bound."""
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
        attacker: the attacker model.
        strict: the reading in which the constraints hold for every Member State.
        relaxed: the reading with the most favourable constraint of each kind.
    """

    inputs: str
    attacker: str
    strict: ConstraintReading
    relaxed: ConstraintReading


def numbers(sources: Sources) -> Iterator[NumberComparison]:
    """Yield the numbers of this part."""
    space = published_space()
    yield from _band(space)
    yield from _least_variances(space)
    yield from _least_bounds(space)
    yield from _window(space)
    for rule in RULES:
        yield from _own(sources, rule)


def _band(space: Space) -> Iterator[NumberComparison]:
    """Yield both ends as derived in the paper: averaging from 0.3 on, distorted areas up to 0.4."""
    note = f"sqrt(8 x {SMALLEST_FRESH}), above which averaging exceeds 68 %: the same limit as in section 3.3"
    yield number("band-least", space.strict.line.high, note)
    needed = epsilon_needed(ACCURATE, MANY_AREAS, ROUNDED_SIGMA)
    note = f"log({MANY_AREAS:,} / 0.32) / {ACCURATE}, below which most countries are distorted, as in section 4.3"
    yield number("band-most", needed, note)


def _least_variances(space: Space) -> Iterator[NumberComparison]:
    low = space.strict.plane.needed
    yield number("variance-range", low, f"strict reading: variances from {low:.2f} on are feasible (ratio {SMALLEST})")
    right = success(2, SMALLEST)
    note = (
        f"strict reading: averaging needs {low:.2f}; at V = 2 the most exposed count is recovered in {right:.1%} of "
        f"cases instead of 68 %. Relaxed reading (ratio {SHARED}): {space.relaxed.plane.needed:.2f}"
    )
    yield number("least-variance", low, note)


def _window(space: Space) -> Iterator[NumberComparison]:
    """Yield the yellow band and its middle."""
    strict, (low, high) = space.strict.line, (space.relaxed.line.low, space.relaxed.line.high)
    yield number("window-least", low, f"log(68 / 0.32) / {ACCURATE}, Malta; France needs {strict.low:.2f}")
    note = f"sqrt(8 x {NEXT_FRESH:.4f}), the next smallest ratio; the smallest gives {strict.high:.2f}"
    yield number("window-most", high, note)
    note = f"the middle of {low:.3f} and {high:.3f}, both relaxed; the strict reading has no feasible epsilon"
    yield number("window-middle", (low + high) / 2, note)


def _least_bounds(space: Space) -> Iterator[NumberComparison]:
    for reading, variant in ((space.strict, "strict"), (space.relaxed, "relaxed")):
        first = reading.plane.feasible[0]
        note = f"{reading.basis}: variances of {first.low:.2f} to {first.high:.2f} are feasible at E = {first.bound}"
        yield number("least-bound", float(first.bound), note, variant=variant)


def _own(sources: Sources, rule: str) -> Iterator[NumberComparison]:
    strict = programme_space(sources, rule, PAPER, keep_single=True).strict
    note = f"rule {rule}, {KEPT}: {strict.basis}, strict reading"
    first = strict.plane.smallest_bound()
    yield number("variance-range", strict.plane.needed, note, variant=rule, basis=PROGRAMME)
    yield number("least-bound", None if first is None else float(first), note, variant=rule, basis=PROGRAMME)
    found = sources.next_smallest(rule, spsn=False)
    note = (
        f"rule {rule}, {KEPT}: sqrt(8 x {found.ratio:.4f}), the next smallest ratio without SPSN, {found.statistic} of "
        f"{found.country}"
    )
    yield number("window-most", epsilon_allowed(found.ratio), note, variant=rule, basis=PROGRAMME)


def published_space() -> Space:
    """Return figure 6 from the published ratios, sets and areas."""
    return Space(
        PUBLISHED_INPUTS,
        PAPER,
        ConstraintReading(STRICT, SMALLEST, TUPLES["DE"], SMALLEST_FRESH, "France"),
        ConstraintReading(RELAXED, SHARED, TUPLES["MT"], NEXT_FRESH, "Malta"),
    )


def programme_space(sources: Sources, rule: str, attacker: str, *, keep_single: bool) -> Space:
    """Return the parameter space of the counted programme under a rule of counting and an attacker model.

    Args:
        sources: the programmes.
        rule: the rule of counting levels.
        attacker: `paper` or `optimal`.
        keep_single: whether levels of one category are kept.
    """
    kind = RATIOS[attacker]

    def most_exposed(*, spsn: bool) -> list[float]:
        return sorted(
            sources.smallest(rule, spsn=spsn, keep_single=keep_single, attacker=kind, country=country).ratio
            for country in sources.countries
        )

    shared, fresh = most_exposed(spsn=True), most_exposed(spsn=False)
    tuples = [sources.tuples(country, rule, keep_single=keep_single) for country in COUNTRIES]
    return Space(
        rule,
        attacker,
        ConstraintReading(STRICT, shared[0], tuples[0], fresh[0], "France", attacker),
        ConstraintReading(RELAXED, shared[-1], tuples[1], fresh[-1], "Malta", attacker),
    )
