"""The sensitivity of a static output, and the noise that strict epsilon requires.

One person changes one count, by 1, in every statistic of the output: the global sensitivity Delta is the number of
statistics, each counted as often as it gets fresh noise (Bach 2020, section "Output mechanisms"; Dwork and Roth 2014,
definition 3.1). Except in `noise_scaling` all figures are for strict epsilon, delta = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.results import Result
from discreet.risk.neighbouring_counts import BUDGET, ONE_PERSON, SLACK, STATISTICS, Neighbours
from discreet.risk.sentences import upwards

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERY_COUNT = "unbounded noise on every count of the output, zeros included, drawn exactly"


def sensitivity(statistics: int, neighbours: Neighbours = ONE_PERSON) -> Result:
    """Return Delta, the sum over all counts of their largest change: t, 2 t for replace-one, times h for households.

    Args:
        statistics: t, the number of statistics that contain one person; without SPSN, a statistic counts
            once for every table that publishes it.
        neighbours: the neighbour relation, i.e. the protected person or household.

    >>> sensitivity(2775, Neighbours("replace-one")).value
    5550
    """
    change = neighbours.counts(statistics) * neighbours.household
    return Result(
        name="sensitivity",
        equation="Delta = t, times 2 for replace-one, times the household size",
        value=change,
        unit="persons",
        sentence=f"The presence of {neighbours.protected_unit} changes the published counts by {change} in total.",
        assumptions=(neighbours.assumption, _counted(statistics)),
    )


def epsilon_per_count(epsilon: float, statistics: int, neighbours: Neighbours = ONE_PERSON) -> Result:
    """Return the budget of a single count, epsilon / Delta, for a total budget epsilon of the output."""
    BUDGET.check("epsilon_per_count", "epsilon", epsilon)
    change = sensitivity(statistics, neighbours)
    each = epsilon / change.value
    return Result(
        name="epsilon_per_count",
        equation="eps_count = eps / Delta",
        value=each,
        unit="1",
        sentence=f"With epsilon {epsilon:g} for the whole output, every count may spend {each:.3g}.",
        assumptions=(*change.assumptions, "the budget is split evenly", EVERY_COUNT),
    )


def laplace_scale(epsilon: float, statistics: int, neighbours: Neighbours = ONE_PERSON) -> Result:
    """Return the scale b = Delta / epsilon of Laplace noise for epsilon; its standard deviation is sqrt(2) b."""
    BUDGET.check("laplace_scale", "epsilon", epsilon)
    change = sensitivity(statistics, neighbours)
    scale = change.value / epsilon
    return Result(
        name="laplace_scale",
        equation="b = Delta / eps",
        value=scale,
        unit="persons",
        sentence=f"With epsilon {epsilon:g} for the whole output, every count needs Laplace noise with scale "
        f"{upwards(scale, 4)} and standard deviation {upwards(math.sqrt(2) * scale, 4)}.",
        assumptions=(*change.assumptions, "the budget is split evenly", EVERY_COUNT),
    )


@dataclass(frozen=True)
class NoiseScaling:
    """Standard deviations of the noise that protects an output of t statistics.

    Attributes:
        statistics: t.
        pure: sqrt(2) t / epsilon, Laplace noise under strict epsilon, which composes as t.
        gaussian: Gaussian noise under (epsilon, delta), which composes as sqrt(t).
        square_root: sqrt(2 t) / epsilon, the order that suffices against reconstruction (Dinur and Nissim 2003,
            theorem 5), set equal to `pure` at t = 1: the theorem gives the order but no constant.
    """

    statistics: int
    pure: float
    gaussian: float
    square_root: float


def noise_scaling(statistics: Sequence[int], epsilon: float, delta: float) -> tuple[NoiseScaling, ...]:
    """Return the noise required as a function of the number of statistics, for one person added or removed.

    The Gaussian column is sufficient (zCDP, conversion of Bun and Steinke) but not
    the minimum: it is an upper bound.
    """
    BUDGET.check("noise_scaling", "epsilon", epsilon)
    SLACK.check("noise_scaling", "delta", delta)
    for each in statistics:
        STATISTICS.check("noise_scaling", "statistics", each)
    # rho + 2 sqrt(rho log(1 / delta)) = epsilon, solved for sqrt(rho) without cancellation.
    root = epsilon / (math.sqrt(-math.log(delta)) + math.sqrt(epsilon - math.log(delta)))
    return tuple(
        NoiseScaling(
            statistics=t,
            pure=math.sqrt(2) * t / epsilon,
            gaussian=math.sqrt(t / 2) / root,
            square_root=math.sqrt(2 * t) / epsilon,
        )
        for t in statistics
    )


def _counted(statistics: int) -> str:
    return f"t = {statistics}, the statistics that contain one person, each counted as often as it has fresh noise"
