"""Check that a sample of the synthetic census has the marginals of its target tables and its geography."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.synthetic.demography import AGES_AND_SEXES, MAN, WOMAN
from discreet.synthetic.employment import ACTIVITIES, ACTIVITY
from discreet.synthetic.households import HOUSEHOLD_SIZES, OUTSIDE
from discreet.synthetic.origin import FOREIGN_BORN
from discreet.synthetic.random_choice import OLDEST
from discreet.synthetic.residence import LOCALITIES
from discreet.synthetic.synthetic_census import SyntheticCensus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Ints
    from discreet.synthetic.residence import Geography

LEEWAY = 0.05
"""Relative tolerance on a share, for any sample size."""
CHANCE = 5
"""Additional tolerance in standard errors of the sample."""


@dataclass(frozen=True)
class Share:
    """One share of a sample: the numerator, the denominator and the target.

    >>> Share("women", 480, 1000, 0.5).agrees
    True
    """

    what: str
    seen: int
    among: int
    target: float

    @property
    def value(self) -> float:
        """Return the share in the sample; the target if the denominator is 0."""
        return self.seen / self.among if self.among else self.target

    @property
    def relative_deviation(self) -> float:
        """Return |p - t| / (0.05 t + 5 sqrt(t (1 - t) / n)) for a share p of n units with target t."""
        apart = abs(self.value - self.target)
        if not apart:
            return 0.0
        error = math.sqrt(max(self.target * (1 - self.target), 0.0) / self.among)
        allowed = LEEWAY * self.target + CHANCE * error
        return apart / allowed if allowed else math.inf

    @property
    def agrees(self) -> bool:
        """Return whether the share is within the tolerance of its target."""
        return self.relative_deviation <= 1

    def __str__(self) -> str:
        return f"{self.what} {self.value:.2%}, target {self.target:.2%}"


@dataclass(frozen=True)
class Marginal:
    """The shares of one marginal of the census."""

    name: str
    shares: tuple[Share, ...]

    @property
    def agrees(self) -> bool:
        """Return whether all shares agree with their targets."""
        return all(share.agrees for share in self.shares)

    @property
    def farthest(self) -> Share:
        """Return the share with the largest relative deviation from its target."""
        return max(self.shares, key=lambda share: share.relative_deviation)

    def __str__(self) -> str:
        verdict = "agree" if self.agrees else "do NOT agree"
        return f"{self.name}: {len(self.shares)} shares {verdict}; farthest: {self.farthest}"


LEAST = 100
"""Minimum expected number of households for a LAU to have its own share; smaller LAUs are pooled."""
POINTS = 8000
"""Number of points per locality from which the target shares of cells are computed."""
DENSITIES = {"the densest tenth of the cells of a LAU": 0.1, "the next four tenths": 0.5, "the other half": 1.0}
"""Classes of the cells of a LAU by falling density, with the cumulative share of cells."""


def lau_marginal(area: NDArray[np.uint16], names: Sequence[str], geography: Geography) -> Marginal:
    """Return the share of households in every LAU; the target is the share of real residents."""
    seen = np.bincount(area, minlength=len(names))
    planned = geography.residents / geography.residents.sum()
    large = _large(area, geography)
    shares = [Share(names[place], int(seen[place]), len(area), float(planned[place])) for place in large.tolist()]
    rest = Share("smaller LAUs", len(area) - int(seen[large].sum()), len(area), 1 - float(planned[large].sum()))
    return Marginal("households by LAU", (*shares, rest))


def density_marginal(area: NDArray[np.uint16], cell: Ints, geography: Geography) -> Marginal:
    """Return the shares of households by density of cells in the larger LAUs, with their targets."""
    order = np.argsort(area, kind="stable")
    ends = np.cumsum(np.bincount(area, minlength=len(geography.residents)))
    seen, planned, among = np.zeros(len(DENSITIES)), np.zeros(len(DENSITIES)), 0
    for place in _large(area, geography).tolist():
        inside = cell[order[ends[place - 1] if place else 0 : ends[place]]]
        known, density, shares = _plan(place, geography)
        # A cell without a target share has very few residents.
        found = np.searchsorted(known, inside).clip(max=len(known) - 1)
        drawn = np.where(known[found] == inside, density[found], len(DENSITIES) - 1)
        seen += np.bincount(drawn, minlength=len(DENSITIES))
        planned += len(inside) * np.bincount(density, shares, minlength=len(DENSITIES))
        among += len(inside)
    targets = planned / max(among, 1)
    return Marginal(
        "households by density of cells",
        tuple(Share(name, int(seen[k]), among, float(targets[k])) for k, name in enumerate(DENSITIES)),
    )


def _large(area: NDArray[np.uint16], geography: Geography) -> NDArray[np.intp]:
    return np.flatnonzero(geography.residents * len(area) >= LEAST * geography.residents.sum())


def _plan(area: int, geography: Geography) -> tuple[Ints, NDArray[np.intp], Floats]:
    """Return the cells of a LAU, the position of each in `DENSITIES`, and its share of the households."""
    offset = np.tile((np.arange(POINTS) + 0.5) * 2 / POINTS - 1, len(LOCALITIES))
    locality = np.repeat(np.arange(len(LOCALITIES), dtype=np.uint8), POINTS)
    found = geography.grid.cells(np.full(len(offset), area, dtype=np.uint16), locality, offset)
    known, place = np.unique(found, return_inverse=True)
    shares = np.asarray(np.bincount(place, np.array(LOCALITIES).take(locality) / POINTS), dtype=np.float64)
    rank = np.argsort(np.argsort(-shares, kind="stable"))
    ends = [np.ceil(part * len(known)) for part in DENSITIES.values()]
    return known, np.searchsorted(ends, rank, side="right"), shares


PERSONS = 1 << 18
SEXES = {MAN: "men", WOMAN: "women"}
EMPLOYED = "1.1"


def check(country: str, *, persons: int = PERSONS, seed: int = 1) -> tuple[Marginal, ...]:
    """Draw persons in memory and return their marginals with the targets.

    The marginals are age and sex, employment by age and sex, size of household, birth abroad by age, size of LAUs, and
    density of cells.
    """
    made = SyntheticCensus(country, persons, seed)
    sample = _Sample.draw(made)
    starts = np.flatnonzero(sample.starts)
    area, cell = sample.topics["GEO"][starts], sample.cell[starts]
    return (
        _ages_and_sexes(sample),
        _employment(sample),
        _household_sizes(sample),
        _foreign_born(sample),
        lau_marginal(area, made.codes["GEO"], made.geography),
        density_marginal(area, cell, made.geography),
    )


@dataclass(frozen=True)
class _Sample:
    """Persons with the positions of their codes, and the starts of households."""

    codes: dict[str, tuple[str, ...]]
    topics: dict[str, NDArray[Any]]
    years: NDArray[np.intp]
    cell: Ints
    starts: Flags

    @classmethod
    def draw(cls, made: SyntheticCensus) -> _Sample:
        blocks = [made.block(number) for number in range(made.blocks)]
        topics = {name: np.concatenate([block.topics[name] for block in blocks]) for name in made.codes}
        household = np.concatenate([block.household for block in blocks])
        starts = np.concatenate([[True], household[1:] != household[:-1]])
        years = np.argsort(made.ages).take(topics["AGE"])
        return cls(made.codes, topics, years, np.concatenate([block.cell for block in blocks]), starts)

    def with_codes(self, topic: str, *codes: str) -> Flags:
        """Return which persons have one of the codes."""
        return np.isin(self.topics[topic], [self.codes[topic].index(code) for code in codes])

    def of(self, sex: int) -> Flags:
        """Return which persons have the sex."""
        return self.with_codes("SEX", str(sex + 1))


def _steps(starts: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last age of each age group, and its label."""
    for start, end in pairwise([*starts, OLDEST + 1]):
        yield start, end - 1, f"{start} and over" if end > OLDEST else f"{start} to {end - 1}"


