"""Effect of noise on the counts of small areas by sex: as expected, and in one release, drawn or given.

The paper's section on demographics at high geographic detail: every count of women, men or all residents is one
observation with its own noise. Three results are sums of exact probabilities: the number of observations off by more
than 20, 50 or 100 percent; the number of areas with all three off by as much in the same direction ("broadband"); and
the number of areas that lose all residents, women or men (true count above 0, published as 0 or less).

The paper names the largest lost areas of its sampled release (Aragnouet: 239 residents published as -7). Names and true
counts are for the curator only.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.accuracy.distortion import (
    LIMITS,
    RELATIVE,
    SMALL,
    WIDTH,
    ExpectedNumber,
    Tails,
    by_bins,
    continuous_tail,
    more_than,
    reached,
)
from discreet.accuracy.expected_accuracy import chance_within
from discreet.errors import ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.results import Result, ResultSet

if TYPE_CHECKING:
    from discreet.accuracy.area_counts import AreaCounts
    from discreet.accuracy.distortion import Distorted
    from discreet.arrays import Flags, Ints
    from discreet.noise.by_count import AnyLaw


@dataclass(frozen=True)
class AreaExample:
    """One area with its true and published counts, by sex where they are there; of a release without the true ones."""

    code: str
    name: str
    country: str
    sexes: tuple[str, ...]
    true: tuple[int, ...]
    published: tuple[int, ...]

    def without_truth(self) -> AreaExample:
        """Return the area without its true counts, to be told beyond the curator's desk."""
        return replace(self, true=())

    def __str__(self) -> str:
        place = f"{self.name} ({self.code})" if self.name and self.name != self.code else self.code
        if not self.true:
            return f"{place}, published as {', '.join(map(str, self.published))} ({', '.join(self.sexes)})"
        changes = ", ".join(
            f"{sex} {t} -> {p}" for sex, t, p in zip(self.sexes, self.true, self.published, strict=True)
        )
        return f"{place}, {changes}"


@dataclass(frozen=True)
class Lost:
    """Areas that have residents, women or men, and are published without.

    Attributes:
        what: total, women or men.
        areas: how many have any.
        expected: how many are expected to be published with 0 or less.
        standard_error: of the number that one release has.
        sampled: how many a release has, one that was drawn or is there; None without one.
        largest: of those, the one with most residents.
    """

    what: str
    areas: int
    expected: float
    standard_error: float
    sampled: int | None
    largest: AreaExample | None


def lost(tails: Tails, areas: AreaCounts, what: str, published: Ints | None = None) -> Lost:
    """Return how many areas lose their residents (total), women or men.

    Args:
        tails: of the noise.
        areas: with true counts.
        what: total, women or men.
        published: the counts of a release, in rows like those of the areas.
    """
    row = areas.sexes.index(what)
    counts = areas.counts[row]
    there = counts > 0
    number = ExpectedNumber.of(tails.lost(counts[there]))
    if published is None:
        return Lost(what, int(there.sum()), number.expected, number.standard_error, None, None)
    gone = there & (published[row] <= 0)
    largest = named(areas, published, gone) if gone.any() else None
    return Lost(what, int(there.sum()), number.expected, number.standard_error, int(gone.sum()), largest)


def named(areas: AreaCounts, published: Ints, among: Flags) -> AreaExample:
    """Return the area with most residents among some; of several the first."""
    place = int(np.where(among, areas.total, -1).argmax())
    return AreaExample(
        areas.codes[place],
        areas.names[place] if areas.names else "",
        areas.countries[place] if areas.countries else "",
        areas.sexes,
        tuple(areas.counts[:, place].tolist()),
        tuple(published[:, place].tolist()),
    )


INDEPENDENT = "noise independent between counts; women, men and total of an area have noise of their own"
ALONE = "noise independent between counts"
OBSERVED = "every count of women, men or residents in all that is there is one observation; counts of 0 are none"
SIZES = (5, 10, 20, 50, 100, 200, 400)
"""Counts whose chances are told."""
RAREST = 1e-6
"""Probabilities below this are not told apart."""
ACCURATE = 20
"""Persons that no total should be off by, as the paper has it."""
NOISE_STREAM = 2
"""Sets the draw of noise apart from that of sexes under one seed."""
BELOW = "negative counts are published as they are"
AT_LEAST_0 = "what would be negative is published as 0"


