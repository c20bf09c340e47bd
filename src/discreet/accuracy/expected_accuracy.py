"""Expected accuracy of a noise distribution, averaged over all draws of the noise.

With x the noise of a true count n, three figures need no data: the root mean square of x for large n, P(n + x <= 0) for
n = 1, and the smallest count from which on P(|x| > 0.2 n) <= 0.05. For the true counts n of a release and their noise
distributions P(x | n), the means over all draws are exact sums:

    E d1 = E|y - n|,   E d2 = E|y - n| / n,   P(y <= 0),   with y = n + x, or max(n + x, 0) without negative counts,

and P(y > 0) for empty cells.

The paper's heuristic utility constraint: t counts with Laplace noise all stay within E with confidence alpha if
epsilon > log(t / (1 - alpha)) / E, a union bound on the continuous distribution. The exact condition for t independent
two-sided geometric noise terms is (1 - 2 q^(E + 1) / (1 + q))^t >= alpha with q = exp(-epsilon).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.distortion import RELATIVE, Tails
from discreet.errors import NothingToCountError, ParameterError
from discreet.results import Result

if TYPE_CHECKING:
    from discreet.accuracy.count_pairs import CountPairs
    from discreet.arrays import Floats, Ints
    from discreet.noise.by_count import TransitionMatrix

ONE_SIGMA = 0.68
"""The paper's confidence."""
FINEST = 1e-12
"""The relative width at which bisection ends."""


def epsilon_needed(bound: float, counts: int, confidence: float = ONE_SIGMA) -> float:
    """Return the paper's epsilon, log(t / (1 - alpha)) / E.

    Args:
        bound: the largest acceptable error E, in persons.
        counts: the number t of counts that must all stay within E.
        confidence: the probability alpha that all counts stay within E.

    >>> round(epsilon_needed(20, 68), 2), round(epsilon_needed(20, 37_000), 2)
    (0.27, 0.58)
    """
    _check(bound, counts, confidence)
    return math.log(counts / (1 - confidence)) / bound


def exact_epsilon_needed(bound: int, counts: int, confidence: float = ONE_SIGMA) -> float:
    """Return the smallest epsilon at which t independent two-sided geometric noise terms all stay within E.

    >>> round(exact_epsilon_needed(20, 68), 3)
    0.252
    """
    _check(bound, counts, confidence)
    whole = math.floor(bound)
    low, high = 0.0, 1.0
    while _all_within(high, whole, counts) < confidence:
        low, high = high, 2 * high
    while high - low > FINEST * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _all_within(middle, whole, counts) >= confidence else (middle, high)
    return high


def chance_within(law: TransitionMatrix, counts: Ints, bound: int) -> float:
    """Return the probability that no count has an error above a bound, for independent noise.

    >>> from discreet.noise.by_count import transition_matrix
    >>> from discreet.noise.ptable import PTable
    >>> chance_within(transition_matrix(PTable.max_entropy(variance=2, bound=5)), np.arange(100), 5)
    1.0
    """
    if bound < 0:
        raise ParameterError.outside("accuracy", "bound", bound, "zero or a positive whole number", "5 to 20")
    distinct, times = np.unique(counts, return_counts=True)
    off = Tails.of(law).reaching(distinct, np.full(distinct.shape, bound + 1)).either
    with np.errstate(divide="ignore"):
        return float(np.exp(times @ np.log1p(-np.minimum(off, 1.0))))


def _all_within(epsilon: float, bound: int, counts: int) -> float:
    """Return P(max |x| <= E) of t independent two-sided geometric noise terms."""
    off = 2 * math.exp(-epsilon * (bound + 1)) / (1 + math.exp(-epsilon))
    return math.exp(counts * math.log1p(-off)) if off < 1 else 0.0


def _check(bound: float, counts: int, confidence: float) -> None:
    for what, value, allowed, words, usual in (
        ("bound", bound, 0 < bound < math.inf, "a positive number", "5 to 20"),
        ("counts", counts, counts >= 1, "a whole number of 1 or more", "the areas of a country"),
        ("confidence", confidence, 0 < confidence < 1, "above 0 and below 1", "0.68 or 0.95"),
    ):
        if not allowed:
            raise ParameterError.outside("accuracy", what, value, words, usual)


@dataclass(frozen=True)
class Expected:
    """Expected errors of counts above 0, averaged over all draws of the noise.

    Attributes:
        absolute: the mean absolute error.
        relative: the mean relative error.
        lost: the expected share of lost counts, published as 0 or less.
        false_positives: the expected share of empty cells published above 0.
    """

    absolute: float
    relative: float
    lost: float
    false_positives: float

    def results(self) -> list[Result]:
        """Return the expected errors and shares."""
        counts = "cells with a true count of 0 are excluded"
        return [
            Result(
                name="expected_absolute_distance",
                equation="mean over true > 0 of E|published - true|",
                value=self.absolute,
                unit="persons",
                sentence=f"Over all draws of the noise, the mean absolute error of counts above 0 is "
                f"{self.absolute:.2f}, the mean relative error {self.relative:.1%}, and {self.lost:.1%} of counts are "
                "lost.",
                assumptions=(counts,),
            ),
            Result(
                name="expected_relative_distance",
                equation="mean over true > 0 of E|published - true| / true",
                value=self.relative,
                unit="1",
                sentence=f"The expected mean relative error of counts above 0 is {self.relative:.1%}.",
                assumptions=(counts,),
            ),
            Result(
                name="expected_lost_counts",
                equation="mean over true > 0 of P(published <= 0)",
                value=self.lost,
                unit="1",
                sentence=f"Expected lost counts: {self.lost:.1%} of counts above 0 are published as 0 or less.",
                assumptions=(counts,),
            ),
            Result(
                name="expected_false_positives",
                equation="P(published > 0 | true = 0)",
                value=self.false_positives,
                unit="1",
                sentence=f"Expected false positives: {self.false_positives:.1%} of empty cells are published above 0.",
            ),
        ]


