"""Intervals for the true count behind a published one: the possible true counts, and the likely ones.

A user who knows the noise distribution, P(y | n) for a true count n, and has a flat prior on n = 0, 1, 2, .. obtains
from a published y the posterior

    P(n | y) = P(y | n) / sum over m >= 0 of P(y | m).

The certain interval contains every n with P(y | n) > 0. The likely one excludes, on either side, true counts of a total
probability of at most half of what a level allows: 2.5 % below and 2.5 % above for 95 %. Far from 0 it is y plus and
minus a constant, for symmetric noise. Under the flat prior its coverage is at least the level for every y; in a table
of mostly small counts it may be higher or lower, which `coverage` measures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import whole
from discreet.errors import NothingToCountError, ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.noise.published_counts import USUAL
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

    from discreet.accuracy.count_pairs import CountPairs
    from discreet.arrays import Flags, Floats, Ints
    from discreet.noise.by_count import AnyLaw, TransitionMatrix

FLAT = "before the publication all true counts are equally likely"
KNOWN, FITTING = "the law of the noise is known", "the law of the noise fits what is told of it"
ROUNDING = 1e-12
"""Probabilities closer than this are equal: sums of doubles are no more exact."""
RARE = 1e-8
"""Without a bound, a published count so low that even the smallest true count leads to it less often is raised to
the first that is not. The law is cut not far below, so beliefs there would be those of the cut; the interval that is
taken instead is never too short where the probabilities are log-concave, as those of our unbounded laws are."""

AT_A_TIME = 1 << 22
"""Probabilities that are held at a time."""


@dataclass(frozen=True, eq=False)
class CountIntervals:
    """Published counts and, for each, the smallest and the largest true count of its interval."""

    published: Ints
    lower: Ints
    upper: Ints

    @property
    def width(self) -> Ints:
        """Return largest minus smallest true count."""
        return self.upper - self.lower


def likely_intervals(law: AnyLaw, published: ArrayLike, level: float = USUAL) -> CountIntervals:
    """Return for each published count the true counts between the two tails that the level leaves out.

    Args:
        law: the law of the noise by true count.
        published: published counts, in any shape.
        level: the probability that the interval must have, above 0 and below 1.

    >>> from discreet.noise.ptable import PTable
    >>> found = likely_intervals(PTable.max_entropy(variance=3, bound=5), [0, 12])
    >>> found.lower.tolist(), found.upper.tolist()
    ([0, 9], [3, 15])
    """
    _check_level(level)
    return _by_value(transition_matrix(law), published, lambda belief: _central(belief, level))


def certain_intervals(law: AnyLaw, published: ArrayLike) -> CountIntervals | None:
    """Return for each published count the smallest and the largest true count that can have led to it.

    A law without bound has no such interval: the answer is None.

    >>> from discreet.noise.by_count import transition_matrix
    >>> from discreet.noise.ptable import PTable
    >>> found = certain_intervals(transition_matrix(PTable.max_entropy(variance=3, bound=5)), [0, 12])
    >>> found.lower.tolist(), found.upper.tolist()
    ([0, 7], [5, 17])
    """
    law = transition_matrix(law)
    return _by_value(law, published, _possible) if math.isfinite(law.bound) else None


def small_counts(law: AnyLaw, level: float = USUAL, most: int | None = None) -> CountIntervals:
    """Return the likely intervals from the smallest count that can be published to where they go on alike.

    The last one speaks for all larger counts: shifted by as much as the count. Where several laws take turns for
    large counts, the last ones do, one turn of them. Without a bound the first one speaks for all smaller counts.

    Args:
        law: the law of the noise by true count.
        level: the probability that the intervals must have.
        most: the largest published count to go to, up or down; wide laws go on alike only far out.
    """
    law = transition_matrix(law)
    until, lowest = _settled(law) + law.repeat, _lowest(law)
    ends = (lowest, until) if most is None else (max(lowest, -most), min(until, most + 1))
    candidates = np.arange(*ends)
    able = candidates[_possible_at_all(law, candidates)]
    found = likely_intervals(law, able, level)
    if law.repeat > 1 or ends[1] < until:
        return found
    alike = (found.lower - able == found.lower[-1] - able[-1]) & (found.upper - able == found.upper[-1] - able[-1])
    differs = np.flatnonzero(~alike)
    until = differs[-1] + 2 if len(differs) else 1
    return CountIntervals(able[:until], found.lower[:until], found.upper[:until])


def first_published(law: AnyLaw, start: int) -> int:
    """Return the first count from a start on that can be published: rounding and thresholds leave some out."""
    law = transition_matrix(law)
    # One after the other: nearly always the first will do, and wide laws have many candidates.
    candidates = range(start, start + _settled(law) + law.repeat + law.reach)
    return next((each for each in candidates if _possible_at_all(law, np.array([each]))[0]), start)


def interval_result(law: AnyLaw, published: int, level: float = USUAL, *, guessed: bool = False) -> Result:
    """Return in words what one published count stands for; of a law that was guessed, without what is certain.

    >>> from discreet.noise.ptable import PTable
    >>> interval_result(PTable.max_entropy(variance=3, bound=5), 12).sentence.split(",")[0]
    'A published 12 stands for 9 to 15 persons in at least 19 of 20 cases'
    """
    likely, certain = likely_intervals(law, published, level), certain_intervals(law, published)
    if guessed:
        limits = ""
    elif certain is None:
        limits = " No count is impossible."
    elif certain.lower > 0:
        limits = f" It never stands for less than {certain.lower} or more than {certain.upper}."
    else:
        limits = f" It never stands for more than {certain.upper}."
    return Result(
        name=f"interval_of_{published}",
        equation="n with P(less | y) and P(more | y) of at most (1 - level) / 2, P(n | y) = P(y | n) / sum of P(y | m)",
        value=float(likely.width),
        unit="persons",
        sentence=f"A published {published} stands for {_span(int(likely.lower), int(likely.upper))} in at least "
        f"{_share(level)} cases, if all true counts are equally likely beforehand.{limits}",
        assumptions=(FLAT, FITTING if guessed else KNOWN),
    )


@dataclass(frozen=True)
class Coverage:
    """How the likely intervals did.

    Attributes:
        level: the probability they were made for.
        cells: the cells with a true count above 0.
        held: the share of these whose true count lies in its interval.
        width: the mean of largest minus smallest count of their intervals.
    """

    level: float
    cells: int
    held: float
    width: float

    def results(self) -> list[Result]:
        """Return the share that held and the mean width."""
        assumptions = (FLAT, "they were not, so the share may miss the level", KNOWN)
        return [
            Result(
                name="interval_coverage",
                equation="share of lower(published) <= true <= upper(published) among true > 0",
                value=self.held,
                unit="1",
                sentence=f"Intervals made to hold in {_share(self.level)} cases hold the true count of {self.held:.1%} "
                f"of {self.cells:,} counts above 0.",
                assumptions=assumptions,
            ),
            Result(
                name="interval_width",
                equation="mean of upper(published) - lower(published) among true > 0",
                value=self.width,
                unit="persons",
                sentence=f"From their smallest to their largest count they are {self.width:.1f} persons wide on "
                "average.",
                assumptions=assumptions,
            ),
        ]


def coverage(found: CountPairs, law: TransitionMatrix, level: float = USUAL) -> Coverage:
    """Return how often the likely intervals hold true counts above 0, and how wide they are."""
    occupied = found.occupied
    if not occupied.cells:
        raise NothingToCountError(
            "No cell has a true count above 0, so no interval can hold one. See that the true counts are those of "
            "these tables."
        )
    made = likely_intervals(law, occupied.published, level)
    held = occupied.among((made.lower <= occupied.true) & (occupied.true <= made.upper))
    return Coverage(level, occupied.cells, held / occupied.cells, int(made.width @ occupied.times) / occupied.cells)


def _by_value(
    law: TransitionMatrix, published: ArrayLike, choose: Callable[[Floats], tuple[int, int]]
) -> CountIntervals:
    """Return intervals that are chosen from the beliefs, once per different published count.

    From where the laws repeat themselves, a count has the interval of the first one with the same laws, shifted.
    """
    asked = whole(published, "published")
    values = asked if math.isfinite(law.bound) or law.non_negative else np.maximum(asked, _lowest(law))
    settled = _settled(law)
    alike = np.where(values < settled, values, settled + (values - settled) % law.repeat)
    distinct, place = np.unique(alike, return_inverse=True)
    chosen: list[tuple[int, int]] = []
    for row in (row for beliefs in _beliefs(law, distinct) for row in beliefs):
        if not row.any():
            value = asked.reshape(-1)[place.reshape(-1) == len(chosen)][0]
            raise ParameterError(
                f"A count of {value} is never published under this law of noise, whatever the true count. See that the "
                "law is the one of this release.",
                parameter="published",
            )
        chosen.append(choose(row))
    ends = np.array(chosen, dtype=np.int64).reshape(-1, 2)
    first = values - law.reach
    found = ends[place.reshape(asked.shape)]
    return CountIntervals(asked, first + found[..., 0], first + found[..., 1])


def _beliefs(law: TransitionMatrix, published: Ints) -> Iterator[Floats]:
    """Give, for some y at a time, P(y | n) of n = y - reach .. y + reach, which is P(n | y) but for a factor."""
    noise = np.arange(-law.reach, law.reach + 1)
    rows = max(AT_A_TIME // len(noise), 1)
    for start in range(0, len(published), rows):
        shown = published[start : start + rows, None]
        yield np.where(shown + noise >= 0, law.chance(shown + noise, shown), 0.0)


def _possible_at_all(law: TransitionMatrix, published: Ints) -> Flags:
    """Say which counts any true count can lead to."""
    found = [beliefs.sum(axis=1) > 0 for beliefs in _beliefs(law, published)]
    return np.concatenate([np.zeros(0, dtype=bool), *found])


def _settled(law: TransitionMatrix) -> int:
    """Return the published count from which on all true counts behind it have the laws of large counts."""
    return len(law.laws) - law.repeat + law.reach


def _lowest(law: TransitionMatrix) -> int:
    """Return the smallest count that can be published; without a bound, that is not RARE."""
    if law.non_negative:
        return 0
    least = 0 if math.isfinite(law.bound) else RARE
    return min(row + int(np.flatnonzero(chances > least)[0]) for row, chances in enumerate(law.laws)) - law.reach


def _central(belief: Floats, level: float) -> tuple[int, int]:
    """Return the first and last place so that no side leaves out more than half of what the level allows."""
    until = np.cumsum(belief / belief.sum())
    outside = (1 - level) / 2
    first = int(np.searchsorted(until, outside + ROUNDING, side="right"))
    last = int(np.searchsorted(until, 1 - outside - ROUNDING))
    return first, min(last, len(belief) - 1)


def _possible(belief: Floats) -> tuple[int, int]:
    places = np.flatnonzero(belief)
    return int(places[0]), int(places[-1])


def _span(low: int, high: int) -> str:
    if low == high:
        return f"{low} {'person' if low == 1 else 'persons'}"
    return f"{low} to {high} persons"


def _share(level: float) -> str:
    share = Fraction(level).limit_denominator(1000)
    return f"{share.numerator} of {share.denominator}"


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError.outside("intervals", "level", level, "above 0 and below 1", "0.5 to 0.99")
