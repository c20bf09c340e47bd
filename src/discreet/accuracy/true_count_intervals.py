"""Intervals for the true count behind a published one: the possible true counts, and the likely ones.

A user who knows the noise distribution, P(y | n) for a true count n, and has a flat prior on n = 0, 1, 2, .. obtains
from a published y the posterior

    P(n | y) = P(y | n) / sum over m >= 0 of P(y | m).

The certain interval contains every n with P(y | n) > 0. The likely interval excludes, on either side, true counts with
a total probability of at most (1 - level) / 2: 2.5 % below and 2.5 % above for 95 %. Far from 0 it is y plus and
minus a constant, for symmetric noise. Under the flat prior its coverage is at least the level for every y; in a table
of mostly small counts it may be higher or lower, which `coverage` measures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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

FLAT = "flat prior on true counts"
KNOWN, FITTING = "the noise distribution is known", "the noise distribution fits its published description"
ROUNDING = 1e-12
"""The tolerance for equal probabilities, the precision of sums of doubles."""
RARE = 1e-8
"""For unbounded noise, the smallest probability of a published count given the smallest true count. Lower published
counts are raised to the first count above this probability: the distribution is truncated not far below, so posteriors
there would depend on the truncation. The interval used instead is never too short if the probabilities are log-concave,
as those of our unbounded distributions are."""

AT_A_TIME = 1 << 22
"""The number of probabilities in memory at a time."""


@dataclass(frozen=True, eq=False)
class CountIntervals:
    """Published counts with the smallest and the largest true count of their intervals."""

    published: Ints
    lower: Ints
    upper: Ints

    @property
    def width(self) -> Ints:
        """Return largest minus smallest true count."""
        return self.upper - self.lower


def likely_intervals(law: AnyLaw, published: ArrayLike, level: float = USUAL) -> CountIntervals:
    """Return the central posterior interval of the true count for each published count.

    Args:
        law: the noise distribution by true count.
        published: published counts, in any shape.
        level: the minimum posterior probability of the interval, above 0 and below 1.

    >>> from discreet.noise.ptable import PTable
    >>> found = likely_intervals(PTable.max_entropy(variance=3, bound=5), [0, 12])
    >>> found.lower.tolist(), found.upper.tolist()
    ([0, 9], [3, 15])
    """
    _check_level(level)
    return _by_value(transition_matrix(law), published, lambda belief: _central(belief, level))


def certain_intervals(law: AnyLaw, published: ArrayLike) -> CountIntervals | None:
    """Return the smallest and the largest possible true count for each published count.

    Returns None for unbounded noise, which has no such interval.

    >>> from discreet.noise.by_count import transition_matrix
    >>> from discreet.noise.ptable import PTable
    >>> found = certain_intervals(transition_matrix(PTable.max_entropy(variance=3, bound=5)), [0, 12])
    >>> found.lower.tolist(), found.upper.tolist()
    ([0, 7], [5, 17])
    """
    law = transition_matrix(law)
    return _by_value(law, published, _possible) if math.isfinite(law.bound) else None


def small_counts(law: AnyLaw, level: float = USUAL, most: int | None = None) -> CountIntervals:
    """Return the likely intervals from the smallest possible published count to where their shape is constant.

    The last interval, shifted with the count, applies to all larger counts. If large counts use several distributions
    in turn, the intervals of the last cycle apply. For unbounded noise, the first interval applies to all smaller
    counts.

    Args:
        law: the noise distribution by true count.
        level: the minimum posterior probability of the intervals.
        most: the largest absolute published count; wide distributions become constant only at large counts.
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
    """Return the first publishable count from a start on: rounding and thresholds exclude some counts."""
    law = transition_matrix(law)
    # One at a time: the first is nearly always possible, and wide distributions have many candidates.
    candidates = range(start, start + _settled(law) + law.repeat + law.reach)
    return next((each for each in candidates if _possible_at_all(law, np.array([each]))[0]), start)


def interval_result(law: AnyLaw, published: int, level: float = USUAL, *, guessed: bool = False) -> Result:
    """Return the interval of one published count; for a guessed distribution without the certain range.

    >>> from discreet.noise.ptable import PTable
    >>> interval_result(PTable.max_entropy(variance=3, bound=5), 12).sentence.split(" (")[0]
    'A published 12 has a true count of 9 to 15 persons with probability at least 0.95'
    """
    likely, certain = likely_intervals(law, published, level), certain_intervals(law, published)
    if guessed:
        limits = ""
    elif certain is None:
        limits = " Every true count is possible."
    elif certain.lower > 0:
        limits = f" The true count is certainly between {certain.lower} and {certain.upper}."
    else:
        limits = f" The true count is certainly at most {certain.upper}."
    return Result(
        name=f"interval_of_{published}",
        equation="n with P(less | y) and P(more | y) of at most (1 - level) / 2, P(n | y) = P(y | n) / sum of P(y | m)",
        value=float(likely.width),
        unit="persons",
        sentence=f"A published {published} has a true count of {_span(int(likely.lower), int(likely.upper))} with "
        f"probability at least {level:g} (flat prior).{limits}",
        assumptions=(FLAT, FITTING if guessed else KNOWN),
    )


