"""Every published cell as an unknown, and the equations parent = sum of children between the cells.

The best linear unbiased estimate of all true counts from the published ones is their projection
onto the solutions of these equations. With noise of variance V on every cell, the estimate
of cell c has variance V |P e_c|^2, P the projection. This is not a closed form, so blocks
may be unequal.
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
"""The relative tolerance of the projection."""
VARIANCE_TOLERANCE = 1e-7
"""The relative tolerance for a variance, whose error is the square of the error of the projection."""


@dataclass(frozen=True, eq=False)
class MarginEquations:
    """The equations between the cells of all published statistics of a lattice.

    Attributes:
        lattice: the statistics.
        spsn: whether a statistic has the same noise in all tables; if not, it is the mean over its tables.
    """

    lattice: Lattice
    spsn: bool = True

    def __post_init__(self) -> None:
        if self.cells > MOST_CELLS:
            raise TooLargeError(
                f"The programme has {self.cells:,} cells; exact variances are computed up to {MOST_CELLS:,}. "
                "Select fewer tables, or use the closed form.",
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
        """Return the number of categories of a statistic by axis; 1 for the total."""
        return tuple(
            axis.size(depth)
            for axis, depth in zip(self.lattice.axes, self.lattice.depths[statistic].tolist(), strict=True)
        )

    def place(self, statistic: int, cell: Sequence[int] | None = None) -> int:
        """Return the index of a cell, given its category number by axis (0 for the total)."""
        inside = 0 if cell is None else int(np.ravel_multi_index(tuple(cell), self.shape(statistic)))
        return self._starts[statistic] + inside

    @cached_property
    def unknowns(self) -> Ints:
        """Return the index of the unknown of every cell.

        With SPSN, a category with a single child has the same participants and therefore the
        same noise as the child: both share one unknown, published twice. Without SPSN, they
        share an unknown if tables show both in one row.
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
        """Return the equations: parent minus children."""
        return margin_sums(self.links, self.cells)

    @property
    def links(self) -> list[Link]:
        """Return the equations between pairs of statistics; they are large and not cached."""
        return [
            Link(self._starts[fine], self._starts[coarse], int(self.lattice.cells[coarse]), self.parents(fine, coarse))
            for fine, coarse in self.pairs
        ]

    def parents(self, fine: int, coarse: int) -> Ints:
        """Return the number of the coarser cell that contains each cell of the finer statistic."""
        depths = self.lattice.depths
        return containing_cells(self.lattice.axes, depths[fine].tolist(), depths[coarse].tolist())

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of published statistics, fine and coarse, whose equations imply all others."""
        return list(linked(self.lattice))

    def cells_of(self, statistic: int) -> slice:
        """Return the index range of the cells of a statistic."""
        start = self._starts[statistic]
        return slice(start, start + int(self.lattice.cells[statistic]))

    @cached_property
    def noise_term_counts(self) -> Ints:
        """Return the number of noise terms of every statistic of the lattice; 0 for unpublished statistics.

        With SPSN, all tables share one noise term. Without SPSN, each table has its own, and the published value is
        the mean over the tables.
        """
        return (self.lattice.published if self.spsn else self.lattice.tables).astype(np.int64)

    @cached_property
    def _rows(self) -> Ints:
        """Return the number of tables that show each cell in a separate row."""
        return np.concatenate([self.lattice.rows(statistic) for statistic in self.statistics.tolist()])

    @cached_property
    def _shown_in(self) -> Ints:
        """Return the cell whose row shows each cell: the cell itself, or the same category of a coarser statistic."""
        found = np.arange(self.cells)
        for fine, coarse in self.pairs if self.lattice.repeated else ():
            moved = self.lattice.moved(fine, coarse)
            if moved is not None:
                found[self.cells_of(fine)][moved] = self._starts[coarse] + self.parents(fine, coarse)[moved]
        # The row of the coarser statistic may itself belong to an even coarser statistic.
        while (self._rows[found] == 0).any():
            found = found[found]
        return found

    @cached_property
    def terms(self) -> Ints:
        """Return the number of noise terms of the unknown of every cell: one, or one per row without SPSN."""
        return np.ones(self.cells, dtype=np.int64) if self.spsn else self._rows[self._shown_in]

    @cached_property
    def spread(self) -> Floats:
        """Return the standard deviation of every published cell, in units of one noise term.

        Cells that share an unknown share one noise term. The equations make them equal, so
        that g cells, each treated as having a noise variance of g, have the weight of one cell.
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
        """Return the counts nearest to the published ones, weighted by precision, that satisfy all equations.

        Cells with the same participants must have the same published value.
        """
        return fit(self.sums, published, self.spread if spread is None else spread, tolerance=tolerance, go_on=go_on)

    def row(self, place: int, spread: Floats | None = None, *, tolerance: float = VARIANCE_TOLERANCE) -> Floats:
        """Return the weights of all published cells in the best linear estimate of one cell.

        The projection is D P D^-1, P symmetric: its row is D^-1 P D e, and 0 for a known cell.
        """
        spread = self.spread if spread is None else spread
        weight, target = spread**2, np.zeros(self.cells)
        # P D e / D is the fit of D^2 e with these standard deviations, divided by D^2.
        target[place] = weight[place]
        fitted = fit(self.sums, target, spread, tolerance=tolerance).values
        return np.divide(fitted, weight, out=np.zeros_like(fitted), where=weight > 0)

    def variance_ratio(self, statistic: int, cell: Sequence[int] | None = None) -> float:
        """Return the variance of the best linear estimate of one cell, in units of V."""
        row = self.row(self.place(statistic, cell))
        return float(((self.spread * row) ** 2).sum())


def containing_cells(axes: Sequence[Axis | GroupedAxis], fine: Sequence[int], coarse: Sequence[int]) -> Ints:
    """Return the number of the coarser cell that contains each cell of a statistic, given the depths of both."""
    position = np.zeros(1, dtype=np.int64)
    for axis, a, b in zip(axes, fine, coarse, strict=True):
        # If both are the total, there is only one cell.
        if a:
            position = (position[:, None] * axis.size(b) + axis.up(a, b)[None, :]).ravel()
    return position


def linked(lattice: Lattice) -> Iterator[tuple[int, int]]:
    """Yield each published statistic with the published statistics directly above it.

    Along every axis this is the next coarser published one. If two axes must change
    together because no statistic in between is published, that pair is also yielded.
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
        # A statistic is coarser if its bits are a subset of those of the finer one.
        inside = (signs & ~lattice.signs[:, [fine]] == 0).all(axis=0)
        covered = np.zeros(len(inside), dtype=bool)
        for coarse in above:
            covered |= (signs & ~lattice.signs[:, [coarse]] == 0).all(axis=0)
        rest = statistics[inside & ~covered]
        yield from ((fine, int(coarse)) for coarse in rest if coarse != fine and _is_top(depths, coarse, rest, fine))


def _is_top(depths: NDArray[np.int8], coarse: int, among: Ints, fine: int) -> bool:
    """Return whether no other statistic lies between two statistics."""
    between = (depths[among] >= depths[coarse]).all(axis=1) & (among != coarse) & (among != fine)
    return not between.any()
