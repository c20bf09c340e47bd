"""The equations parent = sum of children as one sparse matrix, built link by link so that ten million cells fit.

A link says that every cell of a coarse statistic is the sum of cells of a finer one. Its
equations are rows: 1 for the parent, -1 for each child, scaled to length 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints

CHUNK = 1 << 20
"""Equations that are looked at together."""
RIDGE = 1e-9
"""Added to the normal equations of free numbers, whose entries are about 1."""


@dataclass(frozen=True, eq=False)
class Link:
    """The equations between two statistics.

    Attributes:
        fine: where the cells of the finer statistic begin.
        coarse: where those of the coarser one begin.
        size: how many cells the coarser one has.
        parent: for every finer cell the number of the coarser one that contains it.
    """

    fine: int
    coarse: int
    size: int
    parent: Ints

    @property
    def entries(self) -> int:
        """Return how many numbers of the equations are not 0."""
        return self.size + len(self.parent)

    @property
    def children(self) -> Ints:
        """Return how many children every coarser cell has."""
        return np.bincount(self.parent, minlength=self.size)

    def only_children(self) -> tuple[Ints, Ints]:
        """Return the coarser cells that have a single child, and these children."""
        single = np.flatnonzero(self.children[self.parent] == 1)
        return self.coarse + self.parent[single], self.fine + single

    def write(self, columns: NDArray[np.int32], values: Floats) -> Ints:
        """Write column and value of every entry, parent first, and return where the equations end."""
        in_order = bool((self.parent[1:] >= self.parent[:-1]).all())
        order = np.arange(len(self.parent)) if in_order else np.argsort(self.parent, kind="stable")
        above, children = self.parent[order], self.children
        ends = np.cumsum(children + 1)
        scale = 1 / np.sqrt(1 + children)
        # A child stands behind the children before it and the parents up to its own.
        below = np.arange(len(order)) + above + 1
        columns[below], values[below] = self.fine + order, -scale[above]
        first = ends - children - 1
        columns[first], values[first] = self.coarse + np.arange(self.size), scale
        return ends


@dataclass(frozen=True, eq=False)
class MarginSums:
    """The equations A x = 0 of all links, and their transpose."""

    matrix: Any
    """A sparse array of scipy, which has no types."""

    @cached_property
    def _back(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        return self.matrix.T

    def gaps(self, cells: Floats) -> Floats:
        """Return A x: how far every equation is from holding."""
        found: Floats = self.matrix @ cells
        return found

    def diagonal(self, weight: Floats) -> Floats:
        """Return the diagonal of A W A' for weights of cells: what each equation by itself would weigh."""
        ends, found = self.matrix.indptr, np.empty(self.matrix.shape[0])
        for start in range(0, len(found), CHUNK):
            stop = min(start + CHUNK, len(found))
            part = slice(ends[start], ends[stop])
            entries = self.matrix.data[part] ** 2 * weight[self.matrix.indices[part]]
            # No equation is empty: it has its parent.
            found[start:stop] = np.add.reduceat(entries, ends[start:stop] - ends[start])
        return found

    def back(self, gaps: Floats) -> Floats:
        """Return the transpose of A applied to one number per equation."""
        found: Floats = self._back @ gaps
        return found

    def dense(self) -> Floats:
        """Return A as a dense matrix."""
        found: Floats = self.matrix.toarray()
        return found


def margin_sums(links: Sequence[Link], cells: int) -> MarginSums:
    """Return the equations of all links."""
    from scipy.sparse import csr_array

    entries, height = sum(link.entries for link in links), sum(link.size for link in links)
    columns, values = np.empty(entries, dtype=np.int32), np.empty(entries)
    ends = np.zeros(height + 1, dtype=np.int32 if entries < np.iinfo(np.int32).max else np.int64)
    start = row = 0
    for link in links:
        stop = start + link.entries
        ends[row + 1 : row + 1 + link.size] = start + link.write(columns[start:stop], values[start:stop])
        start, row = stop, row + link.size
    return MarginSums(csr_array((values, columns, ends), shape=(height, cells)))


@dataclass(frozen=True, eq=False)
class FreeSums:
    """Equations A x + B u = 0 between cells x and free numbers u that nothing was published about.

    What u could take up says nothing about x: the gaps are projected onto the complement of the range of B,

        P = I - B (B' B)^-1 B'.
    """

    matrix: Any
    free: Any

    @cached_property
    def _back(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        return self.matrix.T

    @cached_property
    def _solve(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        from scipy.sparse import csc_array, eye_array
        from scipy.sparse.linalg import splu

        normal = csc_array(self.free.T @ self.free)
        # Some free numbers may be undetermined: the ridge picks one solution, and B takes the choice out again.
        return splu(csc_array(normal + RIDGE * eye_array(normal.shape[0], format="csc"))).solve

    def _projected(self, gaps: Floats) -> Floats:
        for _ in range(2):
            gaps = gaps - self.free @ self._solve(self.free.T @ gaps)
        return gaps

    def gaps(self, cells: Floats) -> Floats:
        """Return P A x: how far the equations are from holding, whatever the free numbers are."""
        return self._projected(self.matrix @ cells)

    def back(self, gaps: Floats) -> Floats:
        """Return the transpose of P A applied to one number per equation."""
        found: Floats = self._back @ self._projected(gaps)
        return found

    def diagonal(self, weight: Floats) -> Floats:
        """Return what scales each equation; one with free numbers always has some weight."""
        found: Floats = (self.matrix**2) @ weight + (self.free**2) @ np.ones(self.free.shape[1])
        return found

    def dense(self) -> Floats:
        """Return P A as a dense matrix."""
        found: Floats = np.column_stack([self._projected(column) for column in self.matrix.toarray().T])
        return found


def scaled_rows(matrix: Any) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
    """Return equations scaled to length 1, with column numbers of 32 bits where they suffice: products are faster."""
    from scipy.sparse import csr_array

    length = np.sqrt((matrix**2) @ np.ones(matrix.shape[1]))
    values = matrix.data / np.repeat(length, np.diff(matrix.indptr))
    narrow = np.int32 if max(matrix.nnz, *matrix.shape) < np.iinfo(np.int32).max else np.int64
    return csr_array((values, matrix.indices.astype(narrow), matrix.indptr.astype(narrow)), shape=matrix.shape)
