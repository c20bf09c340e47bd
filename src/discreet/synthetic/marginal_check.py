"""Whether a sample of the synthetic census has the marginals that its tables and its geography state."""

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
"""How far a share may be from its target for any size of the sample, as a part of the target."""
CHANCE = 5
"""How many standard errors of the sample it may be farther."""


@dataclass(frozen=True)
class Share:
    """One share of a sample: how many units were seen among how many, and the target.

    >>> Share("women", 480, 1000, 0.5).agrees
    True
    """

    what: str
    seen: int
    among: int
    target: float

    @property
    def value(self) -> float:
        """Return the share in the sample; where there is nobody it is the target."""
        return self.seen / self.among if self.among else self.target

    @property
    def farness(self) -> float:
        """Return |p - t| / (0.05 t + 5 sqrt(t (1 - t) / n)) for a share p of n units and its target t."""
        apart = abs(self.value - self.target)
        if not apart:
            return 0.0
        error = math.sqrt(max(self.target * (1 - self.target), 0.0) / self.among)
        allowed = LEEWAY * self.target + CHANCE * error
        return apart / allowed if allowed else math.inf

    @property
    def agrees(self) -> bool:
        """Say whether the share is as near its target as leeway and chance allow."""
        return self.farness <= 1

    def __str__(self) -> str:
        return f"{self.what} {self.value:.2%}, target {self.target:.2%}"


@dataclass(frozen=True)
class Marginal:
    """The shares of one marginal of the census."""

    name: str
    shares: tuple[Share, ...]

    @property
    def agrees(self) -> bool:
        """Say whether all shares agree with their targets."""
        return all(share.agrees for share in self.shares)

    @property
    def farthest(self) -> Share:
        """Return the share that is farthest from its target."""
        return max(self.shares, key=lambda share: share.farness)

    def __str__(self) -> str:
        verdict = "agree" if self.agrees else "do NOT agree"
        return f"{self.name}: {len(self.shares)} shares {verdict}; farthest: {self.farthest}"


LEAST = 100
"""Households that a LAU is expected to have to be looked at by itself; smaller ones are looked at together."""
POINTS = 8000
"""Places in each locality from which the plan of its cells is taken."""
DENSITIES = {"the densest tenth of the cells of a LAU": 0.1, "the next four tenths": 0.5, "the other half": 1.0}
"""Cells of a LAU in the order of their density, up to this part of them."""


def lau_sizes(area: NDArray[np.uint16], names: Sequence[str], geography: Geography) -> Marginal:
    """Return the households of every LAU beside the share of real residents."""
    seen = np.bincount(area, minlength=len(names))
    planned = geography.residents / geography.residents.sum()
    large = _large(area, geography)
    shares = [Share(names[place], int(seen[place]), len(area), float(planned[place])) for place in large.tolist()]
    rest = Share("smaller LAUs", len(area) - int(seen[large].sum()), len(area), 1 - float(planned[large].sum()))
    return Marginal("households by LAU", (*shares, rest))


def cells(area: NDArray[np.uint16], cell: Ints, geography: Geography) -> Marginal:
    """Return the households in dense and in thin cells of the larger LAUs beside the plan."""
    order = np.argsort(area, kind="stable")
    ends = np.cumsum(np.bincount(area, minlength=len(geography.residents)))
    seen, planned, among = np.zeros(len(DENSITIES)), np.zeros(len(DENSITIES)), 0
    for place in _large(area, geography).tolist():
        inside = cell[order[ends[place - 1] if place else 0 : ends[place]]]
        known, density, shares = _plan(place, geography)
        # A cell that the plan has missed is one in which hardly anybody lives.
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
    """Return the cells of a LAU, how dense each is as a place in `DENSITIES`, and its share of the households."""
    luck = np.tile((np.arange(POINTS) + 0.5) * 2 / POINTS - 1, len(LOCALITIES))
    locality = np.repeat(np.arange(len(LOCALITIES), dtype=np.uint8), POINTS)
    found = geography.grid.cells(np.full(len(luck), area, dtype=np.uint16), locality, luck)
    known, place = np.unique(found, return_inverse=True)
    shares = np.asarray(np.bincount(place, np.array(LOCALITIES).take(locality) / POINTS), dtype=np.float64)
    rank = np.argsort(np.argsort(-shares, kind="stable"))
    ends = [np.ceil(part * len(known)) for part in DENSITIES.values()]
    return known, np.searchsorted(ends, rank, side="right"), shares


PERSONS = 1 << 18
SEXES = {MAN: "men", WOMAN: "women"}
EMPLOYED = "1.1"


def check(country: str, *, persons: int = PERSONS, seed: int = 1) -> tuple[Marginal, ...]:
    """Draw persons, whom memory must hold, and return their marginals beside the targets.

    Age and sex, employment by age and sex, size of household, birth abroad by age, size of LAUs, density of cells.
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
        lau_sizes(area, made.codes["GEO"], made.geography),
        cells(area, cell, made.geography),
    )


@dataclass(frozen=True)
class _Sample:
    """Persons with their codes as places, and where households start."""

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

    def having(self, topic: str, *codes: str) -> Flags:
        """Say who has one of some codes."""
        return np.isin(self.topics[topic], [self.codes[topic].index(code) for code in codes])

    def of(self, sex: int) -> Flags:
        """Say who has a sex."""
        return self.having("SEX", str(sex + 1))


def _steps(starts: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Return the first and the last age of each step, and both in words."""
    for start, end in pairwise([*starts, OLDEST + 1]):
        yield start, end - 1, f"{start} and over" if end > OLDEST else f"{start} to {end - 1}"


def _share(what: str, seen: Flags, among: Flags, percent: float) -> Share:
    return Share(what, int((seen & among).sum()), int(among.sum()), percent / 100)


def _ages_and_sexes(sample: _Sample) -> Marginal:
    everybody = np.ones(len(sample.years), dtype=np.bool_)
    shares = [
        _share(
            f"{name} of {ages}",
            (sample.years >= first) & (sample.years <= last) & sample.of(sex),
            everybody,
            AGES_AND_SEXES[first][sex] / 100,
        )
        for first, last, ages in _steps(AGES_AND_SEXES)
        for sex, name in SEXES.items()
    ]
    return Marginal("age and sex", tuple(shares))


def _employment(sample: _Sample) -> Marginal:
    """Of those in private households: outside them nobody is employed."""
    employed, private = sample.having("CAS", EMPLOYED), ~sample.having("HST", *OUTSIDE)
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
    private = ~sample.having("HST", *OUTSIDE)[starts]
    size = np.minimum(size, max(HOUSEHOLD_SIZES))
    shares = [_share(f"size {each}", size == each, private, percent) for each, percent in HOUSEHOLD_SIZES.items()]
    return Marginal("households by size", tuple(shares))


def _foreign_born(sample: _Sample) -> Marginal:
    abroad = ~sample.having("POB", "1")
    shares = [
        _share(f"persons of {ages}", abroad, (sample.years >= first) & (sample.years <= last), FOREIGN_BORN[first][0])
        for first, last, ages in _steps(FOREIGN_BORN)
    ]
    return Marginal("born abroad by age", tuple(shares))