@dataclass(frozen=True)
class Chance:
    """How likely one count is off.

    Attributes:
        count: the true count.
        off: for the relative errors 20, 50 and 100 %, the chance of a larger one.
    """

    count: int
    off: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class SmallAreas(ResultSet):
    """Distortions of single counts, of whole areas, and areas that lose everybody; for the curator's eyes.

    Attributes:
        source: what the areas are called.
        areas: how many have residents.
        unpopulated: how many have none and were left out.
        simulated: whether the sexes were drawn and not counted.
        deviation: the root mean square noise of a large count.
        bound: the largest noise, infinite if there is none.
        seed: of the release that was drawn, None if none was.
        chances: by size of one count, how likely it is off by more than each relative error.
        single: by relative error, counts of women, men or residents in all.
        broadband: by relative error, areas by residents whose three counts are all off one way; none without sexes.
        lost: areas published without residents, women or men.
        within: the chance that no total is off by more than ACCURATE.
        assumptions: what must be true for all figures.
    """

    source: str
    areas: int
    unpopulated: int
    simulated: bool
    deviation: float
    bound: float
    seed: int | None
    chances: tuple[Chance, ...]
    single: tuple[Distorted, ...]
    broadband: tuple[Distorted, ...]
    lost: tuple[Lost, ...]
    within: float
    assumptions: tuple[str, ...]
    warnings: ClassVar[tuple[str, ...]] = ()

    @property
    def title(self) -> str:
        """Return the list of areas and the summary."""
        return f"{self.source}. {self.summary}"

    @property
    def results(self) -> list[Result]:
        """Return the figures for small counts, each in sentences."""
        found = [self._single(distorted) for distorted in self.single]
        found += [self._broadband(distorted) for distorted in self.broadband]
        found += [self._lost(each) for each in self.lost]
        return [*found, self._within(), *([self._bounded()] if math.isfinite(self.bound) else [])]

    @property
    def summary(self) -> str:
        """Return the whole in a few sentences."""
        single, gone = self.single[0].small, self.lost[0]
        share = f" ({single.expected / single.number:.1%})" if single.number else ""
        return (
            f"Of {single.number:,} counts below {SMALL}, {figure(single.expected)}{share} are expected to be more than "
            f"{self.single[0].relative:.0%} off, and {figure(gone.expected)} of {self.areas:,} areas to vanish."
        )

    def __str__(self) -> str:
        return "\n".join([self.summary, *(result.sentence for result in self.results)])

    def without_truth(self) -> SmallAreas:
        """Return the same without the true counts of the areas that are named, to be told beyond the curator's desk."""
        told = [replace(each, largest=each.largest.without_truth() if each.largest else None) for each in self.lost]
        return replace(self, lost=tuple(told))

    def to_json(self) -> dict[str, Any]:
        """Return everything as one object; JSON has no infinity, so a bound that is none is null."""
        bound = self.bound if math.isfinite(self.bound) else None
        return {**asdict(self), "bound": bound}

    def _single(self, distorted: Distorted) -> Result:
        line = distorted.small
        return Result(
            name=f"counts_off_by_{100 * distorted.relative:g}_percent",
            value=line.expected,
            unit="counts",
            sentence=f"Of {line.number:,} counts from 1 to {SMALL - 1}, {_number(line.expected, line.standard_error)} "
            f"are expected to be published more than {distorted.relative:.0%} off ({figure(line.binned or 0)} if "
            f"each were the upper limit of its bin of {WIDTH}, as the paper takes it).{self._drawn(line.sampled)}",
            assumptions=(OBSERVED, *self.assumptions),
            equation=f"sum of P(|x| > {distorted.relative:g} n)",
        )

    def _broadband(self, distorted: Distorted) -> Result:
        line = distorted.small
        return Result(
            name=f"areas_off_by_{100 * distorted.relative:g}_percent",
            value=line.expected,
            unit="areas",
            sentence=f"Of {line.number:,} areas with women, men and less than {SMALL} residents, "
            f"{_number(line.expected, line.standard_error)} are expected to have women, men and total all more than "
            f"{distorted.relative:.0%} off in the same direction.{self._drawn(line.sampled)}",
            assumptions=self.assumptions,
            equation="sum of prod P(x_i > r n_i) + prod P(x_i < -r n_i), i = F, M, T",
        )

    def _lost(self, each: Lost) -> Result:
        what = "residents" if each.what == "total" else each.what
        largest = f" The largest of them is {each.largest}." if each.largest else ""
        return Result(
            name=f"areas_without_{what}",
            value=each.expected,
            unit="areas",
            sentence=f"Of {each.areas:,} areas with {what}, {_number(each.expected, each.standard_error)} are expected "
            f"to be published without any, with 0 or less.{self._drawn(each.sampled)}{largest}",
            worst=each.largest.code if each.largest else None,
            assumptions=self.assumptions,
            equation="sum of P(published <= 0 | n > 0)",
        )

    def _within(self) -> Result:
        return Result(
            name=f"all_totals_within_{ACCURATE}",
            value=self.within,
            unit="1",
            sentence=f"No total of the {self.areas:,} areas is more than {ACCURATE} off with a probability of "
            f"{_chance(self.within)}.",
            assumptions=self.assumptions,
            equation=f"prod P(|x| <= {ACCURATE})",
        )

    def _bounded(self) -> Result:
        limits = ", ".join(f"none above {self.bound / share:g} by {share:.0%} or more" for share in reversed(RELATIVE))
        return Result(
            name="largest_error",
            value=self.bound,
            unit="persons",
            sentence=f"No count is ever off by more than {self.bound:g}: {limits}.",
            equation="|x| <= E",
        )

    def _drawn(self, sampled: int | None) -> str:
        if sampled is None:
            return ""
        which = "This release" if self.seed is None else f"A release drawn with seed {self.seed}"
        return f" {which} has {sampled:,}."


