"""Effect of noise on the counts of small areas by sex: expected values, and one simulated or given release.

As in the paper's section on demographics at high geographic detail, every count of women, men or all residents is one
observation with its own noise. Three results are sums of exact probabilities: the number of observations with a
relative error above 20, 50 or 100 percent; the number of areas in which all three counts have such an error in the same
direction ("broadband"); and the number of areas that lose all residents, women or men (true count above 0, published as
0 or less).

The paper names the largest lost areas of its sampled release (Aragnouet: 239 residents published as -7). Names and
true counts are confidential.
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
from discreet.verdicts import SMALL_AREAS, check, percent

if TYPE_CHECKING:
    from discreet.accuracy.area_counts import AreaCounts
    from discreet.accuracy.distortion import Distorted
    from discreet.arrays import Flags, Ints
    from discreet.noise.by_count import AnyLaw
    from discreet.verdicts import Check, Policy


@dataclass(frozen=True)
class AreaExample:
    """One area with its true and published counts, by sex if available; true counts may be removed."""

    code: str
    name: str
    country: str
    sexes: tuple[str, ...]
    true: tuple[int, ...]
    published: tuple[int, ...]

    def without_truth(self) -> AreaExample:
        """Return the area without its true counts, for readers other than the curator."""
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
    """Areas with residents, women or men that are published as 0 or less.

    Attributes:
        what: total, women or men.
        areas: the number of areas with a count above 0.
        expected: the expected number of areas published as 0 or less.
        standard_error: the standard error of the number in one release.
        sampled: the number in a simulated or given release; None without a release.
        largest: the lost area with the most residents.
    """

    what: str
    areas: int
    expected: float
    standard_error: float
    sampled: int | None
    largest: AreaExample | None


def lost(tails: Tails, areas: AreaCounts, what: str, published: Ints | None = None) -> Lost:
    """Return the number of areas that lose their residents (total), women or men.

    Args:
        tails: the tail probabilities of the noise.
        areas: the areas with true counts.
        what: total, women or men.
        published: the counts of a release, in the same rows as those of the areas.
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
    """Return the first area with the most residents among selected areas."""
    place = int(np.where(among, areas.total, -1).argmax())
    return AreaExample(
        areas.codes[place],
        areas.names[place] if areas.names else "",
        areas.countries[place] if areas.countries else "",
        areas.sexes,
        tuple(areas.counts[:, place].tolist()),
        tuple(published[:, place].tolist()),
    )


INDEPENDENT = "noise is independent between counts, also between women, men and total of an area"
ALONE = "noise is independent between counts"
OBSERVED = "every available count of women, men or all residents is one observation; counts of 0 are excluded"
SIZES = (5, 10, 20, 50, 100, 200, 400)
"""The counts whose probabilities are reported."""
RAREST = 1e-6
"""The smallest probability that is reported exactly."""
ACCURATE = 20
"""The largest acceptable error of a total, in persons, as in the paper."""
NOISE_STREAM = 2
"""The random stream of noise, independent of that of simulated sexes with the same seed."""
BELOW = "negative counts are published"
AT_LEAST_0 = "negative counts are published as 0"


@dataclass(frozen=True)
class Chance:
    """The probabilities of large relative errors of one count.

    Attributes:
        count: the true count.
        off: the probabilities of a relative error above 20, 50 and 100 %.
    """

    count: int
    off: tuple[float, ...]


NO_SMALL_AREAS = "No area has a count from 1 to 499."


