"""Least squares with one variable per unknown: cells that share an unknown are merged before solving."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.least_squares import fit
from discreet.equations.margin_equations import TOLERANCE, VARIANCE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.arrays import Floats, Ints
    from discreet.equations.least_squares import Fit, FreeSums, MarginSums

TINY = np.finfo(float).tiny


class UnknownEquations(ABC):
    """Equations between unknowns, with an interface in terms of cells."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """Return the number of cells."""

    @property
    @abstractmethod
    def unknowns(self) -> Ints:
        """Return the index of the unknown of every cell."""

    @property
    @abstractmethod
    def sums(self) -> MarginSums | FreeSums:
        """Return the equations between unknowns."""

    @property
    @abstractmethod
    def spread(self) -> Floats:
        """Return the standard deviation of every cell in units of one noise term; 0 for a known cell."""

    @cached_property
    def _many(self) -> int:
        return int(self.unknowns.max()) + 1

    def project(
        self,
        published: Floats,
        spread: Floats | None = None,
        *,
        tolerance: float = TOLERANCE,
        go_on: Callable[[int], bool] | None = None,
    ) -> Fit:
        """Return the counts nearest to the published ones, weighted by precision, that satisfy all equations."""
        values, deviation = self._by_unknown(published, self.spread if spread is None else spread)
        found = fit(self.sums, values, deviation, tolerance=tolerance, go_on=go_on)
        return replace(found, values=found.values[self.unknowns])

    def row(self, place: int, spread: Floats | None = None, *, tolerance: float = VARIANCE_TOLERANCE) -> Floats:
        """Return the weights of all published cells in the best linear estimate of one cell."""
        spread = self.spread if spread is None else spread
        weights, deviation = self._weights(place, spread, tolerance)
        # Cells that share an unknown share its weight in proportion to their precision.
        square = deviation[self.unknowns] ** 2
        share = np.divide(square, spread**2, out=np.zeros(self.cells), where=spread > 0)
        return weights[self.unknowns] * share

    def variance_ratio(
        self, place: int, spread: Floats | None = None, *, tolerance: float = VARIANCE_TOLERANCE
    ) -> float:
        """Return the variance of the best linear estimate of one cell, in units of V."""
        weights, deviation = self._weights(place, self.spread if spread is None else spread, tolerance)
        return float(((weights * deviation) ** 2).sum())

    def variance_ratios(self, spread: Floats | None = None) -> Floats:
        """Return the variance of the best linear estimate of every cell, in units of V, by dense algebra.

        Suitable for up to a few thousand unknowns: the diagonal of D P D with P = I - Q'Q, Q an orthonormal basis of
        the rows of A D.
        """
        _, deviation = self._by_unknown(np.zeros(self.cells), self.spread if spread is None else spread)
        basis = _orthonormal(self.sums.dense() * deviation)
        found: Floats = (deviation**2 * (1 - (basis**2).sum(axis=0))).clip(0.0)[self.unknowns]
        return found

    def _weights(self, place: int, spread: Floats, tolerance: float) -> tuple[Floats, Floats]:
        """Return the weight of every unknown in the estimate of one cell, and the deviation of every unknown.

        The projection is D P D^-1, P symmetric: its row is D^-1 P D e, and 0 for a known variable.
        """
        _, deviation = self._by_unknown(np.zeros(self.cells), spread)
        square, target = deviation**2, np.zeros(len(deviation))
        own = self.unknowns[place]
        target[own] = square[own]
        fitted = fit(self.sums, target, deviation, tolerance=tolerance).values
        return np.divide(fitted, square, out=np.zeros_like(fitted), where=square > 0), deviation

    def _by_unknown(self, values: Floats, spread: Floats) -> tuple[Floats, Floats]:
        """Return the mean of the cells of every unknown, weighted by precision, and its standard deviation."""
        unknowns, many = self.unknowns, self._many
        sure = np.zeros(many, dtype=bool)
        sure[unknowns[spread == 0]] = True
        # For an unknown with a known cell, only that cell is used.
        counts = (spread == 0) | ~sure[unknowns]
        weight = np.where(counts, 1.0, 0.0)
        np.divide(1.0, spread**2, out=weight, where=counts & (spread > 0))
        total = np.maximum(np.bincount(unknowns, weight, many), TINY)
        return np.bincount(unknowns, weight * values, many) / total, np.where(sure, 0.0, 1 / np.sqrt(total))


def _orthonormal(rows: Floats) -> Floats:
    """Return an orthonormal basis of the row space, as rows."""
    gram = rows @ rows.T if rows.shape[0] < rows.shape[1] else rows.T @ rows
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-10 * max(float(values[-1]), 1.0) if len(values) else np.zeros(0, dtype=bool)
    if rows.shape[0] < rows.shape[1]:
        found: Floats = (vectors[:, kept] / np.sqrt(values[kept])).T @ rows
        return found
    return np.ascontiguousarray(vectors[:, kept].T)
