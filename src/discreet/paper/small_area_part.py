"""Numbers of the paper on small areas.

Accuracy of small areas (section 4.2, equation (16) and figure 5): the epsilon at which all totals of t areas have an
error of at most E, log(t / (1 - alpha)) / E.

Largest area with a rare event: the distribution of its size over draws of the noise. Each area has its own probability
p of the event. The largest affected area is at most s if no area above s is affected; the probability of this is the
product of their 1 - p. No simulation is needed.

Demographics at high geographic detail (section 4.2, figures 3 and 4): the distortion of numbers of women, men and
residents of small areas by unbounded noise. The paper uses the census of 2011. This module uses a list of all local
administrative units (LAUs) of the EU-28 with totals and simulated sexes. It compares the paper's counts in one draw of
noise with the expectation over all draws.
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
"""Largest accepted error of a total, in persons."""
EDITION = "lau2_2010"
"""The units of 2010, as in the census of 2011."""


def accuracy_numbers(_sources: Sources) -> Iterator[NumberComparison]:
    """Yield the numbers of this part."""
    listed = countries()
    for name, country in (("laus-france", "FR"), ("laus-malta", "MT")):
        now = int(listed[country]["lau_2020"])
        note = f"units of 2010, as in the census of 2011; the number in 2020 is {now:,}"
        yield number(name, float(listed[country][EDITION]), note, basis=AREAS)
    yield _needed("epsilon-large", LAUS["France"], "France")
    yield _needed("epsilon-large", int(listed["DE"][EDITION]), "Germany", "The paper names France and Germany.")
    yield _needed("epsilon-small", LAUS["Malta"], "Malta")
    yield _needed("epsilon-1000", 1000, "")


def _needed(name: str, areas: int, variant: str, more: str = "") -> NumberComparison:
    exact = exact_epsilon_needed(ACCURATE, areas)
    note = f"{areas:,} areas, a union bound over them; {exact:.3f} suffices if their noise terms are independent"
    return number(name, epsilon_needed(ACCURATE, areas), f"{note}. {more}".rstrip(". "), variant=variant)


@dataclass(frozen=True, eq=False)
class AccuracyCurves:
    """The minimum epsilon by the largest accepted error of a total.

    Attributes:
        errors: the errors E.
        areas: by name, the number t of areas.
        epsilon: by name, the minimum epsilon for every error.
        accurate: by name, the minimum epsilon for E = 20.
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
    """The size of the largest affected area.

    Attributes:
        median: the median over draws.
        low: the size that 39 of 40 draws reach or exceed.
        high: the size that one of 40 draws reaches or exceeds.
    """

    median: int
    low: int
    high: int


def largest(sizes: Ints, chances: Floats) -> Largest:
    """Return the size of the largest affected area over all draws of independent noise.

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
LIST = "edition 2016 of Eurostat's list with populations of 2013 to 2017; the paper uses the census of 2011"
MILLION = 1_000_000
TINY = 10
ONE_DRAW = "the paper has one draw on the census of 2011, ours is the expectation over all draws on our list"
WITHIN = 2.0
"""Number of standard errors that contains 19 of 20 draws."""
BIN = (61, 80)
PUBLISHED_IN_BIN = 11_680
TAIL_ERRORS = (20, 50, 100)
CIDAMON = (15, 20)
"""Women and men of Cidamón, as printed."""


@dataclass(frozen=True)
class Question:
    """A selection of counts by size and by relative error.

    Attributes:
        name: the name of the published number.
        epsilon: the epsilon of each count.
        relative: the minimum error as a share of the count.
        least: the smallest size.
        most: the largest size.
        broadband: whether women, men and total must all have errors in the same direction.
        down: whether only counts that are too low are selected.
        more: an addition to the note.
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
        """Return the sizes and the probabilities of the selected counts or areas."""
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
    more="The paper has 5 % more counts in the bin that it reports, which explains part of the difference.",
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
        more="Too many for chance: LAUs from 60 residents on, or errors in any direction, would fit. Cause unknown.",
    ),
)


@cache
def tails(epsilon: float) -> Tails:
    """Return the tails of the two-sided geometric distribution."""
    return Tails.of(transition_matrix(TwoSidedGeometric(epsilon=epsilon)))