@dataclass(frozen=True, repr=False)
class SmallAreas(ResultSet):
    """Distortions of single counts and of whole areas, and areas that lose all residents; confidential.

    Attributes:
        source: the name of the list of areas.
        areas: the number of areas with residents.
        unpopulated: the number of areas without residents, which are excluded.
        simulated: whether the sexes were simulated.
        deviation: the root mean square noise of a large count.
        bound: the noise bound; infinite for unbounded noise.
        seed: the seed of the simulated release; None without one.
        chances: the probabilities of exceeding each relative error, by size of one count.
        single: the distorted counts of women, men or all residents, by relative error.
        broadband: the areas whose three counts deviate in the same direction, by relative error; empty without sexes.
        lost: the areas published without residents, women or men.
        within: the probability that no total has an error above ACCURATE.
        assumptions: the assumptions of all figures.
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

    def check(self, policy: Policy) -> Check:
        """Return the expected share of counts below 500 with a large relative error, compared with its target."""
        single = self.single[0]
        counts = single.small
        if not counts.number:
            return check(policy, SMALL_AREAS, None, NO_SMALL_AREAS)
        share = counts.expected / counts.number
        seen = "in this release" if self.seed is None else "in a simulated release"
        here = "" if counts.sampled is None else f"; {seen} {counts.sampled:,} are"
        sentence = (
            f"Of {counts.number:,} counts below 500 in areas, {percent(share)} are expected to be more than "
            f"{100 * single.relative:.0f} % off{here}."
        )
        return check(policy, SMALL_AREAS, share, sentence, cases=counts.number)

    @property
    def title(self) -> str:
        """Return the list of areas and the summary."""
        return f"{self.source}. {self.summary}"

    @property
    def results(self) -> list[Result]:
        """Return the figures for small counts."""
        found = [self._single(distorted) for distorted in self.single]
        found += [self._broadband(distorted) for distorted in self.broadband]
        found += [self._lost(each) for each in self.lost]
        return [*found, self._within(), *([self._bounded()] if math.isfinite(self.bound) else [])]

    @property
    def summary(self) -> str:
        """Return a summary in one or two sentences."""
        single, gone = self.single[0].small, self.lost[0]
        share = f" ({single.expected / single.number:.1%})" if single.number else ""
        return (
            f"Expected number of counts below {SMALL} with a relative error above {self.single[0].relative:.0%}: "
            f"{figure(single.expected)} of {single.number:,}{share}. Expected number of areas that lose all residents: "
            f"{figure(gone.expected)} of {self.areas:,}."
        )

    def __str__(self) -> str:
        return "\n".join([self.summary, *(result.sentence for result in self.results)])

    def without_truth(self) -> SmallAreas:
        """Return the same without the true counts of named areas, for readers other than the curator."""
        found = [replace(each, largest=each.largest.without_truth() if each.largest else None) for each in self.lost]
        return replace(self, lost=tuple(found))

    def to_json(self) -> dict[str, Any]:
        """Return all attributes as one object; an infinite bound is null, because JSON has no infinity."""
        bound = self.bound if math.isfinite(self.bound) else None
        return {**asdict(self), "bound": bound}

    def _single(self, distorted: Distorted) -> Result:
        line = distorted.small
        return Result(
            name=f"counts_off_by_{100 * distorted.relative:g}_percent",
            value=line.expected,
            unit="counts",
            sentence=f"Expected number of the {line.number:,} counts from 1 to {SMALL - 1} with a relative error above "
            f"{distorted.relative:.0%}: {_number(line.expected, line.standard_error)}. The paper's binned estimate, "
            f"with each count at the upper limit of its bin of {WIDTH}, is {figure(line.binned or 0)}."
            f"{self._drawn(line.sampled)}",
            assumptions=(OBSERVED, *self.assumptions),
            equation=f"sum of P(|x| > {distorted.relative:g} n)",
        )

    def _broadband(self, distorted: Distorted) -> Result:
        line = distorted.small
        return Result(
            name=f"areas_off_by_{100 * distorted.relative:g}_percent",
            value=line.expected,
            unit="areas",
            sentence=f"Expected number of the {line.number:,} areas with women, men and fewer than {SMALL} residents "
            f"in which all three counts have a relative error above {distorted.relative:.0%} in the same direction: "
            f"{_number(line.expected, line.standard_error)}.{self._drawn(line.sampled)}",
            assumptions=self.assumptions,
            equation="sum of prod P(x_i > r n_i) + prod P(x_i < -r n_i), i = F, M, T",
        )

    def _lost(self, each: Lost) -> Result:
        what = "residents" if each.what == "total" else each.what
        largest = f" The largest of these areas is {each.largest}." if each.largest else ""
        return Result(
            name=f"areas_without_{what}",
            value=each.expected,
            unit="areas",
            sentence=f"Expected number of the {each.areas:,} areas with {what} that are published with 0 or less: "
            f"{_number(each.expected, each.standard_error)}.{self._drawn(each.sampled)}{largest}",
            worst=each.largest.code if each.largest else None,
            assumptions=self.assumptions,
            equation="sum of P(published <= 0 | n > 0)",
        )

    def _within(self) -> Result:
        return Result(
            name=f"all_totals_within_{ACCURATE}",
            value=self.within,
            unit="1",
            sentence=f"All totals of the {self.areas:,} areas are within {ACCURATE} of the true total with probability "
            f"{_chance(self.within)}.",
            assumptions=self.assumptions,
            equation=f"prod P(|x| <= {ACCURATE})",
        )

    def _bounded(self) -> Result:
        limits = ", ".join(f"below {share:.0%} for counts above {self.bound / share:g}" for share in reversed(RELATIVE))
        return Result(
            name="largest_error",
            value=self.bound,
            unit="persons",
            sentence=f"The error of a count is at most {self.bound:g}. The relative error is {limits}.",
            equation="|x| <= E",
        )

    def _drawn(self, sampled: int | None) -> str:
        if sampled is None:
            return ""
        which = "This release" if self.seed is None else f"A release simulated with seed {self.seed}"
        return f" {which} has {sampled:,}."


def small_areas(
    areas: AreaCounts,
    law: AnyLaw,
    *,
    seed: int = 0,
    sample: bool = True,
    published: Ints | None = None,
) -> SmallAreas:
    """Return the effect of a noise distribution on the residents of areas by sex.

    Args:
        areas: the areas with true counts; areas without residents are excluded.
        law: the noise; empty cells are perturbed only by a p-table that does so.
        seed: the seed of the simulated release.
        sample: whether to simulate a release in addition to the expected values.
        published: the counts of a given release, in the same rows as `areas.counts`; replaces the simulation.

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
    """Return P(|x| > r n) for counts n of some sizes."""
    counts = np.array(SIZES)
    by_share = [tails.beyond(counts, relative).either.tolist() for relative in RELATIVE]
    return tuple(Chance(count, tuple(shares)) for count, *shares in zip(SIZES, *by_share, strict=True))


