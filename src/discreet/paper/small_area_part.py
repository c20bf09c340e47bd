"""Numbers of the paper on small areas.

The accuracy of small areas: epsilon that keeps all totals of t areas within E, log(t / (1 - alpha)) / E.

Equation (16) of the paper, section 4.2, and its figure 5.

The largest of many areas to which something rare happens: how large it will be in most draws of the noise.

Each area has its own chance. That the largest one is no larger than s has the probability that it happens to none
above s, the product of their 1 - p; no draw is needed.

Demographics at high geographic detail: how unbounded noise distorts women, men and residents of small areas.

Section 4.2 of the paper and its figures 3 and 4. The paper has the census of 2011; a list of all local administrative
units (LAUs) of the EU-28 with totals stands in for it here, the sexes drawn. What the paper counts in its one draw of
noise stands beside what is expected over all draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.distortion import LIMITS, SMALL, WIDTH, ExpectedNumber, Tails, no_less_than
from discreet.accuracy.expected_accuracy import ONE_SIGMA, epsilon_needed, exact_epsilon_needed
from discreet.accuracy.small_areas import figure, small_areas
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.paper.number_comparison import AREAS, DRAW, number
from discreet.paper.published_numbers import LAUS, NAMED, PUBLISHED, US_EPSILON, slug
from discreet.programme.eu2021.census import countries, member_states

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.accuracy.area_counts import AreaCounts
    from discreet.accuracy.distortion import Sides
    from discreet.arrays import Flags, Floats, Ints
    from discreet.paper.number_comparison import NumberComparison
    from discreet.paper.number_comparison import NumberComparison as PaperNumber
    from discreet.paper.paper_inputs import Sources

ACCURATE = 20
"""Persons that no total should be off by."""
EDITION = "lau2_2010"
"""Units of 2010, which the census of 2011 had."""


def accuracy_numbers(_sources: Sources) -> Iterator[NumberComparison]:
    """Give the numbers of this part."""
    listed = countries()
    for name, country in (("laus-france", "FR"), ("laus-malta", "MT")):
        now = int(listed[country]["lau_2020"])
        note = f"units of 2010, which the census of 2011 had; of 2020 there are {now:,}"
        yield number(name, float(listed[country][EDITION]), note, basis=AREAS)
    yield _needed("epsilon-large", LAUS["France"], "France")
    yield _needed("epsilon-large", int(listed["DE"][EDITION]), "Germany", "The paper names Germany beside France.")
    yield _needed("epsilon-small", LAUS["Malta"], "Malta")
    yield _needed("epsilon-1000", 1000, "")


def _needed(name: str, areas: int, variant: str, more: str = "") -> NumberComparison:
    exact = exact_epsilon_needed(ACCURATE, areas)
    note = f"{areas:,} areas, a union bound over them; {exact:.3f} suffices if their noises are independent"
    return number(name, epsilon_needed(ACCURATE, areas), f"{note}. {more}".rstrip(". "), variant=variant)


@dataclass(frozen=True, eq=False)
class AccuracyCurves:
    """The least epsilon by the error that no total may exceed.

    Attributes:
        errors: E.
        areas: by name, how many t.
        epsilon: by name, for every error.
        accurate: for E = 20, the least epsilon by name.
        confidence: alpha.
    """

    errors: Floats
    areas: dict[str, int]
    epsilon: dict[str, Floats]
    accurate: dict[str, float]
    confidence: float


def accuracy_curves() -> AccuracyCurves:
    """Return figure 5."""
    errors = np.geomspace(1, 200, 93)
    curves = {
        name: np.array([epsilon_needed(error, areas) for error in errors.tolist()]) for name, areas in LAUS.items()
    }
    accurate = {name: epsilon_needed(ACCURATE, areas) for name, areas in LAUS.items()}
    return AccuracyCurves(errors, dict(LAUS), curves, accurate, ONE_SIGMA)


@dataclass(frozen=True)
class Largest:
    """The size of the largest area that is struck.

    Attributes:
        median: half of all draws have a larger one.
        low: 39 of 40 draws have a larger one or one of this size.
        high: one of 40 draws has a larger one or one of this size.
    """

    median: int
    low: int
    high: int


def largest(sizes: Ints, chances: Floats) -> Largest:
    """Return how large the largest struck area is, over all draws of independent noises.

    >>> largest(np.array([100, 10]), np.array([0.6, 1.0]))
    Largest(median=100, low=10, high=100)
    """
    order = np.argsort(-sizes, kind="stable")
    with np.errstate(divide="ignore"):
        none = np.exp(np.cumsum(np.log1p(-chances[order])))
    struck = 1 - none

    def reached(share: float) -> int:
        place = min(int(np.searchsorted(struck, share)), len(order) - 1)
        return int(sizes[order[place]])

    return Largest(reached(0.5), reached(0.975), reached(0.025))


LOW, MIDDLE, HIGH = 0.025, 0.1, 0.4
"""The epsilons of figure 4."""
LIST = "edition 2016 of Eurostat's list with populations of 2013 to 2017; the paper has the census of 2011"
MILLION = 1_000_000
TINY = 10
ONE_DRAW = "the paper's is one draw on the census of 2011, ours what is expected over all draws on our list"
WITHIN = 2.0
"""Standard errors within which 19 of 20 draws lie."""
BIN = (61, 80)
PUBLISHED_IN_BIN = 11_680
TAIL_ERRORS = (20, 50, 100)
CIDAMON = (15, 20)
"""Women and men of Cidamón, as printed."""


@dataclass(frozen=True)
class Question:
    """Which sizes are off by how much.

    Attributes:
        name: of the published number.
        epsilon: of each count.
        relative: the error, in shares of the count.
        least: the smallest size.
        most: the largest size.
        broadband: whether women, men and total must be off the same way, and not one count alone.
        down: whether only counts that are too low are meant.
        more: what else is to be said.
    """

    name: str
    epsilon: float
    relative: float
    least: int
    most: float = math.inf
    broadband: bool = False
    down: bool = False
    more: str = ""

    def chances(self, areas: AreaCounts) -> tuple[Ints, Floats]:
        """Return sizes and chances of what it is about."""
        counts = areas.counts
        if self.broadband:
            there = (counts > 0).all(axis=0) & self._sized(areas.total)
            sizes, sides = areas.total[there], self._sides(counts[:, there]).together()
        else:
            sizes = counts[self._sized(counts)]
            sides = self._sides(sizes)
        return sizes, sides.down if self.down else sides.either

    def expected(self, areas: AreaCounts) -> ExpectedNumber:
        """Return the expected number over all draws, with its standard error."""
        return ExpectedNumber.of(self.chances(areas)[1])

    def _sides(self, true: Ints) -> Sides:
        return tails(self.epsilon).reaching(true, no_less_than(true, self.relative))

    def _sized(self, sizes: Ints) -> Flags:
        found: Flags = (sizes >= max(self.least, 1)) & (sizes <= self.most)
        return found


ABOVE_100 = Question(
    "off-above-100",
    LOW,
    1,
    101,
    more="The paper has 5 % more counts in the bin that it tells, which explains part of it.",
)
QUESTIONS = (
    Question("bin-drawn", MIDDLE, 0.5, *BIN),
    ABOVE_100,
    Question("off-above-200", LOW, 1, 201),
    Question("off-above-40", MIDDLE, 1, 41),
    Question("off-above-60", MIDDLE, 1, 61),
    Question("broadband-above-40", LOW, 1, 41, broadband=True, down=True),
    Question("broadband-above-80", LOW, 1, 81, broadband=True, down=True),
    Question("broadband-above-20", MIDDLE, 1, 21, broadband=True),
    Question(
        "broadband-from-100",
        MIDDLE,
        0.2,
        100,
        broadband=True,
        more="Too many for chance: LAUs from 60 residents on, or errors in any direction, would fit; we cannot tell.",
    ),
)


@cache
def tails(epsilon: float) -> Tails:
    """Return the tails of the two-sided geometric law."""
    return Tails.of(transition_matrix(TwoSidedGeometric(epsilon=epsilon)))


def small_area_numbers(sources: Sources) -> Iterator[PaperNumber]:
    """Give the numbers of this part."""
    yield from _sizes(sources.areas)
    yield from _worked_example(sources.areas)
    yield from _counted(sources.areas)
    yield from _largest(sources.areas)
    yield from _named(sources.areas)


def _sizes(areas: AreaCounts) -> Iterator[PaperNumber]:
    states = set(member_states())
    union = areas.of_countries(sorted(states))
    units = sum(int(row["lau2_2010"]) for code, row in countries().items() if code in states)
    yield number("laus", float(units), "units of 2010 in the 27 Member States, populated or not", basis=AREAS)
    yield number("laus", float(len(union)), f"populated, {LIST}", variant="list", basis=AREAS)
    yield number("residents", float(union.total.sum()), f"27 Member States, {LIST}", basis=AREAS)
    yield number("us-tracts", None, "of the US census, which is not among our data")
    yield number("us-residents", None, "of the US census, which is not among our data")
    counts = areas.counts
    yield number(
        "tiny-laus", float((areas.total < TINY).sum()), f"{LIST}; which country lacks them is not known", basis=AREAS
    )
    german = areas.of_countries(["DE"])
    yield number("smallest-lau", float(areas.total.min()), LIST, basis=AREAS)
    yield number("largest-lau", float(german.total.max()), f"Berlin, {LIST}", basis=AREAS)
    note = f"{LIST}. Paris is one LAU here; the paper's data may have its 20 districts"
    yield number("huge-laus", float((areas.total > MILLION).sum()), note, basis=AREAS)
    small = float(((counts > 0) & (counts < SMALL)).sum())
    yield number("small-counts", small, f"{LIST}; sexes drawn; French communes have merged since", basis=AREAS)
    inside = float(((counts >= BIN[0]) & (counts <= BIN[1])).sum())
    yield number("bin-counts", inside, f"{LIST}; sexes drawn", basis=AREAS)


def _worked_example(areas: AreaCounts) -> Iterator[PaperNumber]:
    chance = math.exp(-MIDDLE * 40)
    misprint = (
        "a misprint, negative at epsilon = 0.1 and E = 40 as everywhere: exp(-eps E) is meant, which the paper's own "
        "example uses. Ours is exp(-0.1 x 40)"
    )
    yield number("tail-of-laplace", chance, misprint)
    yield number("bin-chance", 100 * chance, "exp(-0.1 x 40)")
    yield number("bin-expected", PUBLISHED_IN_BIN * chance, "the published 11,680 counts times the chance")
    inside = int(((areas.counts >= BIN[0]) & (areas.counts <= BIN[1])).sum())
    note = f"our {inside:,} counts of the bin times the chance"
    yield number("bin-expected", inside * chance, note, variant="list", basis=AREAS)


def _counted(areas: AreaCounts) -> Iterator[PaperNumber]:
    for question in QUESTIONS:
        found = question.expected(areas)
        apart = (float(PUBLISHED[question.name].text) - found.expected) / found.standard_error
        note = (
            f"{ONE_DRAW}, {figure(found.expected)} ± {figure(found.standard_error)}; the paper's lies {abs(apart):.1f} "
            f"standard errors {'above' if apart > 0 else 'below'}. {question.more}"
        ).rstrip()
        yield number(question.name, found.expected, note, basis=DRAW, likely=abs(apart) <= WITHIN)
    every = ABOVE_100.expected(areas).expected
    totals = areas.total[areas.total >= ABOVE_100.least]
    sides = tails(LOW).reaching(totals, no_less_than(totals, 1.0))
    note = (
        "of counts above 100 at epsilon 0.025, expected over all draws: women and men just above 100, of areas of 200, "
        "are more than two for every such total"
    )
    yield number("share-of-totals", every / float(sides.either.sum()), note, basis=DRAW, likely=False)
    note = "the half of those totals that is too low"
    yield number("share-wiped-out", every / float(sides.down.sum()), note, basis=DRAW, likely=False)


def _largest(areas: AreaCounts) -> Iterator[PaperNumber]:
    """Give the largest areas that lose somebody; which ones is chance, their size less so."""
    women, men, total = areas.counts
    for epsilon in (LOW, MIDDLE):
        for what, sizes, lost in (("residents", total, total), ("women", men, women), ("men", women, men)):
            there = lost > 0
            yield _size(f"lost-{what}-{epsilon:g}", largest(sizes[there], tails(epsilon).lost(lost[there])))
    for name, question in (
        ("largest-broadband-0.025", Question("", LOW, 1, 1, broadband=True, down=True)),
        ("largest-broadband-0.1", Question("", MIDDLE, 0.2, 1, broadband=True)),
    ):
        yield _size(name, largest(*question.chances(areas)))
    note = f"{CIDAMON[0]} women and {CIDAMON[1]} men; the paper prints T = 30, a misprint or rounded data"
    yield number("cidamon", float(sum(CIDAMON)), note)
    yield number("sexes-of-named", None, "our list has residents alone, the census of 2011 is not in it")
    yield number("noise-of-named", None, "drawn at random by the paper; its seed is not public")


def _named(areas: AreaCounts) -> Iterator[PaperNumber]:
    """Give the residents of the areas that the paper names, where our list has them."""
    listed = dict(zip(zip(areas.countries, areas.names, strict=True), areas.total.tolist(), strict=True))
    for country, name in NAMED:
        found = listed.get((country, name))
        note = LIST if found is not None else "no area of our list has this name"
        yield number(slug("residents of", name), None if found is None else float(found), note, basis=AREAS)


def _size(name: str, found: Largest) -> PaperNumber:
    note = f"the median over all draws on our list; 19 of 20 draws have one of {found.low} to {found.high}"
    likely = found.low <= float(PUBLISHED[name].text) <= found.high
    return number(name, float(found.median), note, basis=DRAW, likely=likely)


@dataclass(frozen=True, eq=False)
class AreaSizes:
    """Populated areas below 500 residents.

    Attributes:
        limits: the upper limits of the bins.
        by_size: how many areas each bin has.
        by_country: how many each country has, the most first.
    """

    limits: Ints
    by_size: Ints
    by_country: dict[str, int]


def area_sizes(areas: AreaCounts) -> AreaSizes:
    """Return figure 3."""
    small = areas.total < SMALL
    by_size = np.bincount((areas.total[small] - 1) // WIDTH, minlength=len(LIMITS))
    names, times = np.unique(np.array(areas.countries)[small], return_counts=True)
    order = np.argsort(-times, kind="stable")
    return AreaSizes(LIMITS, by_size, dict(zip(names[order].tolist(), times[order].tolist(), strict=True)))


@dataclass(frozen=True, eq=False)
class Distortions:
    """How many counts or areas are off by more than a share, by size.

    Attributes:
        epsilon: of each count.
        broadband: whether areas with women, men and total off the same way, and not single counts.
        limits: the upper limits of the bins.
        estimated: by relative error, the paper's estimate by bins; for areas the exact expectation.
        expected: by relative error, the exact expectation.
        drawn: by relative error, one release that was drawn.
    """

    epsilon: float
    broadband: bool
    limits: Ints
    estimated: dict[float, Floats]
    expected: dict[float, Floats]
    drawn: dict[float, Ints]


def distortions(areas: AreaCounts) -> tuple[Distortions, ...]:
    """Return the panels of figure 4 that count: single counts at three epsilons, areas at two."""
    found = []
    for epsilon in (LOW, MIDDLE, HIGH):
        measured = small_areas(areas, TwoSidedGeometric(epsilon=epsilon))
        for broadband, each in ((False, measured.single), (True, measured.broadband)):
            if broadband and epsilon == HIGH:
                continue
            lines = {one.relative: one.bins[: len(LIMITS)] for one in each}
            expected = {share: np.array([line.expected for line in bins]) for share, bins in lines.items()}
            binned = {share: np.array([line.binned or 0.0 for line in bins]) for share, bins in lines.items()}
            drawn = {share: np.array([line.sampled or 0 for line in bins]) for share, bins in lines.items()}
            found.append(Distortions(epsilon, broadband, LIMITS, expected if broadband else binned, expected, drawn))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class TailCurves:
    """Pr(|x| > E) = exp(-eps E) by epsilon.

    Attributes:
        epsilons: the columns.
        chances: by error E.
        one_of: by error E, 1 over the number of areas with at most E residents.
        choices: epsilons of the US census.
    """

    epsilons: Floats
    chances: dict[int, Floats]
    one_of: dict[int, float]
    choices: tuple[float, ...]


def tail_curves(areas: AreaCounts) -> TailCurves:
    """Return the lower right panel of figure 4."""
    epsilons = np.geomspace(0.02, 1, 80)
    return TailCurves(
        epsilons,
        {error: np.exp(-error * epsilons) for error in TAIL_ERRORS},
        {error: 1 / int((areas.total <= error).sum()) for error in TAIL_ERRORS},
        tuple(map(float, US_EPSILON)),
    )