def small_area_numbers(sources: Sources) -> Iterator[PaperNumber]:
    """Yield the numbers of this part."""
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
    yield number("us-tracts", None, "US census, which is not in our data")
    yield number("us-residents", None, "US census, which is not in our data")
    counts = areas.counts
    yield number(
        "tiny-laus", float((areas.total < TINY).sum()), f"{LIST}; the country without them is not known", basis=AREAS
    )
    german = areas.of_countries(["DE"])
    yield number("smallest-lau", float(areas.total.min()), LIST, basis=AREAS)
    yield number("largest-lau", float(german.total.max()), f"Berlin, {LIST}", basis=AREAS)
    note = f"{LIST}. Paris is one LAU here; the paper's data may have its 20 districts"
    yield number("huge-laus", float((areas.total > MILLION).sum()), note, basis=AREAS)
    small = float(((counts > 0) & (counts < SMALL)).sum())
    yield number("small-counts", small, f"{LIST}; sexes simulated; French communes have merged since", basis=AREAS)
    inside = float(((counts >= BIN[0]) & (counts <= BIN[1])).sum())
    yield number("bin-counts", inside, f"{LIST}; sexes simulated", basis=AREAS)


def _worked_example(areas: AreaCounts) -> Iterator[PaperNumber]:
    chance = math.exp(-MIDDLE * 40)
    misprint = (
        "a misprint, always negative: the formula must be exp(-eps E), which the paper uses in its example. Ours is "
        "exp(-0.1 x 40)"
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
        "counts above 100 at epsilon 0.025, expectation over all draws: women and men just above 100, in areas of 200, "
        "are more than two for every such total"
    )
    yield number("share-of-totals", every / float(sides.either.sum()), note, basis=DRAW, likely=False)
    note = "the half of these totals that is too low"
    yield number("share-wiped-out", every / float(sides.down.sum()), note, basis=DRAW, likely=False)


def _largest(areas: AreaCounts) -> Iterator[PaperNumber]:
    """Yield the sizes of the largest areas with a lost count; which areas they are varies more than their size."""
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
    yield number("sexes-of-named", None, "our list has only residents and does not contain the census of 2011")
    yield number("noise-of-named", None, "drawn at random by the paper; its seed is not public")


def _named(areas: AreaCounts) -> Iterator[PaperNumber]:
    """Yield the residents of the areas that the paper names, if our list has them."""
    listed = dict(zip(zip(areas.countries, areas.names, strict=True), areas.total.tolist(), strict=True))
    for country, name in NAMED:
        found = listed.get((country, name))
        note = LIST if found is not None else "no area of our list has this name"
        yield number(slug("residents of", name), None if found is None else float(found), note, basis=AREAS)


def _size(name: str, found: Largest) -> PaperNumber:
    note = f"the median over all draws on our list; 19 of 20 draws give {found.low} to {found.high}"
    likely = found.low <= float(PUBLISHED[name].text) <= found.high
    return number(name, float(found.median), note, basis=DRAW, likely=likely)


@dataclass(frozen=True, eq=False)
class AreaSizes:
    """Populated areas below 500 residents.

    Attributes:
        limits: the upper limits of the bins.
        by_size: the number of areas in each bin.
        by_country: the number of areas of each country, the largest first.
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
    """The numbers of counts or areas with a relative error above a limit, by size.

    Attributes:
        epsilon: the epsilon of each count.
        broadband: whether areas with errors of women, men and total in the same direction, instead of single counts.
        limits: the upper limits of the bins.
        estimated: by relative error, the paper's estimate by bins; for areas the exact expectation.
        expected: by relative error, the exact expectation.
        drawn: by relative error, the number in one simulated release.
    """

    epsilon: float
    broadband: bool
    limits: Ints
    estimated: dict[float, Floats]
    expected: dict[float, Floats]
    drawn: dict[float, Ints]


def distortions(areas: AreaCounts) -> tuple[Distortions, ...]:
    """Return the histograms of figure 4: single counts at three epsilons, areas at two."""
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
        chances: the probabilities by error E.
        one_of: by error E, 1 over the number of areas with at most E residents.
        choices: the epsilons of the US census.
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
