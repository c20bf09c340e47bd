"""How small epsilon may be if no count of many is to be off by more than a bound.

The paper's heuristic utility constraint: t counts with Laplace noise all stay within E with confidence alpha if
epsilon > log(t / (1 - alpha)) / E. That is a union bound on the continuous law. Beside it stands the exact answer for t
independent two-sided geometric noises: (1 - 2 q^(E + 1) / (1 + q))^t >= alpha with q = exp(-epsilon).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.accuracy.distortion import Tails
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.noise.by_count import LawByCount

ONE_SIGMA = 0.68
"""The paper's confidence."""
FINEST = 1e-12
"""Relative width at which bisection ends."""


def epsilon_needed(bound: float, counts: int, confidence: float = ONE_SIGMA) -> float:
    """Return the paper's epsilon, log(t / (1 - alpha)) / E.

    Args:
        bound: the largest error E that is accepted, in persons.
        counts: how many counts t must keep it, all together.
        confidence: the probability alpha that they do.

    >>> round(epsilon_needed(20, 68), 2), round(epsilon_needed(20, 37_000), 2)
    (0.27, 0.58)
    """
    _check(bound, counts, confidence)
    return math.log(counts / (1 - confidence)) / bound


def exact_epsilon_needed(bound: int, counts: int, confidence: float = ONE_SIGMA) -> float:
    """Return the smallest epsilon at which t independent two-sided geometric noises all stay within E.

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


def chance_within(law: LawByCount, counts: Ints, bound: int) -> float:
    """Return the probability that none of these true counts is off by more than a bound, for independent noises.

    >>> from discreet.noise.by_count import by_count
    >>> from discreet.noise.ptable import PTable
    >>> chance_within(by_count(PTable.max_entropy(variance=2, bound=5)), np.arange(100), 5)
    1.0
    """
    if bound < 0:
        raise ParameterError.outside("accuracy", "bound", bound, "zero or a positive whole number", "5 to 20")
    distinct, times = np.unique(counts, return_counts=True)
    off = Tails.of(law).reaching(distinct, np.full(distinct.shape, bound + 1)).either
    with np.errstate(divide="ignore"):
        return float(np.exp(times @ np.log1p(-np.minimum(off, 1.0))))


def _all_within(epsilon: float, bound: int, counts: int) -> float:
    """Return P(max |x| <= E) of t independent two-sided geometric noises."""
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
