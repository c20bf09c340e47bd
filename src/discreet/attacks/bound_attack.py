"""Bound disclosure: infer the bound E of the noise from additive tuples.

The gap g of c published parts and their total lies within +-(c + 1) E, so E is at least ceil(|g| / (c + 1)). The
largest of these limits is the estimate. Asghar and Kaafar (2020): m tuples of large
counts reveal E with probability

    1 - (1 - p1)^m,  p1 = P(|g| > (c + 1)(E - 1)).

The attacker's confidence is a posterior, since a limit of 3 also occurs under a bound of 5. All bounds e from the limit
to the largest possible one are equally likely beforehand. The likelihood of the limit L is

    P(limit = L | e) = prod F_e(L)^m - prod F_e(L - 1)^m,  F_e(L) = P(|g| <= (c + 1) L),

for maximum-entropy noise within e of the disclosed size. If the noise distribution is known, rival bounds keep its
shape, so that only the bound differs (`noise.rival_noise`). `residual_attack` is the second variant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.additive_tuples import additive_tuples, same_cells, single_noises
from discreet.attacks.attack_estimates import ATTACKS, AttackEstimates
from discreet.attacks.attacker_view import belief_told
from discreet.attacks.residual_attack import bound_by_residuals
from discreet.attacks.scoring import CLASSES
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.rival_noise import rival

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attack_estimates import Truth
    from discreet.attacks.attacker_view import AssumedNoise, AttackerView
    from discreet.attacks.scoring import Score

PARTS = (2, 3, 4)
"""Numbers of parts that are used; tuples of more reveal a bound so rarely that they add nothing."""
MOST_CANDIDATES = 50
"""Bounds above the limit that are told apart; all larger ones are as likely as the last."""
ROUNDED = 0.05
"""A release tells the size of its noise to one decimal."""
STEPS = 4
"""Points of a curve before the last, each with half the tuples of the next."""
EQUALLY_LIKELY = (
    "noise of maximum entropy within its bound, of the size that the release tells; every bound from the limit to the "
    "largest that is possible equally likely beforehand"
)
INDEPENDENT = (
    "noises and tuples are independent (plain keys keep gaps far narrower); tuples of small counts set a limit, and "
    "only large counts weigh in the confidence and in the formula"
)


@dataclass(frozen=True)
class BoundPoint:
    """What the first tuples tell.

    Attributes:
        tuples: how many were used.
        limit: the bound that they infer.
        confidence: the attacker's own probability that it is the bound.
    """

    tuples: int
    limit: int
    confidence: float


@dataclass(frozen=True)
class BoundCurve:
    """How the inferred bound and the confidence grow with the tuples, taken in a random order.

    Attributes:
        points: from few tuples to all.
        reached: after how many tuples the last limit was reached.
        predicted: 1 - prod (1 - p1)^m, the chance that tuples of large counts show the bound; None without the law.
    """

    points: tuple[BoundPoint, ...]
    reached: int
    predicted: float | None

    @property
    def last(self) -> BoundPoint:
        """Return what all tuples tell."""
        return self.points[-1]


@dataclass(frozen=True, eq=False)
class TupleGaps:
    """The gaps of distinct tuples of all sizes.

    Attributes:
        parts: how many parts each has.
        gap: by how much they miss their total.
        smallest: the smallest published count of each.
    """

    parts: Ints
    gap: Ints
    smallest: Floats

    @cached_property
    def limits(self) -> Ints:
        """Return the smallest bound that each gap allows."""
        return -(-np.abs(self.gap) // (self.parts + 1))

    def chosen(self, those: Ints | Flags) -> TupleGaps:
        """Return some of them."""
        return TupleGaps(self.parts[those], self.gap[those], self.smallest[those])

    def above(self, count: float) -> TupleGaps:
        """Return those all of whose published counts are larger."""
        return self.chosen(self.smallest > count)

    def by_size(self) -> dict[int, int]:
        """Return how many there are by number of parts."""
        return {size: int((self.parts == size).sum()) for size in PARTS}


@dataclass(frozen=True, eq=False)
class Candidates:
    """Bounds that the noise may have, and the law of large counts under each.

    Attributes:
        noise: what the attacker believes.
        largest: the largest bound that is possible.
    """

    noise: AssumedNoise
    largest: int
    _tails: dict[tuple[int, int], Floats] = field(default_factory=dict, repr=False)

    def has_room(self, bound: int) -> bool:
        """Say whether noise within a bound can be as large as it is: the variance of uniform noise is E (E + 1) / 3."""
        sd = math.sqrt(self.noise.variance) - ROUNDED
        return (self.noise.exactly and bound == self.noise.bound) or max(sd, 0) ** 2 <= bound * (bound + 1) / 3

    def law(self, bound: int) -> Floats:
        """Return the law on -E .. E under a bound that has room for it."""
        noise = self.noise
        if noise.exactly and bound == noise.bound:
            return large_law(noise)
        if bound == 0 or noise.variance == 0:
            return np.ones(1)
        if noise.exactly and (other := rival(noise, bound)):
            return other.pmf(np.arange(-bound, bound + 1))
        variance = min(noise.variance, bound * (bound + 1) / 3)
        return MaxEntropy(variance=variance, bound=bound).pmf(np.arange(-bound, bound + 1))

    def tail(self, bound: int, parts: int, limit: int) -> float:
        """Return P(|g| > (c + 1) limit) for tuples of large counts."""
        if (bound, parts) not in self._tails:
            self._tails[bound, parts] = tails(self.law(bound), parts)
        found = self._tails[bound, parts]
        if limit < 0:
            return 1.0
        return float(found[limit]) if limit < len(found) else 0.0

    def log_within(self, bound: int, limit: int, tuples: Mapping[int, int]) -> float:
        """Return the logarithm of the chance that no tuple shows more than the limit."""
        return sum(_log_none(self.tail(bound, parts, limit), times) for parts, times in tuples.items() if times)

    def log_shown(self, bound: int, limit: int, tuples: Mapping[int, int]) -> float:
        """Return the logarithm of the chance that the largest limit is this one."""
        if not self.has_room(bound):
            return -math.inf
        if not any(tuples.values()):
            return 0.0
        here, below = self.log_within(bound, limit, tuples), self.log_within(bound, limit - 1, tuples)
        if here == -math.inf or below >= here:
            return -math.inf
        return here + math.log1p(-math.exp(below - here))

    def confidence(self, limit: int, large: TupleGaps) -> float:
        """Return the chance that the bound is the limit, given what tuples of large counts show."""
        tuples, shown = large.by_size(), int(large.limits.max(initial=0))
        bounds = range(limit, max(self.largest, limit) + 1)
        told_apart = bounds[:MOST_CANDIDATES]
        log = np.array([self.log_shown(bound, shown, tuples) for bound in told_apart])
        log = np.concatenate([log, np.full(len(bounds) - len(log), log[-1])])
        if not np.isfinite(log).any():
            return 1 / len(bounds)
        chance = np.exp(log - log.max())
        return float(chance[0] / chance.sum())


def large_law(noise: AssumedNoise) -> Floats:
    """Return the law of large counts; the mean of those that take turns."""
    found: Floats = np.mean(noise.laws[-noise.repeat :], axis=0)
    return found


def tails(law: Floats, parts: int) -> Floats:
    """Return P(|g| > (c + 1) L) for L = 0 .. E, the law given on -E .. E; summed from the outside, the small first."""
    gap = reduce(np.convolve, [law] * parts, law[::-1])
    centre = len(gap) // 2
    size = gap[centre:] + gap[centre::-1]
    beyond = np.concatenate([np.cumsum(size[:0:-1])[::-1], [0.0]])
    found: Floats = np.minimum(beyond[:: parts + 1], 1.0)
    return found


def shown_chance(noise: AssumedNoise, gaps: TupleGaps) -> float:
    """Return 1 - prod (1 - p1)^m: the chance that tuples of counts well above the bound show it."""
    bound = int(noise.bound)
    if bound == 0:
        return 1.0
    law, tuples = large_law(noise), gaps.above(2 * bound).by_size()
    none = sum(_log_none(float(tails(law, parts)[bound - 1]), times) for parts, times in tuples.items() if times)
    return abs(math.expm1(none))


def _log_none(chance: float, times: int) -> float:
    """Return the logarithm of (1 - chance)^times."""
    return times * math.log1p(-chance) if chance < 1 else -math.inf


def gaps_of(sight: AttackerView) -> TupleGaps:
    """Return the gaps of all distinct tuples of a release."""
    parts, gaps, smallest = [], [], []
    views = single_noises(sight)
    for done, view in enumerate(views, start=1):
        same = same_cells(view, sight.noise)
        for size in PARTS:
            found = additive_tuples(view, same, size)
            parts.append(np.full(len(found.totals), size))
            gaps.append(found.gaps)
            smallest.append(found.smallest)
        if sight.tell:
            sight.tell("bound", done, len(views))
    return TupleGaps(np.concatenate(parts), np.concatenate(gaps), np.concatenate(smallest))


def bound_curve(sight: AttackerView) -> BoundCurve | None:
    """Return how the inferred bound grows with the tuples; None for noise without bound, or without any tuple."""
    noise = sight.noise
    if not math.isfinite(noise.bound):
        return None
    gaps = gaps_of(sight)
    if not len(gaps.gap):
        return None
    gaps = gaps.chosen(sight.random(1).permutation(len(gaps.gap)))
    told = belief_told(sight.told).bound
    # Whoever knows the law is asked what tuples alone would have told her.
    candidates = Candidates(noise, int(max(noise.bound, told if math.isfinite(told) else 0)))
    limits = np.maximum.accumulate(gaps.limits)
    reached = int(np.argmax(limits == limits[-1])) + 1
    points = []
    for tuples in sorted({max(len(limits) >> step, 1) for step in range(STEPS + 1)} | {reached}):
        first = gaps.chosen(np.arange(tuples))
        limit = int(limits[tuples - 1])
        large = first.above(2 * candidates.largest)
        points.append(BoundPoint(tuples, limit, candidates.confidence(limit, large)))
    return BoundCurve(tuple(points), reached, shown_chance(noise, gaps) if noise.exactly else None)


@ATTACKS.register("bound")
def bound(sight: AttackerView) -> list[AttackEstimates]:
    """Return the bound of the noise as the widest gap and as the residuals of all published counts show it."""
    return [*_by_gaps(sight), *_by_residuals(sight)]


def _by_residuals(sight: AttackerView) -> list[AttackEstimates]:
    noise = sight.noise
    if not math.isfinite(noise.bound) or not noise.variance:
        return []
    told = belief_told(sight.told).bound
    largest = int(noise.bound) + 1 if noise.exactly else int(told)

    def law(variance: float, bound: int) -> Floats | None:
        candidates = Candidates(replace(noise, variance=variance), largest)
        return candidates.law(bound) if candidates.has_room(bound) else None

    found = bound_by_residuals(sight, min(largest, MOST_CANDIDATES), law)
    if found is None:
        return []

    def sentence(score: Score) -> str:
        verdict = "it is right" if score.right[0] else "it is wrong"
        expected = "" if found.predicted is None else f" The predicted success is {found.predicted:.3g}."
        return (
            f"The residuals of {found.residuals:,} large counts identify the bound of the noise as {found.bound} with "
            f"confidence {found.confidence:.0%}: {verdict}.{expected}"
        )

    return [
        AttackEstimates(
            attack="bound",
            variant="residuals",
            subject="the noise bound",
            estimate=np.array([found.bound]),
            confidence=np.array([found.confidence]),
            actual=_actual,
            predicted={} if found.predicted is None else dict.fromkeys(CLASSES, found.predicted),
            sentence=sentence,
            method="the likelihood of the leave-one-out residuals of all large counts under each bound",
            assumptions=(EQUALLY_LIKELY, "the errors of residuals are Gaussian, and residuals independent"),
        )
    ]


def _actual(truth: Truth) -> Ints:
    return np.array([truth.bound], dtype=np.int64)


def _by_gaps(sight: AttackerView) -> list[AttackEstimates]:
    curve = bound_curve(sight)
    if curve is None:
        return []
    last = curve.last

    def sentence(score: Score) -> str:
        verdict = "it is right" if score.right[0] else "the bound is larger"
        expected = (
            ""
            if curve.predicted is None
            else f" The formula gives the true bound a chance of {curve.predicted:.3g} to show."
        )
        return (
            f"The bound of the noise is inferred as {last.limit} from {last.tuples:,} additive tuples, of which the "
            f"first {curve.reached:,} would do, with confidence {last.confidence:.0%}: {verdict}.{expected}"
        )

    return [
        AttackEstimates(
            attack="bound",
            subject="the noise bound",
            estimate=np.array([last.limit]),
            confidence=np.array([last.confidence]),
            actual=_actual,
            predicted={} if curve.predicted is None else dict.fromkeys(CLASSES, curve.predicted),
            sentence=sentence,
            method="the widest gap between a published total and the sum of its published parts",
            assumptions=(EQUALLY_LIKELY, INDEPENDENT),
        )
    ]
