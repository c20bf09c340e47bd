"""The vector nearest to a given one that satisfies margin equations, by conjugate gradients on one sparse matrix.

Minimise |z|^2 subject to A (y - D z) = 0, D the standard deviations: the shortest z that solves A D z = A y. A cell
with D = 0 is known and does not change. Every equation is scaled by its own uncertainty first (Jacobi preconditioning),
because the uncertainties of cells may differ greatly. The steps are those of conjugate gradients for least squares
(CGLS), which also terminate if known cells contradict each other.

The matrix A is built link by link, so that ten million cells fit into memory. A link consists of the equations between
two statistics: every cell of the coarser one is the sum of cells of the finer one. Each equation is a row of A, with 1
for the parent and -1 for each child, scaled to length 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints

MOST_STEPS = 2000
FLAT = 1e-3
"""The tolerance of the gradient relative to that of the residuals, for inconsistent equations."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of the solver.

    Attributes:
        values: the fitted cells.
        steps: the number of steps.
        missed: the norm of the remaining residuals relative to the initial norm.
        complete: whether the solver reached its tolerance, or the minimum if known cells contradict each other.
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
    """Return the values nearest to the given ones, in units of their spread, that satisfy all equations.

    Args:
        sums: the equations.
        values: one value per cell.
        spread: the standard deviation of every cell; 0 for a known cell.
        tolerance: the relative reduction of the norm of the residuals.
        go_on: a callback with the number of every step; False stops the solver early.
    """
    own = sums.diagonal(spread**2)
    # Equations between known cells have no variable; they are checked, not solved.
    scale = np.sqrt(np.divide(1.0, own, out=np.zeros_like(own), where=own > 0))
    residual = scale * sums.gaps(values)
    start = math.sqrt(_square(residual))
    # Relative to the initial residuals, or, if these are tiny, to the rounding error of sums of this size.
    rounding = 1e-14 * math.sqrt(_square(values) * _square(scale) / max(len(scale), 1))
    target = max(tolerance * start, rounding)
    slope = spread * sums.back(scale * residual)
    steepness = _square(slope)
    flat = (FLAT * tolerance) ** 2 * steepness
    direction, moved, length, step = slope.copy(), np.zeros_like(values), start, 0
    # If known cells contradict each other, the residuals cannot become 0, but their gradient does.
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
    """Return the squared norm of a vector, in one thread: starting threads takes three times as long as the sum."""
    return float(np.einsum("i,i->", values, values))


CHUNK = 1 << 20
"""The number of equations processed together."""
RIDGE = 1e-9
"""The ridge added to the normal equations of free variables, whose entries are about 1."""


@dataclass(frozen=True, eq=False)
class Link:
    """The equations between two statistics.

    Attributes:
        fine: the index of the first cell of the finer statistic.
        coarse: the index of the first cell of the coarser statistic.
        size: the number of cells of the coarser statistic.
        parent: the number of the coarser cell that contains each finer cell.
    """

    fine: int
    coarse: int
    size: int
    parent: Ints

    @property
    def entries(self) -> int:
        """Return the number of non-zero entries of the equations."""
        return self.size + len(self.parent)

    @property
    def children(self) -> Ints:
        """Return the number of children of every coarser cell."""
        return np.bincount(self.parent, minlength=self.size)

    def only_children(self) -> tuple[Ints, Ints]:
        """Return the coarser cells with a single child, and these children."""
        single = np.flatnonzero(self.children[self.parent] == 1)
        return self.coarse + self.parent[single], self.fine + single

    def write(self, columns: NDArray[np.int32], values: Floats) -> Ints:
        """Write column and value of every entry, parent first, and return the end index of every equation."""
        in_order = bool((self.parent[1:] >= self.parent[:-1]).all())
        order = np.arange(len(self.parent)) if in_order else np.argsort(self.parent, kind="stable")
        above, children = self.parent[order], self.children
        ends = np.cumsum(children + 1)
        scale = 1 / np.sqrt(1 + children)
        # A child follows all earlier children and the parents up to its own.
        below = np.arange(len(order)) + above + 1
        columns[below], values[below] = self.fine + order, -scale[above]
        first = ends - children - 1
        columns[first], values[first] = self.coarse + np.arange(self.size), scale
        return ends


@dataclass(frozen=True, eq=False)
class MarginSums:
    """The equations A x = 0 of all links, and their transpose."""

    matrix: Any
    """A sparse scipy array, which is untyped."""

    @cached_property
    def _back(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        return self.matrix.T

    def gaps(self, cells: Floats) -> Floats:
        """Return A x, the residual of every equation."""
        found: Floats = self.matrix @ cells
        return found

    def diagonal(self, weight: Floats) -> Floats:
        """Return the diagonal of A W A' for weights W of cells: the variance of the residual of every equation."""
        ends, found = self.matrix.indptr, np.empty(self.matrix.shape[0])
        for start in range(0, len(found), CHUNK):
            stop = min(start + CHUNK, len(found))
            part = slice(ends[start], ends[stop])
            entries = self.matrix.data[part] ** 2 * weight[self.matrix.indices[part]]
            # No equation is empty: it contains its parent.
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
    """Equations A x + B u = 0 between cells x and free variables u without published values.

    Residuals in the range of B carry no information about x. They are projected onto the complement of this range,

        P = I - B (B' B)^-1 B'.
    """

    matrix: Any
    free: Any

    @cached_property
    def _back(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        return self.matrix.T

    @cached_property
    def _free_back(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        return self.free.T

    @cached_property
    def _solve(self) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        from scipy.sparse import csc_array, eye_array
        from scipy.sparse.linalg import splu

        normal = csc_array(self._free_back @ self.free)
        # Some free variables may be undetermined: the ridge selects one solution, and B removes the choice again.
        return splu(csc_array(normal + RIDGE * eye_array(normal.shape[0], format="csc"))).solve

    def _projected(self, gaps: Floats) -> Floats:
        for _ in range(2):
            gaps = gaps - self.free @ self._solve(self._free_back @ gaps)
        return gaps

    def gaps(self, cells: Floats) -> Floats:
        """Return P A x, the residuals of the equations for the best free variables."""
        return self._projected(self.matrix @ cells)

    def back(self, gaps: Floats) -> Floats:
        """Return the transpose of P A applied to one number per equation."""
        found: Floats = self._back @ self._projected(gaps)
        return found

    def diagonal(self, weight: Floats) -> Floats:
        """Return the scale of every equation; it is positive for an equation with free variables."""
        found: Floats = (self.matrix**2) @ weight + (self.free**2) @ np.ones(self.free.shape[1])
        return found

    def dense(self) -> Floats:
        """Return P A as a dense matrix."""
        found: Floats = np.column_stack([self._projected(column) for column in self.matrix.toarray().T])
        return found


def scaled_rows(matrix: Any) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
    """Return equations scaled to length 1, with 32-bit column indices if possible, which make products faster."""
    from scipy.sparse import csr_array

    length = np.sqrt((matrix**2) @ np.ones(matrix.shape[1]))
    values = matrix.data / np.repeat(length, np.diff(matrix.indptr))
    narrow = np.int32 if max(matrix.nnz, *matrix.shape) < np.iinfo(np.int32).max else np.int64
    return csr_array((values, matrix.indices.astype(narrow), matrix.indptr.astype(narrow)), shape=matrix.shape)