@dataclass(frozen=True)
class Coverage:
    """The coverage of the likely intervals.

    Attributes:
        level: the nominal level of the intervals.
        cells: the number of cells with a true count above 0.
        held: the share of these cells whose interval contains the true count.
        width: the mean width of their intervals, largest minus smallest count.
    """

    level: float
    cells: int
    held: float
    width: float

    def results(self) -> list[Result]:
        """Return the coverage and the mean width."""
        assumptions = (FLAT, "the actual counts do not follow it, so the coverage may differ from the level", KNOWN)
        return [
            Result(
                name="interval_coverage",
                equation="share of lower(published) <= true <= upper(published) among true > 0",
                value=self.held,
                unit="1",
                sentence=f"Intervals with a nominal level of {self.level:g} contain the true count for {self.held:.1%} "
                f"of {self.cells:,} counts above 0.",
                assumptions=assumptions,
            ),
            Result(
                name="interval_width",
                equation="mean of upper(published) - lower(published) among true > 0",
                value=self.width,
                unit="persons",
                sentence=f"The mean width of these intervals, largest minus smallest count, is {self.width:.1f} "
                "persons.",
                assumptions=assumptions,
            ),
        ]


def coverage(found: CountPairs, law: TransitionMatrix, level: float = USUAL) -> Coverage:
    """Return coverage and mean width of the likely intervals for true counts above 0."""
    occupied = found.occupied
    if not occupied.cells:
        raise NothingToCountError(
            "No cell has a true count above 0, so coverage is undefined. Check that the true counts belong to these "
            "tables."
        )
    made = likely_intervals(law, occupied.published, level)
    held = occupied.among((made.lower <= occupied.true) & (occupied.true <= made.upper))
    return Coverage(level, occupied.cells, held / occupied.cells, int(made.width @ occupied.times) / occupied.cells)


def _by_value(
    law: TransitionMatrix, published: ArrayLike, choose: Callable[[Floats], tuple[int, int]]
) -> CountIntervals:
    """Return intervals chosen from the posteriors, computed once per distinct published count.

    Where the distributions repeat, a count has the shifted interval of the first count with the same distributions.
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
                f"A count of {value} cannot be published under this noise distribution. Check that the distribution "
                "is the one of this release.",
                parameter="published",
            )
        chosen.append(choose(row))
    ends = np.array(chosen, dtype=np.int64).reshape(-1, 2)
    first = values - law.reach
    found = ends[place.reshape(asked.shape)]
    return CountIntervals(asked, first + found[..., 0], first + found[..., 1])


def _beliefs(law: TransitionMatrix, published: Ints) -> Iterator[Floats]:
    """Yield P(y | n) for n = y - reach .. y + reach, in batches of y; proportional to P(n | y)."""
    noise = np.arange(-law.reach, law.reach + 1)
    rows = max(AT_A_TIME // len(noise), 1)
    for start in range(0, len(published), rows):
        shown = published[start : start + rows, None]
        yield np.where(shown + noise >= 0, law.chance(shown + noise, shown), 0.0)


def _possible_at_all(law: TransitionMatrix, published: Ints) -> Flags:
    """Return which counts can be published for some true count."""
    found = [beliefs.sum(axis=1) > 0 for beliefs in _beliefs(law, published)]
    return np.concatenate([np.zeros(0, dtype=bool), *found])


def _settled(law: TransitionMatrix) -> int:
    """Return the published count from which on all possible true counts have the distributions of large counts."""
    return len(law.laws) - law.repeat + law.reach


def _lowest(law: TransitionMatrix) -> int:
    """Return the smallest publishable count; for unbounded noise, the smallest with a probability above RARE."""
    if law.non_negative:
        return 0
    least = 0 if math.isfinite(law.bound) else RARE
    return min(row + int(np.flatnonzero(chances > least)[0]) for row, chances in enumerate(law.laws)) - law.reach


def _central(belief: Floats, level: float) -> tuple[int, int]:
    """Return the first and last index such that each side excludes a probability of at most (1 - level) / 2."""
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


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError.outside("intervals", "level", level, "above 0 and below 1", "0.5 to 0.99")
