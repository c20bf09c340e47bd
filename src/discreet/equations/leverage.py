"""Leverages of the optimal linear attack, estimated with random probes.

The leverage h of an unknown is the derivative of its estimate with respect to its own
published value, and the variance of its estimate in units of the variance of its noise. A
dense hat matrix does not fit for a census; its diagonal does: where every unknown is
published with an independent random sign times the standard deviation of its noise, the
expected square of the estimate is the variance (Hutchinson's method; as many signs as
unknowns, so that cells that are one unknown count once).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.equations.least_squares import Fit

PROBE_TOLERANCE = 1e-3
"""How close a probe must come to fitting the equations, relatively: random probes are less exact than this."""


class Equations(Protocol):
    """Published cells as unknowns, and the equations between them."""

    @property
    def cells(self) -> int:
        """Return the number of published cells."""

    @property
    def unknowns(self) -> Ints:
        """Return for every cell the number of its unknown."""

    @property
    def spread(self) -> Floats:
        """Return the standard deviation with which every cell enters least squares."""

    def project(self, published: Floats, spread: Floats | None = None, *, tolerance: float = ...) -> Fit:
        """Return the counts nearest to the published ones that fit all equations."""


def probe_leverages(
    equations: Equations,
    random: np.random.Generator,
    *,
    probes: int,
    tolerance: float = PROBE_TOLERANCE,
    spread: Floats | None = None,
) -> Floats:
    """Return an unbiased estimate of the leverage of every cell's unknown.

    The relative standard error of one cell is about sqrt(2 / probes); means over many cells
    are far closer.

    Args:
        equations: the equations between all published cells.
        random: the source of the signs.
        probes: how many least squares problems to solve.
        tolerance: how close each must come to fitting the equations, relatively.
        spread: the standard deviation of every cell, `equations.spread` by default; 0 for a cell that is
            known, whose leverage is 0.
    """
    spread = equations.spread if spread is None else spread
    unknowns = equations.unknowns
    # Cells that are one unknown have one noise: least squares takes each with as many times its variance.
    deviation = spread / np.sqrt(np.bincount(unknowns)[unknowns])
    square = np.zeros(equations.cells)
    for _ in range(probes):
        signs = random.choice([-1.0, 1.0], size=int(unknowns.max()) + 1)[unknowns]
        square += equations.project(deviation * signs, spread, tolerance=tolerance).values ** 2
    return np.divide(square, probes * deviation**2, out=np.zeros_like(square), where=deviation > 0)
