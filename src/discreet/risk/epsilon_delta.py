"""Epsilon and delta of one published count, for any noise distribution and any p-table.

Noise is (epsilon, delta)-differentially private for one count if delta >= sum_y max(0, P(y) - e^epsilon Q(y)) in both
directions, P and Q being the distributions of the published count with and without one person (Bach 2020, section
"Differential privacy"; Dwork and Roth 2014, definition 2.4). The delta of a p-table is that of its worst pair of
adjacent rows, not of its typical row. With fixed zeros, the counts 0 and 1 have one delta at every epsilon.
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
from discreet.risk.sentences import downwards, law_used, promise, upwards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.noise.ptable_settings import PTableSettings
    from discreet.risk.neighbouring_counts import Pair, Source


def delta_at(source: Source, epsilon: float, *, key_space: int | None = None) -> Result:
    """Return delta of one count at epsilon, the maximum over all pairs of neighbouring counts.

    Exact to double precision; for an unbounded law that has to be cut, what lies
    beyond probabilities of 1e-300 is added, so delta errs upwards by as much.

    Args:
        source: a law or a p-table.
        epsilon: from 0 on.
        key_space: the grid of keys the law is rounded to; None takes the law before rounding.

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
    said = promise("one published count shows", "one person", epsilon, upwards(delta))
    flat = ", and no larger factor lowers it" if 0 < delta == worst.floor else ""
    return Result(
        name=f"delta_at_epsilon_{epsilon:g}",
        equation="delta(eps) = max over adjacent rows of sum_y max(0, p(y) - e^eps p'(y))",
        value=delta,
        unit="1",
        sentence=f"{said.capitalize()}{flat}.",
        worst=worst.name if noise_by_count(source).varies_by_count else None,
        assumptions=_assumptions(source, key_space, worst),
    )


def membership_advantage(source: Source, *, key_space: int | None = None) -> Result:
    """Return the best advantage of an attacker who guesses whether a person is in one count: delta(0).

    This is the total variation distance of what is published with and without
    the person: the largest P(says "in" | in) - P(says "in" | out) of any attacker.

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
        sentence="Whoever knows everything but whether one person is in a count, and tosses a coin without it, guesses "
        f"right from the published count with probability {upwards((1 + advantage) / 2)} instead of 0.5.",
        worst=worst.name if noise_by_count(source).varies_by_count else None,
        assumptions=_assumptions(source, key_space, worst),
    )


def epsilon_at(source: Source, delta: float, *, key_space: int | None = None) -> Result:
    """Return the smallest epsilon that goes with delta for one count, infinite if there is none.

    There is none if some outcome of probability above delta occurs with the
    person and never without. Bisection; errs upwards by at most 1e-13 of its size.
    """
    DELTA.check("epsilon_at", "delta", delta)
    found = pairs(source, key_space)
    worst = max(found, key=lambda pair: pair.epsilon(delta))
    epsilon = worst.epsilon(delta)
    if math.isinf(epsilon):
        worst = max(found, key=lambda pair: pair.floor)
        sentence = (
            f"No epsilon goes with delta {delta:g}: with probability {downwards(worst.floor)} one published count "
            "shows a number that it could not show without one person, or not with the person."
        )
    else:
        said = promise("one published count shows", "one person", epsilon, f"{delta:g}")
        sentence = f"{said.capitalize()} (epsilon {upwards(epsilon, 5)})."
    return Result(
        name=f"epsilon_at_delta_{delta:g}",
        equation="least eps with delta(eps) <= delta",
        value=epsilon,
        unit="1",
        sentence=sentence,
        worst=worst.name if noise_by_count(source).varies_by_count else None,
        assumptions=_assumptions(source, key_space, worst),
    )


@dataclass(frozen=True)
class ThresholdEffect:
    """What a threshold j_s does to delta.

    Attributes:
        threshold: the largest positive count that is never published.
        results: delta at each epsilon asked for, over all pairs of counts; empty if no p-table exists.
        from_one: the same without the pair of counts 0 and 1; empty if no p-table exists.
        infeasible: why no p-table exists, or None.
    """

    threshold: int
    results: tuple[Result, ...]
    from_one: tuple[Result, ...]
    infeasible: str | None = None


def by_threshold(
    settings: PTableSettings, epsilons: Sequence[float], thresholds: Sequence[int] = (0, 1, 2)
) -> tuple[ThresholdEffect, ...]:
    """Return delta of the p-table with these settings for each threshold j_s in turn.

    With zeros fixed a threshold lowers delta of the counts 0 and 1, because a true 1
    is more often published as 0; between larger counts it mostly raises it, because
    published values are taken away. Both are given.
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
        "one count alone; every further count that contains the person adds to it",
        "neighbours: one person added or removed, the attacker knows everybody else",
        law_used(key_space),
    ]
    if not noise_by_count(source).varies_by_count:
        found.append("the count gets this very law; in a p-table only counts above the bound do")
    if worst.beyond:
        found.append(f"the law is cut where it is rarer than 1e-300; {worst.beyond:.1g} is added to delta for that")
    return tuple(found)
