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
from discreet.attacks.attacker_view import noise_from_disclosure
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
"""Numbers of parts of the tuples that are used; larger tuples reveal a bound too rarely to matter."""
MOST_CANDIDATES = 50
"""Number of bounds from the limit on with a computed likelihood; larger ones have that of the last."""
ROUNDED = 0.05
"""Rounding error of the disclosed typical noise, which has one decimal."""
STEPS = 4
"""Number of points of a curve before the last, each with half the tuples of the next."""
EQUALLY_LIKELY = (
    "maximum-entropy noise within its bound, of the disclosed size; flat prior on the bounds from the limit to the "
    "largest possible one"
)
INDEPENDENT = (
    "noise terms and tuples are independent (plain keys make gaps far narrower); tuples of small counts set a limit, "
    "and only large counts enter the confidence and the formula"
)


@dataclass(frozen=True)
class BoundPoint:
    """The bound inferred from the first tuples.

    Attributes:
        tuples: the number of tuples used.
        limit: the inferred bound.
        confidence: the attacker's probability that it is the actual bound.
    """

    tuples: int
    limit: int
    confidence: float


@dataclass(frozen=True)
class BoundCurve:
    """The inferred bound and its confidence by number of tuples, in random order.

    Attributes:
        points: from few tuples to all.
        reached: the number of tuples that sufficed for the last limit.
        predicted: 1 - prod (1 - p1)^m, the probability that tuples of large counts reveal the bound; None if the
            noise distribution is unknown.
    """

    points: tuple[BoundPoint, ...]
    reached: int
    predicted: float | None

    @property
    def last(self) -> BoundPoint:
        """Return the bound inferred from all tuples."""
        return self.points[-1]


