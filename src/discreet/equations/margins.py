"""Every published cell as an unknown, and the equations parent = sum of children between them.

The best unbiased estimate of all true counts from the published ones is their projection
onto the solutions of these equations: with noise of variance V on every cell the estimate
of cell c has variance V |P e_c|^2, P the projection. No closed form is needed, so blocks
may be as unequal as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.programme.lattice import Axis, Lattice

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

MOST_CELLS = 10**7
TOLERANCE = 1e-10
"""How close the projection must come to fitting the equations, relatively."""
VARIANCE_TOLERANCE = 1e-7
"""The same for a variance, which is off only by the square of what the projection is off."""
MOST_STEPS = 2000


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
            raise ParameterError(
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
            1 if depth == 0 else axis.sizes[depth - 1]
            for axis, depth in zip(self.lattice.axes, self.lattice.depths[statistic].tolist(), strict=True)
        )

    def place(self, statistic: int, cell: Sequence[int] | None = None) -> int:
        """Return the position of a cell, given its category number per axis (0 on axes that are the total)."""
        inside = 0 if cell is None else int(np.ravel_multi_index(tuple(cell), self.shape(statistic)))
        return self._starts[statistic] + inside

    @cached_property
    def _pairs(self) -> list[tuple[int, int, Ints]]:
        """Return every link with, for each cell of the finer statistic, the number of the cell above it."""
        return [(fine, coarse, self._parent_cells(fine, coarse)) for fine, coarse in self._links()]

    @cached_property
    def unknowns(self) -> Ints:
        """Return for every cell the number of its unknown.

        With SPSN a category that has a single child has the same participants and so the
        same noise as the child: both are one unknown, published twice.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if not self.spsn:
            return np.arange(self.cells)
        upper, lower = [], []
        for fine, coarse, parent in self._pairs:
            single = np.flatnonzero(np.bincount(parent, minlength=int(self.lattice.cells[coarse]))[parent] == 1)
            upper.append(self._starts[coarse] + parent[single])
            lower.append(self._starts[fine] + single)
        ends = (np.concatenate([[0], *upper]), np.concatenate([[0], *lower]))
        same = csr_array((np.ones(len(ends[0])), ends), shape=(self.cells, self.cells))
        found: Ints = connected_components(same, directed=False)[1].astype(np.int64)
        return found

    @cached_property
    def matrix(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        """Return the equations, one row each: the parent's unknown minus its children's, scaled to length 1."""
        from scipy.sparse import csr_array

        columns, rows, values, height = [], [], [], 0
        for fine, coarse, parent in self._pairs:
            size = int(self.lattice.cells[coarse])
            children = np.bincount(parent, minlength=size)
            scale = 1 / np.sqrt(1 + children)
            columns += [self._starts[coarse] + np.arange(size), self._starts[fine] + np.arange(len(parent))]
            rows += [height + np.arange(size), height + parent]
            values += [scale, -scale[parent]]
            height += size
        width = int(self.unknowns.max()) + 1
        if not columns:
            return csr_array((0, width))
        # A parent and an only child that share their noise cancel to an empty row.
        coordinates = (np.concatenate(rows), self.unknowns[np.concatenate(columns)])
        return csr_array((np.concatenate(values), coordinates), shape=(height, width))

    def _links(self) -> Iterator[tuple[int, int]]:
        """Yield each published statistic with the published ones directly above it.

        Along every axis that is the next coarser published one; where two axes must
        step together because nothing between is published, that pair too.
        """
        depths = self.lattice.depths
        known = {depths[s].tobytes(): s for s in self.statistics.tolist()}
        for fine in self.statistics.tolist():
            above = []
            for axis in np.flatnonzero(depths[fine]).tolist():
                step = depths[fine].copy()
                while step[axis] > 0:
                    step[axis] -= 1
                    if (coarse := known.get(step.tobytes())) is not None:
                        above.append(coarse)
                        break
            yield from ((fine, coarse) for coarse in above)
            below = (depths[self.statistics] <= depths[fine]).all(axis=1)
            covered = np.zeros(len(below), dtype=bool)
            for coarse in above:
                covered |= (depths[self.statistics] <= depths[coarse]).all(axis=1)
            rest = self.statistics[below & ~covered]
            yield from ((fine, int(coarse)) for coarse in rest if coarse != fine and self._is_top(coarse, rest, fine))

    def _is_top(self, coarse: int, among: Ints, fine: int) -> bool:
        """Say whether no other of the statistics lies between two."""
        depths = self.lattice.depths
        between = (depths[among] >= depths[coarse]).all(axis=1) & (among != coarse) & (among != fine)
        return not between.any()

    def _parent_cells(self, fine: int, coarse: int) -> Ints:
        """Return for every cell of the finer statistic the number of the coarser cell that contains it."""
        lattice = self.lattice
        position = np.zeros((1,), dtype=np.int64)
        for axis, a, b in zip(
            lattice.axes, lattice.depths[fine].tolist(), lattice.depths[coarse].tolist(), strict=True
        ):
            size = 1 if b == 0 else axis.sizes[b - 1]
            position = (position[:, None] * size + containing(axis, a, b)[None, :]).ravel()
        return position

    @cached_property
    def _spread(self) -> Floats:
        """Return the standard deviation of every unknown as published, in units of one noise term."""
        times = np.ones(len(self.statistics)) if self.spsn else self.lattice.tables[self.statistics].astype(float)
        cells = np.repeat(1 / np.sqrt(times), self.lattice.cells[self.statistics].astype(np.int64))
        spread = np.empty(int(self.unknowns.max()) + 1)
        spread[self.unknowns] = cells
        return spread

    @cached_property
    def _scaled(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        return (self.matrix * self._spread).T.tocsr()

    def project(self, published: Floats) -> Floats:
        """Return the counts nearest to the published ones, weighted by precision, that fit all equations.

        Cells with the same participants must have been published with the same value.
        """
        from scipy.sparse.linalg import lsmr

        values = np.empty(len(self._spread))
        values[self.unknowns] = published
        standard = values / self._spread
        found = lsmr(self._scaled, standard, atol=TOLERANCE, btol=TOLERANCE, conlim=0, maxiter=MOST_STEPS)
        fitted: Floats = ((standard - self._scaled @ found[0]) * self._spread)[self.unknowns]
        return fitted

    def variance_ratio(self, statistic: int, cell: Sequence[int] | None = None) -> float:
        """Return the variance of the best linear estimate of one cell, in units of V."""
        from scipy.sparse.linalg import lsmr

        place = int(self.unknowns[self.place(statistic, cell)])
        target = np.zeros(len(self._spread))
        target[place] = self._spread[place]
        found = lsmr(
            self._scaled, target, atol=VARIANCE_TOLERANCE, btol=VARIANCE_TOLERANCE, conlim=0, maxiter=MOST_STEPS
        )
        return float(found[3] ** 2) if len(found[0]) else float(target[place] ** 2)


def containing(axis: Axis, fine: int, coarse: int) -> Ints:
    """Return for every category at one depth of an axis the number of the category at a coarser depth.

    Where only numbers of categories are known, blocks are as equal as can be.
    """
    size = 1 if fine == 0 else axis.sizes[fine - 1]
    if coarse == 0:
        return np.zeros(size, dtype=np.int64)
    if fine == coarse:
        return np.arange(size)
    fine_codes, coarse_codes = axis.codes[fine - 1], axis.codes[coarse - 1]
    if axis.tree and fine_codes and coarse_codes:
        above = axis.tree.above(coarse_codes, fine_codes)
        if above is not None:
            return np.array(above)
    return np.arange(size) * axis.sizes[coarse - 1] // size