def small_areas(
    areas: AreaCounts,
    law: AnyLaw,
    *,
    seed: int = 0,
    sample: bool = True,
    published: Ints | None = None,
) -> SmallAreas:
    """Measure what a law of noise does to the residents of areas by sex.

    Args:
        areas: with true counts; those without residents are left out.
        law: the noise; where it is no p-table, empty cells have none.
        seed: of the release that is drawn.
        sample: whether one is drawn, beside what is expected.
        published: the counts of a release that is there, in rows like `areas.counts`; then none is drawn.

    >>> from discreet.noise.ptable import PTable
    >>> from discreet.accuracy.area_counts import with_sexes
    >>> village = with_sexes(["A"], female=[30], male=[31])
    >>> small_areas(village, PTable.max_entropy(variance=2, bound=5)).single[0].all.expected
    0.0
    """
    there = areas.populated
    by_true = transition_matrix(law)
    drawn = published is None and sample
    shown = (
        by_true.publish(there.counts, np.random.default_rng([seed, NOISE_STREAM]))
        if drawn
        else _of_populated(areas, published)
    )
    tails = Tails.of(by_true)
    return SmallAreas(
        source=areas.source,
        areas=len(there),
        unpopulated=areas.unpopulated,
        simulated=areas.simulated,
        deviation=by_true.typical_change,
        bound=by_true.bound,
        seed=seed if drawn else None,
        chances=_chances(tails),
        single=tuple(_single(tails, law, there.counts, shown, relative) for relative in RELATIVE),
        broadband=tuple(_broadband(tails, there.counts, shown, relative) for relative in RELATIVE if areas.has_sexes),
        lost=tuple(lost(tails, there, what, shown) for what in (there.sexes[-1], *there.sexes[:-1])),
        within=chance_within(by_true, there.total, ACCURATE),
        assumptions=_assumptions(areas, tails),
    )


def _chances(tails: Tails) -> tuple[Chance, ...]:
    """Return P(|x| > r n) of counts of some sizes."""
    counts = np.array(SIZES)
    by_share = [tails.beyond(counts, relative).either.tolist() for relative in RELATIVE]
    return tuple(Chance(count, tuple(shares)) for count, *shares in zip(SIZES, *by_share, strict=True))


def _of_populated(areas: AreaCounts, published: Ints | None) -> Ints | None:
    """Return the published counts of areas that have residents."""
    if published is None:
        return None
    if published.shape != areas.counts.shape:
        wanted = f"{len(areas.sexes)} rows ({', '.join(areas.sexes)}) of {len(areas):,} areas"
        raise ParameterError.outside("small areas", "published", published.shape, f"an array of {wanted}")
    return published[:, areas.total > 0]


def _chance(share: float) -> str:
    """Return a probability that may be all or nothing, but for a hair."""
    return "1" if share == 1 else f"{share:.2g}" if share >= RAREST else f"less than {RAREST:g}"


def figure(number: float) -> str:
    """Return an expected number as it is read: whole if large, with two digits if small.

    >>> figure(1234.5), figure(3.14159), figure(0)
    ('1,234', '3.1', '0')
    """
    return f"{number:,.0f}" if number >= 10 or number == 0 else f"{number:.2g}"


def _number(expected: float, standard_error: float) -> str:
    return f"{figure(expected)} (give or take {figure(standard_error)})"


def _assumptions(areas: AreaCounts, tails: Tails) -> tuple[str, ...]:
    counts = np.arange(len(tails.law.laws))
    negative = bool(tails.reaching(counts, counts + 1).down.any())
    found = [
        INDEPENDENT if areas.has_sexes else ALONE,
        *([AT_LEAST_0] if tails.law.non_negative else [BELOW] if negative else []),
    ]
    if areas.unpopulated:
        found.append(f"areas without residents are left out: {areas.unpopulated:,}")
    return (*found, *areas.notes)


def _single(tails: Tails, noise: AnyLaw, counts: Ints, published: Ints | None, relative: float) -> Distorted:
    """Return how many counts above 0 are off by more than a share."""
    there = counts > 0
    true, seen = counts[there], None
    if published is not None:
        up, down = reached(true, published[there], more_than(true, relative))
        seen = up | down
    at_limits = continuous_tail(noise, relative * LIMITS.astype(np.float64))
    if at_limits is None:
        at_limits = tails.beyond(LIMITS, relative).either
    return by_bins(relative, true, tails.beyond(true, relative), seen=seen, at_limits=at_limits)


def _broadband(tails: Tails, counts: Ints, published: Ints | None, relative: float) -> Distorted:
    """Return how many areas with women and men have all three counts off by more than a share, the same way."""
    there = (counts > 0).all(axis=0)
    true, seen = counts[:, there], None
    if published is not None:
        up, down = reached(true, published[:, there], more_than(true, relative))
        seen = np.logical_or(up.all(axis=0), down.all(axis=0))
    return by_bins(relative, true[-1], tails.beyond(true, relative).together(), seen=seen)
