"""Epsilon and delta of one published count, for any noise distribution and any p-table.

Noise is (epsilon, delta)-differentially private for one count if delta >= sum_y max(0, P(y) - e^epsilon Q(y)) in both
directions, P and Q being the distributions of the published count with and without one person (Bach 2020, section
"Differential privacy"; Dwork and Roth 2014, definition 2.4). The delta of a p-table is that of its worst pair of
adjacent rows, not of its typical row. With fixed zeros, the counts 0 and 1 have the same delta at every epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.errors import InfeasibleError
from discreet.noise.by_count import noise_by_count
from discreet.noise.ptable import PTable
from discreet.results import Result
from discreet.risk.neighbouring_counts import DELTA, EPSILON, pairs
from discreet.risk.sentences import downwards, guarantee_clause, law_used, upwards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.noise.ptable_settings import PTableSettings
    from discreet.risk.neighbouring_counts import Pair, Source


def delta_at(source: Source, epsilon: float, *, key_space: int | None = None) -> Result:
    """Return delta of one count at epsilon, the maximum over all pairs of neighbouring counts.

    Exact to double precision. An unbounded distribution that has to be truncated is cut at
    probabilities of 1e-300; the remainder is added to delta, which is an upper bound.

    Args:
        source: a noise distribution or a p-table.
        epsilon: a number from 0 on.
        key_space: the number of keys to which the distribution is rounded; None for no rounding.

    >>> from discreet.noise.ptable import PTable
    >>> result = delta_at(PTable.max_entropy(variance=2, bound=5), 1.0)
    >>> print(f"{result.value:.3f}, {result.worst}")
    0.512, counts 0 and 1
    """
    EPSILON.check("delta_at", "epsilon", epsilon)
    return _delta_result(source, epsilon, key_space, pairs(source, key_space))


def _delta_result(source: Source, epsilon: float, key_space: int | None, among: Sequence[Pair]) -> Result:
    worst = max(among, key=lambda pair: pair.delta(epsilon))
    delta = worst.delta(epsilon)
    clause = guarantee_clause("any value of one published count", "one person", epsilon, upwards(delta))
    flat = ", which no larger factor reduces" if 0 < delta == worst.floor else ""
    return Result(
        name=f"delta_at_epsilon_{epsilon:g}",
        equation="delta(eps) = max over adjacent rows of sum_y max(0, p(y) - e^eps p'(y))",
        value=delta,
        unit="1",
        sentence=f"{clause.capitalize()}{flat}.",
        worst=worst.name if noise_by_count(source).varies_by_count else None,
        assumptions=_assumptions(source, key_space, worst),
    )


def membership_advantage(source: Source, *, key_space: int | None = None) -> Result:
    """Return the largest advantage in membership inference from one count: delta(0).

    This is the total variation distance between the published counts with and without
    the person: the largest P(guess "in" | in) - P(guess "in" | out) of any attacker.

    >>> from discreet.noise.max_entropy import MaxEntropy
    >>> print(f"{membership_advantage(MaxEntropy(variance=2, bound=5)).value:.4f}")
    0.2819
    """
    worst = max(pairs(source, key_space), key=lambda pair: pair.delta(0.0))
    advantage = worst.delta(0.0)
    return Result(
        name="membership_advantage",
        equation="delta(0), the total variation distance",
        value=advantage,
        unit="1",
        sentence="An attacker who knows everything except the presence of one person, with prior probability 0.5, "
        f"infers it from one published count with probability {upwards((1 + advantage) / 2)}.",
        worst=worst.name if noise_by_count(source).varies_by_count else None,
        assumptions=_assumptions(source, key_space, worst),
    )


def epsilon_at(source: Source, delta: float, *, key_space: int | None = None) -> Result:
    """Return the smallest epsilon for delta of one count; infinite without a finite epsilon.

    No finite epsilon exists if outcomes of probability above delta occur with the person
    and never without. Found by bisection; overstated by at most 1e-13 of its size.
    """
    DELTA.check("epsilon_at", "delta", delta)
    found = pairs(source, key_space)
    worst = max(found, key=lambda pair: pair.epsilon(delta))
    epsilon = worst.epsilon(delta)
    if math.isinf(epsilon):
        worst = max(found, key=lambda pair: pair.floor)
        sentence = (
            f"No epsilon corresponds to delta {delta:g}: with probability {downwards(worst.floor)}, one published "
            "count has a value that proves the presence or absence of one person."
        )
    else:
        clause = guarantee_clause("any value of one published count", "one person", epsilon, f"{delta:g}")
        sentence = f"{clause.capitalize()} (epsilon {upwards(epsilon, 5)})."
    return Result(
        name=f"epsilon_at_delta_{delta:g}",
        equation="smallest eps with delta(eps) <= delta",
        value=epsilon,
        unit="1",
        sentence=sentence,
        worst=worst.name if noise_by_count(source).varies_by_count else None,
        assumptions=_assumptions(source, key_space, worst),
    )


@dataclass(frozen=True)
class ThresholdEffect:
    """The effect of a threshold j_s on delta.

    Attributes:
        threshold: the largest positive count that is never published.
        results: delta at each requested epsilon, over all pairs of counts; empty if no p-table exists.
        from_one: the same without the pair of counts 0 and 1; empty if no p-table exists.
        infeasible: the reason why no p-table exists; None if one exists.
    """

    threshold: int
    results: tuple[Result, ...]
    from_one: tuple[Result, ...]
    infeasible: str | None = None


def by_threshold(
    settings: PTableSettings, epsilons: Sequence[float], thresholds: Sequence[int] = (0, 1, 2)
) -> tuple[ThresholdEffect, ...]:
    """Return delta of the p-table with these settings for every threshold j_s.

    With fixed zeros, a threshold lowers delta of the counts 0 and 1, because a true 1
    is more often published as 0. Between larger counts it usually raises delta, because
    it removes published values. Both are returned.
    """
    return tuple(_threshold_effect(replace(settings, threshold=threshold), epsilons) for threshold in thresholds)


def _threshold_effect(settings: PTableSettings, epsilons: Sequence[float]) -> ThresholdEffect:
    try:
        ptable = PTable.solve(settings)
    except InfeasibleError as error:
        return ThresholdEffect(settings.threshold, (), (), str(error))

    def results(among: Sequence[Pair], suffix: str) -> tuple[Result, ...]:
        found = [_delta_result(ptable, epsilon, None, among) for epsilon in epsilons]
        return tuple(replace(each, name=f"{each.name}_threshold_{settings.threshold}{suffix}") for each in found)

    every = pairs(ptable)
    return ThresholdEffect(settings.threshold, results(every, ""), results(every[1:], "_from_1"))


def _assumptions(source: Source, key_space: int | None, worst: Pair) -> tuple[str, ...]:
    found = [
        "one count only; every further count that contains the person increases delta",
        "neighbours: one person added or removed; the attacker knows all other persons",
        law_used(key_space),
    ]
    if not noise_by_count(source).varies_by_count:
        found.append("the count has exactly this noise distribution; in a p-table only counts above the bound have it")
    if worst.beyond:
        found.append(f"the distribution is cut at probabilities below 1e-300; {worst.beyond:.1g} is added to delta")
    return tuple(found)