@dataclass(frozen=True, eq=False)
class TupleGaps:
    """The gaps of distinct tuples of all sizes.

    Attributes:
        parts: the number of parts of each tuple.
        gap: the sum of the published parts minus the published total.
        smallest: the smallest published count of each tuple.
    """

    parts: Ints
    gap: Ints
    smallest: Floats

    @cached_property
    def limits(self) -> Ints:
        """Return the smallest bound that is compatible with each gap."""
        return -(-np.abs(self.gap) // (self.parts + 1))

    def chosen(self, those: Ints | Flags) -> TupleGaps:
        """Return a selection of the tuples."""
        return TupleGaps(self.parts[those], self.gap[those], self.smallest[those])

    def above(self, count: float) -> TupleGaps:
        """Return the tuples whose published counts all exceed `count`."""
        return self.chosen(self.smallest > count)

    def by_size(self) -> dict[int, int]:
        """Return the number of tuples by number of parts."""
        return {size: int((self.parts == size).sum()) for size in PARTS}


@dataclass(frozen=True, eq=False)
class Candidates:
    """The possible bounds, and the noise distribution of large counts under each.

    Attributes:
        noise: the noise distribution that the attacker assumes.
        largest: the largest possible bound.
    """

    noise: AssumedNoise
    largest: int
    _tails: dict[tuple[int, int], Floats] = field(default_factory=dict, repr=False)

    def admits_variance(self, bound: int) -> bool:
        """Return whether the bound admits the variance: uniform noise within E has variance E (E + 1) / 3."""
        sd = math.sqrt(self.noise.variance) - ROUNDED
        return (self.noise.exactly and bound == self.noise.bound) or max(sd, 0) ** 2 <= bound * (bound + 1) / 3

    def law(self, bound: int) -> Floats:
        """Return the noise distribution on -E .. E under a bound that admits the variance."""
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
        """Return the log-probability that no tuple implies a bound above the limit."""
        return sum(_log_none(self.tail(bound, parts, limit), times) for parts, times in tuples.items() if times)

    def log_shown(self, bound: int, limit: int, tuples: Mapping[int, int]) -> float:
        """Return the log-probability that the largest limit is `limit`."""
        if not self.admits_variance(bound):
            return -math.inf
        if not any(tuples.values()):
            return 0.0
        here, below = self.log_within(bound, limit, tuples), self.log_within(bound, limit - 1, tuples)
        if here == -math.inf or below >= here:
            return -math.inf
        return here + math.log1p(-math.exp(below - here))

    def confidence(self, limit: int, large: TupleGaps) -> float:
        """Return the posterior probability that the bound is the limit, given the tuples of large counts."""
        tuples, shown = large.by_size(), int(large.limits.max(initial=0))
        bounds = range(limit, max(self.largest, limit) + 1)
        computed = bounds[:MOST_CANDIDATES]
        log = np.array([self.log_shown(bound, shown, tuples) for bound in computed])
        log = np.concatenate([log, np.full(len(bounds) - len(log), log[-1])])
        if not np.isfinite(log).any():
            return 1 / len(bounds)
        chance = np.exp(log - log.max())
        return float(chance[0] / chance.sum())


def large_law(noise: AssumedNoise) -> Floats:
    """Return the noise distribution of large counts; the mean if several alternate."""
    found: Floats = np.mean(noise.laws[-noise.repeat :], axis=0)
    return found


def tails(law: Floats, parts: int) -> Floats:
    """Return P(|g| > (c + 1) L) for L = 0 .. E; sums start with the smallest probabilities, in the tails."""
    gap = reduce(np.convolve, [law] * parts, law[::-1])
    centre = len(gap) // 2
    size = gap[centre:] + gap[centre::-1]
    beyond = np.concatenate([np.cumsum(size[:0:-1])[::-1], [0.0]])
    found: Floats = np.minimum(beyond[:: parts + 1], 1.0)
    return found


def shown_chance(noise: AssumedNoise, gaps: TupleGaps) -> float:
    """Return 1 - prod (1 - p1)^m: the probability that tuples of counts well above the bound reveal it."""
    bound = int(noise.bound)
    if bound == 0:
        return 1.0
    law, tuples = large_law(noise), gaps.above(2 * bound).by_size()
    none = sum(_log_none(float(tails(law, parts)[bound - 1]), times) for parts, times in tuples.items() if times)
    return abs(math.expm1(none))


def _log_none(chance: float, times: int) -> float:
    """Return the logarithm of (1 - chance)^times."""
    return times * math.log1p(-chance) if chance < 1 else -math.inf


def gaps_of(attacker: AttackerView) -> TupleGaps:
    """Return the gaps of all distinct tuples of a release."""
    parts, gaps, smallest = [], [], []
    views = single_noises(attacker)
    for done, view in enumerate(views, start=1):
        same = same_cells(view, attacker.noise)
        for size in PARTS:
            found = additive_tuples(view, same, size)
            parts.append(np.full(len(found.totals), size))
            gaps.append(found.gaps)
            smallest.append(found.smallest)
        if attacker.progress:
            attacker.progress("bound", done, len(views))
    return TupleGaps(np.concatenate(parts), np.concatenate(gaps), np.concatenate(smallest))


def bound_curve(attacker: AttackerView) -> BoundCurve | None:
    """Return the inferred bound by number of tuples; None for unbounded noise or without tuples."""
    noise = attacker.noise
    if not math.isfinite(noise.bound):
        return None
    gaps = gaps_of(attacker)
    if not len(gaps.gap):
        return None
    gaps = gaps.chosen(attacker.random(1).permutation(len(gaps.gap)))
    disclosed = noise_from_disclosure(attacker.disclosed).bound
    # An attacker who knows the bound is assessed as if inferring it from tuples only.
    candidates = Candidates(noise, int(max(noise.bound, disclosed if math.isfinite(disclosed) else 0)))
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
def bound(attacker: AttackerView) -> list[AttackEstimates]:
    """Return the noise bound inferred from the widest gap, and from the residuals of all published counts."""
    return [*_by_gaps(attacker), *_by_residuals(attacker)]


def _by_residuals(attacker: AttackerView) -> list[AttackEstimates]:
    noise = attacker.noise
    if not math.isfinite(noise.bound) or not noise.variance:
        return []
    disclosed = noise_from_disclosure(attacker.disclosed).bound
    largest = int(noise.bound) + 1 if noise.exactly else int(disclosed)

    def law(variance: float, bound: int) -> Floats | None:
        candidates = Candidates(replace(noise, variance=variance), largest)
        return candidates.law(bound) if candidates.admits_variance(bound) else None

    found = bound_by_residuals(attacker, min(largest, MOST_CANDIDATES), law)
    if found is None:
        return []

    def sentence(score: Score) -> str:
        verdict = "correct" if score.right[0] else "wrong"
        expected = "" if found.predicted is None else f" Predicted probability of success: {found.predicted:.3g}."
        return (
            f"The residuals of {found.residuals:,} large counts identify the noise bound as {found.bound} with "
            f"confidence {found.confidence:.0%}. This is {verdict}.{expected}"
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
            assumptions=(EQUALLY_LIKELY, "residuals are independent, with Gaussian errors"),
        )
    ]


def _actual(truth: Truth) -> Ints:
    return np.array([truth.bound], dtype=np.int64)


def _by_gaps(attacker: AttackerView) -> list[AttackEstimates]:
    curve = bound_curve(attacker)
    if curve is None:
        return []
    last = curve.last

    def sentence(score: Score) -> str:
        verdict = "This is correct" if score.right[0] else "The actual bound is larger"
        expected = (
            "" if curve.predicted is None else f" Predicted probability of revealing the bound: {curve.predicted:.3g}."
        )
        return (
            f"The noise bound is inferred as {last.limit} with confidence {last.confidence:.0%} from {last.tuples:,} "
            f"additive tuples, of which the first {curve.reached:,} suffice. {verdict}.{expected}"
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
