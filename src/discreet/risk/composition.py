"""Exact composition: epsilon and delta of all published counts that contain one person.

t is the number of distinct participant sets that contain the person. With consistent noise (SPSN), a set that is
published many times counts once. The privacy losses of the t counts add up, and the distribution of their sum gives
delta at every epsilon. The noise bound leaves a floor 1 - (1 - p)^t that no epsilon removes, p the floor of one count.

None of these figures is a guarantee for all persons in the data: each holds under the condition in its assumptions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.max_entropy import MaxEntropy
from discreet.results import Result
from discreet.risk.neighbouring_counts import (
    DELTA,
    EPSILON,
    EXCESS,
    ONE_PERSON,
    STATISTICS,
    STEP,
    Neighbours,
    law_pair,
    row_pair,
)
from discreet.risk.privacy_loss import ComposedLoss, SteppedLoss, spacing
from discreet.risk.sentences import (
    INDEPENDENT,
    condition,
    counted_in,
    downwards,
    guarantee_clause,
    law_used,
    rounding,
    singleton_clause,
    upwards,
)

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise
    from discreet.noise.ptable import PTable
    from discreet.risk.privacy_loss import PrivacyLoss

FINENESS = 250
"""Steps per standard deviation of one loss, where losses have to be rounded."""
ALIKE, TINY = 1e-8, 1e-300
"""Differences of probabilities, relative and absolute, up to which a row is the maximum-entropy distribution."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Composition:
    """The privacy loss of many counts of one person or household.

    The values of results are upper bounds. The lower bounds differ if losses had to be
    rounded; the sentence then states both.

    Attributes:
        counts: the number of independent noise terms that are composed.
        upper: the composed loss in each direction, with losses rounded up.
        lower: the same with losses rounded down; equal to `upper` without rounding.
        protected_unit: the protected person or household, in words.
        condition: the condition, as the end of "This holds only if ...".
        worst: the pair of counts that is composed; None if all counts have the same noise distribution.
        assumptions: further assumptions.
    """

    counts: int
    upper: tuple[ComposedLoss, ...] = field(repr=False)
    lower: tuple[ComposedLoss, ...] = field(repr=False)
    protected_unit: str
    condition: str
    worst: str | None
    assumptions: tuple[str, ...]

    def floor(self) -> Result:
        """Return the delta that no epsilon removes: 1 - (1 - p)^t."""
        floor = _floor(self.upper)
        if floor == 0:
            sentence = f"No value of a count proves the presence or absence of {self.protected_unit}."
            return self._result("delta_floor", 0.0, sentence)
        return self._result(
            "delta_floor",
            floor,
            f"With probability up to {upwards(floor)}, at least one of {self.counts} counts has a value that proves "
            f"the presence or absence of {self.protected_unit}. No epsilon removes this.",
        )

    def delta(self, epsilon: float) -> Result:
        """Return delta of all counts together at epsilon."""
        EPSILON.check("composition", "epsilon", epsilon)
        low, high = (max(loss.delta(epsilon) for loss in losses) for losses in (self.lower, self.upper))
        return self._result(
            f"composed_delta_at_epsilon_{epsilon:g}",
            high,
            f"{self._guarantee(epsilon, upwards(high))}{_bracket(low, high)}.",
        )

    def advantage(self) -> Result:
        """Return the largest advantage in membership inference from all counts: delta(0)."""
        low, high = (max(loss.delta(0.0) for loss in losses) for losses in (self.lower, self.upper))
        return self._result(
            "composed_advantage",
            high,
            f"An attacker who knows everything except the presence of {self.protected_unit}, with prior probability "
            f"0.5, infers it from {self.counts} counts with probability {upwards((1 + high) / 2, 4)}"
            f"{_bracket((1 + low) / 2, (1 + high) / 2)}.",
        )

    def epsilon(self, delta: float) -> Result:
        """Return the smallest epsilon for delta; infinite if delta is below the floor."""
        DELTA.check("composition", "delta", delta)
        name, floor = f"composed_epsilon_at_delta_{delta:g}", _floor(self.upper)
        if delta < floor:
            sentence = (
                f"No epsilon corresponds to delta {delta:g} for {self.counts} counts together: the noise bound alone "
                f"reveals the presence or absence of {self.protected_unit} with probability {downwards(floor)}."
            )
            return self._result(name, math.inf, sentence)
        return self._epsilon(name, delta - floor, f"{delta:g}")

    def epsilon_above_floor(self, excess: float) -> Result:
        """Return the smallest epsilon whose delta is the floor plus `excess`."""
        EXCESS.check("composition", "excess", excess)
        delta = min(_floor(self.upper) + excess, 1.0)
        return self._epsilon(f"composed_epsilon_at_{excess:g}_above_floor", excess, upwards(delta))

    def _epsilon(self, name: str, excess: float, delta: str) -> Result:
        floor = _floor(self.upper)
        low, high = (
            max(loss.epsilon(excess + (floor - loss.floor)) for loss in losses) for losses in (self.lower, self.upper)
        )
        if delta == "1":
            sentence = (
                f"No epsilon gives a guarantee: {self.counts} counts together reveal the presence or absence of "
                f"{self.protected_unit} with probability {downwards(floor)}."
            )
            return self._result(name, high, sentence)
        return self._result(name, high, f"{self._guarantee(high, delta)}{_bracket(low, high, 5)}.")

    def _guarantee(self, epsilon: float, delta: str) -> str:
        values = f"any values of {self.counts} counts together"
        return guarantee_clause(values, self.protected_unit, epsilon, delta).capitalize()

    def _result(self, name: str, value: float, sentence: str) -> Result:
        return Result(
            name=name,
            equation="delta(eps) = 1 - (1 - p_inf)^t + sum_{L > eps} P(L) (1 - e^(eps - L)), L the sum of t losses",
            value=value,
            unit="1",
            sentence=f"{sentence} This holds only if {self.condition}.",
            worst=self.worst,
            assumptions=(f"only if {self.condition}", *self.assumptions),
        )


