"""Revealing the bound: how many sets of women, men and total give it away, over the plane of variance and bound.

Section 3.2 of the paper and its figure 1; m = ceil(log(1 - alpha) / log(1 - p1)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.uniform import Uniform
from discreet.paper.number_comparison import PROGRAMME, number
from discreet.paper.published import TUPLES
from discreet.paper.sources import COUNTRIES, KEPT, RULES
from discreet.risk.bound import bound_disclosure, disclosure_at, largest_variance

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from discreet.arrays import Floats
    from discreet.paper.number_comparison import Number
    from discreet.paper.sources import Sources

VARIANCES = tuple(0.25 * step for step in range(2, 41))
BOUNDS = tuple(range(1, 16))
GRID_TUPLES = 360_000
"""What the paper says the census grid of Germany adds."""
BOTH_TAILS = "both tails of F + M - T, as in the footnote on uniform noise; the text writes one, which has half"


def numbers(sources: Sources) -> Iterator[Number]:
    """Give the numbers of this part."""
    yield number("uniform-chance", bound_disclosure(Uniform(bound=5), tuples=1).chance, "the formula at E = 5")
    yield number("uniform-variance", Uniform(bound=5).variance, "the formula at E = 5")
    example = bound_disclosure(MaxEntropy(variance=2, bound=5), tuples=TUPLES["DE"])
    yield number("tuples-times-chance", example.needed * example.chance, "-log(1 - alpha), 15 % more than 1")
    yield number("extreme-chance", example.chance, BOTH_TAILS)
    wide = bound_disclosure(MaxEntropy(variance=4, bound=10), tuples=TUPLES["DE"])
    yield number("extreme-expected", wide.chance * wide.tuples, f"p1 = {wide.chance:.1e} times 2.8e7 sets")
    for name, country in zip(("tuples", "tuples-least"), COUNTRIES, strict=True):
        for rule in RULES:
            ours, merged = (sources.tuples(country, rule, keep_single=keep) for keep in (True, False))
            note = f"{country} by the rule {rule}, {KEPT}; the paper's rule is not told and lies between our two"
            apart = f". Without those levels {merged:,}" if merged != ours else ""
            yield number(name, float(ours), note + apart, variant=rule, basis=PROGRAMME)
    yield number("grid-tuples", None, "populated cells of the 1 km2 grid are not in the regulation or our lists")
    yield number("grid-share", 100 * GRID_TUPLES / TUPLES["DE"], "3.6e5 / 2.8e7, both published")
    for country, name in (("DE", "Germany"), ("MT", "Malta")):
        yield number("hidden-from", float(_hidden_from(2.0, TUPLES[country])), _hidden_note(country), variant=name)


def _hidden_from(variance: float, tuples: int) -> int:
    """Return the smallest bound that stays hidden at a variance."""
    for bound in BOUNDS:
        if variance <= Uniform(bound=bound).variance:
            found = bound_disclosure(MaxEntropy(variance=variance, bound=bound), tuples=tuples)
            if not found.inferable:
                return bound
    return BOUNDS[-1] + 1


def _hidden_note(country: str) -> str:
    found = bound_disclosure(MaxEntropy(variance=2, bound=5), tuples=TUPLES[country])
    verdict = "so that 5 is found out" if found.inferable else "so that 5 stays hidden"
    return f"at V = 2, E = 5 it takes {found.needed:,} sets; there are {found.tuples:,} (published), {verdict}"


@dataclass(frozen=True, eq=False)
class BoundMap:
    """Sets needed to find the bound, over the plane of variance and bound.

    Attributes:
        attacker: `gap`, the paper's, or `likelihood`, who weighs every gap.
        variances: the columns.
        bounds: the rows.
        needed: sets by bound and variance; not a number where no law has so large a variance.
        limits: by country, for every bound the largest variance that keeps it hidden.
        tuples: by country, how many sets it publishes.
    """

    attacker: str
    variances: tuple[float, ...]
    bounds: tuple[int, ...]
    needed: Floats
    limits: dict[str, tuple[float, ...]]
    tuples: dict[str, int]


def bound_map(
    attacker: str = "gap",
    *,
    variances: Sequence[float] = VARIANCES,
    bounds: Sequence[int] = BOUNDS,
    tuples: Mapping[str, int] = TUPLES,
) -> BoundMap:
    """Return the map of figure 1, for the paper's attacker or the one who weighs every gap."""
    needed = np.full((len(bounds), len(variances)), np.nan)
    for row, bound in enumerate(bounds):
        for column, variance in enumerate(variances):
            if variance <= Uniform(bound=bound).variance:
                needed[row, column] = disclosure_at(variance, bound, tuples=1, attacker=attacker).needed
    limits = {
        country: tuple(largest_variance(bound, tuples=many, attacker=attacker).value for bound in bounds)
        for country, many in tuples.items()
    }
    return BoundMap(attacker, tuple(variances), tuple(bounds), needed, limits, dict(tuples))
