"""Whether persons drawn have the marginals that the tables of the synthetic census state."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.synthetic.blocks import SyntheticCensus
from discreet.synthetic.check_places import cells, lau_sizes
from discreet.synthetic.households import HOUSEHOLD_SIZES
from discreet.synthetic.living import OUTSIDE
from discreet.synthetic.marginals import Marginal, Share
from discreet.synthetic.origin import FOREIGN_BORN
from discreet.synthetic.people import AGES_AND_SEXES, MAN, WOMAN
from discreet.synthetic.shares import OLDEST
from discreet.synthetic.work import ACTIVITIES, ACTIVITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Ints

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
