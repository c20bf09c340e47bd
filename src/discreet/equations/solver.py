"""The vector nearest to a given one that fits margin equations, by conjugate gradients.

Minimise |z|^2 subject to A (y - D z) = 0, D the standard deviations: the shortest z that solves A D z = A y.
A cell with D = 0 is known and stays as it is. Every equation is weighed by its own
uncertainty first (Jacobi), for cells may differ much in theirs. The steps are those of the
conjugate gradients for least squares, which end where known cells contradict each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.arrays import Floats
    from discreet.equations.sums import FreeSums, MarginSums

MOST_STEPS = 2000
FLAT = 1e-3
"""How much farther than gaps their slope must fall, for gaps that cannot become smaller."""


@dataclass(frozen=True, eq=False)
class Fit:
    """What the solver returned.

    Attributes:
        values: the fitted cells.
        steps: how many steps it took.
        missed: the length of the gaps left, as a share of that at the start.
        complete: whether it ended by reaching its tolerance, or where known cells contradict each other.
    """

    values: Floats
    steps: int
    missed: float
    complete: bool


def fit(
    sums: MarginSums | FreeSums,
    values: Floats,
    spread: Floats,
    *,
    tolerance: float,
    go_on: Callable[[int], bool] | None = None,
) -> Fit:
    """Return the values moved as little as possible, in units of their spread, until all equations hold.

    Args:
        sums: the equations.
        values: one per cell.
        spread: the standard deviation of every cell; 0 for one that is known.
        tolerance: how far the gaps must fall, relatively (in length).
        go_on: asked after every step, with its number; False ends the work early.
    """
    own = sums.diagonal(spread**2)
    # Equations between known cells have nothing to give; they are checked, not solved.
    scale = np.sqrt(np.divide(1.0, own, out=np.zeros_like(own), where=own > 0))
    residual = scale * sums.gaps(values)
    start = math.sqrt(_square(residual))
    # Relative to the gaps of the values, or, where they nearly fit, to the rounding of sums of their size.
    rounding = 1e-14 * math.sqrt(_square(values) * _square(scale) / max(len(scale), 1))
    target = max(tolerance * start, rounding)
    slope = spread * sums.back(scale * residual)
    steepness = _square(slope)
    flat = (FLAT * tolerance) ** 2 * steepness
    direction, moved, length, step = slope.copy(), np.zeros_like(values), start, 0
    # Known cells may contradict each other: then the gaps cannot vanish, but their slope does.
    while length > target and steepness > flat and step < MOST_STEPS:
        image = scale * sums.gaps(spread * direction)
        size = steepness / _square(image)
        moved += size * direction
        residual -= size * image
        length = math.sqrt(_square(residual))
        np.multiply(spread, sums.back(scale * residual), out=slope)
        before, steepness = steepness, _square(slope)
        direction *= steepness / before
        direction += slope
        step += 1
        if go_on is not None and not go_on(step):
            break
    done = length <= target or steepness <= flat
    return Fit(values - spread * moved, step, length / start if start else 0.0, done)


def _square(values: Floats) -> float:
    """Return the squared length of a vector; by one thread, for waking more costs more than the sum (three times)."""
    return float(np.einsum("i,i->", values, values))
