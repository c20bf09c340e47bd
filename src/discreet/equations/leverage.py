"""Leverages of the optimal linear attack, estimated with random probes.

The leverage h of an unknown is the derivative of its estimate with respect to its own
published value. It is also the variance of its estimate in units of the variance of its noise.
The dense hat matrix of a census does not fit into memory, but its diagonal does. If every
unknown is published with an independent random sign times the standard deviation of its noise,
the expected square of the estimate is the variance (Hutchinson's method). There is one sign per
unknown, so cells that share an unknown count once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.progress import reported

if TYPE_CHECKING:
    from discreet.arrays import Floats, Ints
    from discreet.equations.least_squares import Fit
    from discreet.progress import Progress

PROBE_TOLERANCE = 1e-3
"""The relative tolerance of a probe; the random error of the probes is larger."""


class Equations(Protocol):
    """Published cells as unknowns, and the equations between them."""

    @property
    def cells(self) -> int:
        """Return the number of published cells."""

    @property
    def unknowns(self) -> Ints:
        """Return the index of the unknown of every cell."""

    @property
    def spread(self) -> Floats:
        """Return the standard deviation of every cell in least squares."""

    def project(self, published: Floats, spread: Floats | None = None, *, tolerance: float = ...) -> Fit:
        """Return the counts nearest to the published ones that satisfy all equations."""


def probe_leverages(
    equations: Equations,
    random: np.random.Generator,
    *,
    probes: int,
    tolerance: float = PROBE_TOLERANCE,
    spread: Floats | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Return an unbiased estimate of the leverage of the unknown of every cell.

    The relative standard error of one cell is about sqrt(2 / probes); means over many cells
    have a much smaller one.

    Args:
        equations: the equations between all published cells.
        random: the generator of the signs.
        probes: the number of least squares problems to solve.
        tolerance: the relative tolerance of each solution.
        spread: the standard deviation of every cell, `equations.spread` by default; 0 for a known cell,
            whose leverage is 0.
        progress: a callback with the stage, the completed probes and their number.
    """
    spread = equations.spread if spread is None else spread
    unknowns = equations.unknowns
    # Cells that share an unknown share one noise term: least squares multiplies its variance by their number.
    deviation = spread / np.sqrt(np.bincount(unknowns)[unknowns])
    square = np.zeros(equations.cells)
    for _ in reported(range(probes), "probing", progress):
        signs = random.choice([-1.0, 1.0], size=int(unknowns.max()) + 1)[unknowns]
        square += equations.project(deviation * signs, spread, tolerance=tolerance).values ** 2
    return np.divide(square, probes * deviation**2, out=np.zeros_like(square), where=deviation > 0)