def _of_populated(areas: AreaCounts, published: Ints | None) -> Ints | None:
    """Return the published counts of areas with residents."""
    if published is None:
        return None
    if published.shape != areas.counts.shape:
        wanted = f"{len(areas.sexes)} rows ({', '.join(areas.sexes)}) of {len(areas):,} areas"
        raise ParameterError.outside("small areas", "published", published.shape, f"an array of {wanted}")
    return published[:, areas.total > 0]


def _chance(share: float) -> str:
    """Return a probability as text, also if it is very close to 0 or 1."""
    return "1" if share == 1 else f"{share:.2g}" if share >= RAREST else f"less than {RAREST:g}"


def figure(number: float) -> str:
    """Return an expected number as text: a whole number if large, two digits if small.

    >>> figure(1234.5), figure(3.14159), figure(0)
    ('1,234', '3.1', '0')
    """
    return f"{number:,.0f}" if number >= 10 or number == 0 else f"{number:.2g}"


def _number(expected: float, standard_error: float) -> str:
    return f"{figure(expected)} (standard error {figure(standard_error)})"


def _assumptions(areas: AreaCounts, tails: Tails) -> tuple[str, ...]:
    counts = np.arange(len(tails.law.laws))
    negative = bool(tails.reaching(counts, counts + 1).down.any())
    found = [
        INDEPENDENT if areas.has_sexes else ALONE,
        *([AT_LEAST_0] if tails.law.non_negative else [BELOW] if negative else []),
    ]
    if areas.unpopulated:
        found.append(f"excluded areas without residents: {areas.unpopulated:,}")
    return (*found, *areas.notes)


def _single(tails: Tails, noise: AnyLaw, counts: Ints, published: Ints | None, relative: float) -> Distorted:
    """Return the numbers of counts above 0 with a relative error above a share."""
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
    """Return the numbers of areas in which all three counts exceed a relative error in the same direction."""
    there = (counts > 0).all(axis=0)
    true, seen = counts[:, there], None
    if published is not None:
        up, down = reached(true, published[:, there], more_than(true, relative))
        seen = np.logical_or(up.all(axis=0), down.all(axis=0))
    return by_bins(relative, true[-1], tails.beyond(true, relative).together(), seen=seen)
