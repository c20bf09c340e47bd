"""Every published cell as an unknown, and the equations parent = sum of children between them.

The best unbiased estimate of all true counts from the published ones is their projection
onto the solutions of these equations: with noise of variance V on every cell the estimate
of cell c has variance V |P e_c|^2, P the projection. No closed form is needed, so blocks
may be as unequal as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.least_squares import Link, fit, margin_sums
from discreet.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.equations.grouped_equations import GroupedAxis
    from discreet.equations.least_squares import Fit, MarginSums
    from discreet.programme.axis import Axis
    from discreet.programme.lattice import Lattice

MOST_CELLS = 3 * 10**7
TOLERANCE = 1e-10
"""How close the projection must come to fitting the equations, relatively."""
VARIANCE_TOLERANCE = 1e-7
"""The same for a variance, which is off only by the square of what the projection is off."""


@dataclass(frozen=True, eq=False)
class MarginEquations:
    """The equations between the cells of all published statistics of a lattice.

    Attributes:
        lattice: the statistics.
        spsn: whether a statistic has one noise; if not, it is the mean of one noise per table.
    """

    lattice: Lattice
    spsn: bool = True

    def __post_init__(self) -> None:
        if self.cells > MOST_CELLS:
            raise TooLargeError(
                f"The programme has {self.cells:,} cells; exact variances are computed up to {MOST_CELLS:,}. "
                "Take fewer tables, or the closed form.",
                parameter="programme",
            )

    @cached_property
    def statistics(self) -> Ints:
        """Return the positions of the published statistics in the lattice."""
        return np.flatnonzero(self.lattice.published)

    @cached_property
    def _starts(self) -> dict[int, int]:
        ends = np.cumsum(self.lattice.cells[self.statistics]).astype(np.int64)
        return dict(zip(self.statistics.tolist(), [0, *ends[:-1].tolist()], strict=True))

    @property
    def cells(self) -> int:
        """Return the number of unknowns."""
        return int(self.lattice.cells[self.lattice.published].sum())

    def shape(self, statistic: int) -> tuple[int, ...]:
        """Return the number of categories per axis of a statistic; 1 where it is the total."""
        return tuple(
            axis.size(depth)
            for axis, depth in zip(self.lattice.axes, self.lattice.depths[statistic].tolist(), strict=True)
        )

    def place(self, statistic: int, cell: Sequence[int] | None = None) -> int:
        """Return the position of a cell, given its category number per axis (0 on axes that are the total)."""
        inside = 0 if cell is None else int(np.ravel_multi_index(tuple(cell), self.shape(statistic)))
        return self._starts[statistic] + inside

    @cached_property
    def unknowns(self) -> Ints:
        """Return for every cell the number of its unknown.

        With SPSN a category that has a single child has the same participants and so the
        same noise as the child: both are one unknown, published twice. Without, this is so
        where tables show both in one row.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if not self.spsn:
            return np.unique(self._shown_in, return_inverse=True)[1].reshape(-1)
        upper, lower = [], []
        for link in self.links:
            above, below = link.only_children()
            upper.append(above)
            lower.append(below)
        ends = (np.concatenate([[0], *upper]), np.concatenate([[0], *lower]))
        same = csr_array((np.ones(len(ends[0])), ends), shape=(self.cells, self.cells))
        found: Ints = connected_components(same, directed=False)[1].astype(np.int64)
        return found

    @cached_property
    def sums(self) -> MarginSums:
        """Return the equations: the parent minus its children."""
        return margin_sums(self.links, self.cells)

    @property
    def links(self) -> list[Link]:
        """Return the equations between pairs of statistics; they are large and not kept."""
        return [
            Link(self._starts[fine], self._starts[coarse], int(self.lattice.cells[coarse]), self.parents(fine, coarse))
            for fine, coarse in self.pairs
        ]

    def parents(self, fine: int, coarse: int) -> Ints:
        """Return for every cell of the finer statistic the number of the coarser cell that contains it."""
        depths = self.lattice.depths
        return containing_cells(self.lattice.axes, depths[fine].tolist(), depths[coarse].tolist())

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of published statistics, fine and coarse, whose equations imply all others."""
        return list(linked(self.lattice))

    def cells_of(self, statistic: int) -> slice:
        """Return where the cells of a statistic stand."""
        start = self._starts[statistic]
        return slice(start, start + int(self.lattice.cells[statistic]))

    @cached_property
    def noises(self) -> Ints:
        """Return for every statistic of the lattice how many noises of its own it shows, 0 where it is not published.

        With SPSN all tables show one; without, each has its own, and the published value is their mean.
        """
        return (self.lattice.published if self.spsn else self.lattice.tables).astype(np.int64)

    @cached_property
    def _rows(self) -> Ints:
        """Return for every cell how many tables show it in a row of its own."""
        return np.concatenate([self.lattice.rows(statistic) for statistic in self.statistics.tolist()])

    @cached_property
    def _shown_in(self) -> Ints:
        """Return for every cell the one whose row shows it: itself, or the same category of a coarser statistic."""
        found = np.arange(self.cells)
        for fine, coarse in self.pairs if self.lattice.repeated else ():
            moved = self.lattice.moved(fine, coarse)
            if moved is not None:
                found[self.cells_of(fine)][moved] = self._starts[coarse] + self.parents(fine, coarse)[moved]
        # A coarser row may itself be that of a still coarser statistic.
        while (self._rows[found] == 0).any():
            found = found[found]
        return found

    @cached_property
    def terms(self) -> Ints:
        """Return for every cell how many noise terms there are of its unknown: one, or one per row without SPSN."""
        return np.ones(self.cells, dtype=np.int64) if self.spsn else self._rows[self._shown_in]

    @cached_property
    def spread(self) -> Floats:
        """Return the standard deviation of every cell as published, in units of one noise term.

        Cells that are one unknown have one noise between them. The equations make them
        equal, so that g cells, each as if it had a noise of variance g, weigh as one.
        """
        found: Floats = np.sqrt(np.bincount(self.unknowns)[self.unknowns] / self.terms)
        return found

    def project(
        self,
        published: Floats,
        spread: Floats | None = None,
        *,
        tolerance: float = TOLERANCE,
        go_on: Callable[[int], bool] | None = None,
    ) -> Fit:
        """Return the counts nearest to the published ones, weighted by precision, that fit all equations.

        Cells with the same participants must have been published with the same value.
        """
        return fit(self.sums, published, self.spread if spread is None else spread, tolerance=tolerance, go_on=go_on)

    def row(self, place: int, spread: Floats | None = None, *, tolerance: float = VARIANCE_TOLERANCE) -> Floats:
        """Return the weights with which the best estimate of one cell sums up the published ones.

        The projection is D P D^-1, P symmetric: its row is D^-1 P D e, and 0 for a cell that is known.
        """
        spread = self.spread if spread is None else spread
        weight, target = spread**2, np.zeros(self.cells)
        # P D e / D: the fit of D^2 e with these spreads, divided by D^2.
        target[place] = weight[place]
        fitted = fit(self.sums, target, spread, tolerance=tolerance).values
        return np.divide(fitted, weight, out=np.zeros_like(fitted), where=weight > 0)

    def variance_ratio(self, statistic: int, cell: Sequence[int] | None = None) -> float:
        """Return the variance of the best linear estimate of one cell, in units of V."""
        row = self.row(self.place(statistic, cell))
        return float(((self.spread * row) ** 2).sum())


def containing_cells(axes: Sequence[Axis | GroupedAxis], fine: Sequence[int], coarse: Sequence[int]) -> Ints:
    """Return for every cell of a statistic the number of the cell of a coarser one that contains it, by depths."""
    position = np.zeros(1, dtype=np.int64)
    for axis, a, b in zip(axes, fine, coarse, strict=True):
        # Where both are the total there is nothing to number.
        if a:
            position = (position[:, None] * axis.size(b) + axis.up(a, b)[None, :]).ravel()
    return position


def linked(lattice: Lattice) -> Iterator[tuple[int, int]]:
    """Yield each published statistic with the published ones directly above it.

    Along every axis that is the next coarser published one; where two axes must
    step together because nothing between is published, that pair too.
    """
    depths, statistics = lattice.depths, np.flatnonzero(lattice.published)
    coarser = [lattice.coarser(axis) for axis in range(len(lattice.axes))]
    if lattice.published.all() and all(((depths[:, a] == 0) | (c >= 0)).all() for a, c in enumerate(coarser)):
        for above_on_axis in coarser:
            below = np.flatnonzero(above_on_axis >= 0)
            yield from zip(below.tolist(), above_on_axis[below].tolist(), strict=True)
        return
    known = {depths[s].tobytes(): s for s in statistics.tolist()}
    signs = lattice.signs[:, statistics]
    for fine in statistics.tolist():
        above = []
        for axis in np.flatnonzero(depths[fine]).tolist():
            step = depths[fine].copy()
            while step[axis] > 0:
                step[axis] -= 1
                if (coarse := known.get(step.tobytes())) is not None:
                    above.append(coarse)
                    break
        yield from ((fine, coarse) for coarse in above)
        # A statistic is coarser where it has no bit that the finer one lacks.
        inside = (signs & ~lattice.signs[:, [fine]] == 0).all(axis=0)
        covered = np.zeros(len(inside), dtype=bool)
        for coarse in above:
            covered |= (signs & ~lattice.signs[:, [coarse]] == 0).all(axis=0)
        rest = statistics[inside & ~covered]
        yield from ((fine, int(coarse)) for coarse in rest if coarse != fine and _is_top(depths, coarse, rest, fine))


def _is_top(depths: NDArray[np.int8], coarse: int, among: Ints, fine: int) -> bool:
    """Say whether no other of the statistics lies between two."""
    between = (depths[among] >= depths[coarse]).all(axis=1) & (among != coarse) & (among != fine)
    return not between.any()