def expected(found: CountPairs, law: TransitionMatrix) -> Expected:
    """Return the expected errors of true counts above 0 under a noise distribution.

    >>> from discreet.noise.by_count import transition_matrix
    >>> from discreet.noise.uniform import Uniform
    >>> from discreet.accuracy.count_pairs import pair_times
    >>> expected(pair_times([1, 4], [1, 4]), transition_matrix(Uniform(bound=1))).lost
    0.16666666666666666
    """
    occupied = found.occupied
    if not occupied.cells:
        raise NothingToCountError("No cell has a true count above 0, so expected errors are undefined.")
    counts, place = np.unique(occupied.true, return_inverse=True)
    weight = np.bincount(place, occupied.times) / occupied.cells
    distance, lost = _distance(law, counts), _lost(law, counts)
    positives = float(law.laws[0][law.reach + 1 :].sum())
    return Expected(float(weight @ distance), float(weight @ (distance / counts)), float(weight @ lost), positives)


def _distance(law: TransitionMatrix, counts: Ints) -> Floats:
    """Return E|y - n| of every true count."""
    size = np.abs(np.arange(-law.reach, law.reach + 1))
    whole = np.stack([row @ size for row in law.laws])[law.rows(counts)]
    if not law.non_negative:
        return whole
    # If n + x is negative, the distance is n instead of |x|.
    beyond = np.stack([np.cumsum(row * size) for row in law.laws])[law.rows(counts), _below(law, counts)]
    chance = np.stack([np.cumsum(row) for row in law.laws])[law.rows(counts), _below(law, counts)]
    cut = counts < law.reach
    return whole + np.where(cut, counts * chance - beyond, 0.0)


def _lost(law: TransitionMatrix, counts: Ints) -> Floats:
    """Return P(y <= 0) = P(x <= -n) of every true count."""
    until = np.stack([np.cumsum(row) for row in law.laws])
    chance = until[law.rows(counts), np.clip(law.reach - counts, 0, None)]
    return np.where(counts <= law.reach, chance, 0.0)


def _below(law: TransitionMatrix, counts: Ints) -> Ints:
    """Return the index of the largest noise that makes the count negative."""
    return np.clip(law.reach - counts - 1, 0, None)


RARELY = 0.05
"""The largest acceptable share of reliable counts with a large relative error."""
LARGEST = 1_000_000
"""The largest count in the search."""


def expected_effects(law: TransitionMatrix) -> list[Result]:
    """Return typical noise, the loss rate of singleton cells, and the size from which on counts are reliable.

    >>> from discreet.noise.by_count import transition_matrix
    >>> from discreet.noise.ptable import PTable
    >>> [round(each.value, 3) for each in expected_effects(transition_matrix(PTable.max_entropy(variance=2, bound=5)))]
    [1.414, 0.488, 15.0]
    """
    return [_typical(law), _singleton_loss(law), _reliable(law)]


def reliable_from(law: TransitionMatrix, relative: float = RELATIVE[0], rarely: float = RARELY) -> int | None:
    """Return the smallest size from which on at most a share `rarely` of counts exceed a relative error, or None."""
    tails = Tails.of(law)
    # Counts beyond the reach of the noise have smaller relative errors.
    most = min(math.ceil(law.reach / relative) + 1, LARGEST)
    counts = np.arange(1, most + 1)
    off = tails.beyond(counts, relative).either > rarely
    last = int(counts[off][-1]) if off.any() else 0
    return last + 1 if last < most else None


def _typical(law: TransitionMatrix) -> Result:
    change = law.typical_change
    most = f"at most {law.bound:g}" if math.isfinite(law.bound) else "unbounded, occasionally much larger"
    return Result(
        name="typical_noise",
        value=change,
        unit="persons",
        sentence=f"Typical noise of a large count (root mean square): {change:.1f}; {most}.",
        equation="sqrt(V + mean^2)",
    )


def _singleton_loss(law: TransitionMatrix) -> Result:
    lost = float(Tails.of(law).reaching(np.array([1]), np.array([1])).down[0])
    return Result(
        name="singleton_lost",
        value=lost,
        unit="1",
        sentence=f"A singleton cell is published as 0 or less in {lost:.0%} of cases.",
        equation="P(1 + x <= 0)",
    )


def _reliable(law: TransitionMatrix) -> Result:
    found = reliable_from(law)
    errors = f"counts with a relative error above {RELATIVE[0]:.0%}"
    return Result(
        name="reliable_from",
        value=math.inf if found is None else float(found),
        unit="persons",
        sentence=f"The share of {errors} exceeds {RARELY:.0%} even at the largest size examined."
        if found is None
        else f"From {found:,} persons on, the share of {errors} is at most {RARELY:.0%}.",
        equation=f"smallest n with P(|x| > {RELATIVE[0]:g} m) <= {RARELY:g} for all m >= n",
    )