def compose(
    law: Noise,
    statistics: int,
    neighbours: Neighbours = ONE_PERSON,
    *,
    step: float | None = None,
    key_space: int | None = None,
) -> Composition:
    """Return the composition of counts that all have the same noise distribution.

    Exact for the maximum-entropy, discrete Gaussian, two-sided geometric and uniform
    distributions before rounding, truncated or not: their losses are equally spaced. For any
    other distribution, and after rounding to keys, losses are rounded to multiples of `step`,
    up and down, and epsilon is known to within counts * step on either side.

    Args:
        law: the noise distribution of every count.
        statistics: t, the number of distinct participant sets that contain the person.
        neighbours: the neighbour relation, i.e. the protected person or household.
        step: the step to whose multiples losses are rounded; 1/250 of their standard deviation by default.
        key_space: the number of keys to which the distribution is rounded; None for no rounding.

    >>> from discreet.noise.max_entropy import MaxEntropy
    >>> print(f"{compose(MaxEntropy(variance=3, bound=10), 2775).floor().value:.3g}")
    3.69e-05
    """
    counts = neighbours.counts(statistics)
    pair = law_pair(law, neighbours.household, key_space)
    exact_step = spacing(law, neighbours.household) if key_space is None else None
    if exact_step is None:
        upper, lower, how = _rounded_losses(pair.directions, counts, step)
    else:
        # A distribution with equally spaced losses is symmetric: one direction represents both.
        upper = lower = (ComposedLoss(SteppedLoss.exact(pair.up, exact_step), counts),)
        how = "exact composition; delta above its floor has a relative error of at most 1e-10"
    used = rounding(law, counts, neighbours.household) if key_space is None else law_used(key_space)
    return Composition(
        counts=counts,
        upper=upper,
        lower=lower,
        protected_unit=neighbours.protected_unit,
        condition=condition(law, neighbours),
        worst=None,
        assumptions=(neighbours.assumption, *_common(statistics), used, how),
    )


