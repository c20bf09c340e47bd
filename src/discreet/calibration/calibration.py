"""Laws of noise with a variance that is asked for: the one parameter that says how wide a law is, found by bisection.

A law declares for each parameter how it grows when the noise is stretched (`power`); every law that does so can be
calibrated, without a word about it here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.catalogue import LAWS
from discreet.noise.noise_choice import CHOICES
from discreet.noise.parameters import parameters, positive_variance, table_bound

if TYPE_CHECKING:
    from collections.abc import Callable

BOUND = "bound"
VARIANCE = "variance"
CLOSE = 1e-10
"""Relative width of the bracket at which a parameter is taken as found."""
WIDEST = 1e9
"""How far from 1 a parameter is looked for, either way."""


def with_variance(law: str, variance: float, bound: int) -> dict[str, float]:
    """Return the parameters with which a law has a variance; a law that can be bounded has the bound.

    Of a law that is told by its bound alone, such as the uniform one, the bound whose variance is nearest.

    >>> with_variance("laplace", 2.0, 5).keys()
    dict_keys(['scale'])
    """
    if law not in CHOICES:
        raise UnknownNameError.among("law", law, CHOICES)
    if not positive_variance.contains(variance):
        raise ParameterError.outside("noise", VARIANCE, variance, positive_variance.words, "1 to 10")
    declared = parameters(LAWS[law])
    given: dict[str, float] = {BOUND: bound} if BOUND in declared else {}
    if given and not table_bound.contains(bound):
        raise ParameterError.outside("noise", BOUND, bound, table_bound.words, "2 to 10")
    width = next((name for name, each in declared.items() if name != BOUND and each.power), None)
    if width is None:
        return {BOUND: _nearest(law, variance)}
    most = bound * (bound + 1) / 3
    # A law that is told by its variance has the largest one; others only come near it.
    if given and (variance > most or (variance == most and width != VARIANCE)):
        raise ParameterError(
            f"The law {law} within bound {bound} has a variance below {most:.3g}, that of all noises equally likely; "
            f"{variance:g} is asked for. Give a larger bound.",
            parameter=BOUND,
        )
    if width == VARIANCE:
        return {VARIANCE: variance, **given}

    def variance_at(value: float) -> float:
        return LAWS[law](**{width: value, **given}).variance

    return {width: _bisected(variance_at, variance, falling=declared[width].power < 0), **given}


def _nearest(law: str, variance: float) -> int:
    """Return the bound for which the variance is nearest to one, in the ratio; variances grow with the bound."""

    def variance_at(bound: int) -> float:
        return LAWS[law](**{BOUND: bound}).variance

    low, high = 1, 2
    while variance_at(high) < variance:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if variance_at(middle) < variance else (low, middle)
    return min((low, high), key=lambda each: abs(math.log(variance_at(each) / variance)))


def _bisected(variance_at: Callable[[float], float], variance: float, *, falling: bool) -> float:
    """Return the parameter with which the variance is as asked; it rises or falls along the whole way."""
    low, high = 1.0, 1.0
    while (variance_at(low) < variance) == falling and low > 1 / WIDEST:
        low /= 2
    while (variance_at(high) > variance) == falling and high < WIDEST:
        high *= 2
    while high / low > 1 + CLOSE:
        middle = math.sqrt(low * high)
        below = variance_at(middle) < variance
        low, high = (low, middle) if below == falling else (middle, high)
    return math.sqrt(low * high)