def _share(what: str, seen: Flags, among: Flags, percent: float) -> Share:
    return Share(what, int((seen & among).sum()), int(among.sum()), percent / 100)


def _ages_and_sexes(sample: _Sample) -> Marginal:
    all_persons = np.ones(len(sample.years), dtype=np.bool_)
    shares = [
        _share(
            f"{name} of {ages}",
            (sample.years >= first) & (sample.years <= last) & sample.of(sex),
            all_persons,
            AGES_AND_SEXES[first][sex] / 100,
        )
        for first, last, ages in _steps(AGES_AND_SEXES)
        for sex, name in SEXES.items()
    ]
    return Marginal("age and sex", tuple(shares))


def _employment(sample: _Sample) -> Marginal:
    """Return the shares employed in private households; outside them no person is employed."""
    employed, private = sample.with_codes("CAS", EMPLOYED), ~sample.with_codes("HST", *OUTSIDE)
    shares = [
        _share(
            f"{name} of {ages}",
            employed,
            private & (sample.years >= first) & (sample.years <= last) & sample.of(sex),
            ACTIVITY[first][sex][ACTIVITIES.index(EMPLOYED)],
        )
        for first, last, ages in _steps(ACTIVITY)
        for sex, name in SEXES.items()
    ]
    return Marginal("employed by age and sex", tuple(shares))


def _household_sizes(sample: _Sample) -> Marginal:
    starts = np.flatnonzero(sample.starts)
    size = np.diff(np.append(starts, len(sample.starts)))
    private = ~sample.with_codes("HST", *OUTSIDE)[starts]
    size = np.minimum(size, max(HOUSEHOLD_SIZES))
    shares = [_share(f"size {each}", size == each, private, percent) for each, percent in HOUSEHOLD_SIZES.items()]
    return Marginal("households by size", tuple(shares))


def _foreign_born(sample: _Sample) -> Marginal:
    abroad = ~sample.with_codes("POB", "1")
    shares = [
        _share(f"persons of {ages}", abroad, (sample.years >= first) & (sample.years <= last), FOREIGN_BORN[first][0])
        for first, last, ages in _steps(FOREIGN_BORN)
    ]
    return Marginal("born abroad by age", tuple(shares))