def compose_large(ptable: PTable, statistics: int, *, step: float | None = None) -> Composition:
    """Return the composition of large counts, which use the last row of a p-table, or its last rows in turn.

    The rows themselves are composed, with any shape and mean. The result is exact if the row is the maximum-entropy
    distribution of its variance and bound. Otherwise losses are rounded to multiples of `step`, up and down. If rows
    alternate, every count is assumed to use the same two rows, and each figure is the maximum over all such pairs.
    """
    STATISTICS.check("compose_large", "statistics", statistics)
    where, last = _where_large(ptable), len(ptable.rows) - 1
    law = large_law(ptable)
    if isinstance(law, MaxEntropy) and step is None:
        return replace(compose(law, statistics), condition=where)
    cycle = [row_pair(ptable, count) for count in range(last + 1 - ptable.repeat, last + 1)]
    # A symmetric row has the same loss in both directions, and a cycle repeats the same pairs.
    distinct = {
        tuple(sorted(zip(loss.losses.round(12).tolist(), loss.probabilities.round(15).tolist(), strict=True))): loss
        for pair in cycle
        for loss in pair.directions
    }
    upper, lower, how = _rounded_losses(tuple(distinct.values()), statistics, step)
    turns = ("every count uses the same two of the alternating rows, the worst pair",) if ptable.repeat > 1 else ()
    return Composition(
        counts=statistics,
        upper=upper,
        lower=lower,
        protected_unit=ONE_PERSON.protected_unit,
        condition=where,
        worst=max(cycle, key=lambda pair: pair.floor).name if turns else None,
        assumptions=(ONE_PERSON.assumption, *_common(statistics), *turns, law_used(None), how),
    )


def large_law(ptable: PTable) -> Noise:
    """Return the noise distribution of large counts, as MaxEntropy if the row equals it."""
    row = ptable.large
    if not 0 < row.variance < row.bound**2:
        return row
    plain, x = MaxEntropy(variance=row.variance, bound=row.bound), np.arange(-row.bound, row.bound + 1)
    return plain if np.allclose(plain.pmf(x), row.pmf(x), rtol=ALIKE, atol=TINY) else row


def _where_large(ptable: PTable) -> str:
    """Return which counts use the last rows, and the risk of singleton cells, as the end of "only if ..."."""
    where = f"every one of these counts exceeds {len(ptable.rows) - ptable.repeat}"
    if ptable.perturbs_zeros:
        return where
    return f"{where}; {singleton_clause(row_pair(ptable, 0).floor)}, for every epsilon"


def _rounded_losses(
    directions: tuple[PrivacyLoss, ...], counts: int, step: float | None
) -> tuple[tuple[ComposedLoss, ...], tuple[ComposedLoss, ...], str]:
    """Return the upper and the lower composed losses of each direction, and the method."""
    chosen = step if step is not None else max(map(_deviation, directions)) / FINENESS
    STEP.check("composition", "step", chosen)
    upper = tuple(ComposedLoss(SteppedLoss.pessimistic(loss, chosen), counts) for loss in directions)
    lower = tuple(ComposedLoss(SteppedLoss.optimistic(loss, chosen), counts) for loss in directions)
    how = (
        f"losses rounded up to multiples of {chosen:.2g}; rounded down, epsilon is at most {counts * chosen:.2g} lower"
    )
    return upper, lower, how


def _deviation(loss: PrivacyLoss) -> float:
    """Return the standard deviation of the finite losses of one count; 1 if there is at most one loss."""
    total = float(loss.probabilities.sum())
    if total == 0:
        return 1.0
    mean = float(loss.losses @ loss.probabilities) / total
    variance = float((loss.losses - mean) ** 2 @ loss.probabilities) / total
    return math.sqrt(variance) if variance > 0 else 1.0


def _floor(losses: tuple[ComposedLoss, ...]) -> float:
    return max(loss.floor for loss in losses)


def _bracket(low: float, high: float, digits: int = 3) -> str:
    """Return the interval of a figure in words if losses were rounded; otherwise an empty text."""
    if high - low <= 1e-9 * high:
        return ""
    return f" (between {downwards(low, digits)} and {upwards(high, digits)})"


def _common(statistics: int) -> tuple[str, ...]:
    return (counted_in(statistics), INDEPENDENT)
