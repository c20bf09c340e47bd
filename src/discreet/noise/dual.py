"""Maximum-entropy rows: Newton's method on the dual, all rows of a p-table at once.

Row problem of the cell key method: over the values v of a row,

    maximise  -sum p log p   with  sum p = 1,  sum v p = 0,  sum v^2 p <= V (or = V),
    p >= floor,  p(0) >= stay,  p <= ceiling,  and, if monotone, p rising up to v = 0.

With s = c + a v + b v^2 the best p for given (c, a, b) has a closed form, `_best`: exp(s) pooled over blocks where it
would fall (isotonic regression of s, because a pooled block has log p equal to the mean of s) and moved within its
bounds. The dual is then a smooth convex function of (c, a, b) whose gradient is the difference between the moments of p
and their targets. Its Hessian changes where the active set does, so this is Newton's method with the active set carried
along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Flags, Floats, Ints

MOST_STEPS = 200
CONVERGED = 4e-15
"""Gap between moments and targets at double precision (features are scaled to 1)."""
ACCEPTABLE = 1e-10
"""Gap above which a row counts as unsolved."""


@dataclass(frozen=True, eq=False)
class RowProblem:
    """One row: its values, and the constraints on their probabilities.

    A ceiling, one upper bound per value, is not combined with `monotone`.
    """

    values: Ints
    variance: float
    equality: bool = False
    floor: float = 0.0
    stay: float = 0.0
    monotone: bool = False
    ceiling: Floats | None = None

    @property
    def plain(self) -> bool:
        """Return whether the variance is the only inequality."""
        return self.floor == 0 and self.stay == 0 and not self.monotone and self.ceiling is None


@dataclass(frozen=True, eq=False)
class RowSolution:
    """The distribution of one row."""

    probability: Floats
    log_probability: Floats


def solve(problems: Sequence[RowProblem]) -> list[RowSolution]:
    """Return the maximum-entropy distribution of every row; all rows must be feasible."""
    batch = _Batch(problems)
    return batch.solutions(batch.newton())


class _Batch:
    """The rows side by side, padded to one width, with values scaled to [-1, 1]."""

    def __init__(self, problems: Sequence[RowProblem]) -> None:
        self.problems = problems
        self.plain = all(problem.plain for problem in problems)
        self.capped = np.array([not problem.equality for problem in problems])
        self.sizes = [len(problem.values) for problem in problems]
        values = np.zeros((len(problems), max(self.sizes)))
        # Padding has log-weight -inf and therefore probability 0.
        self.padding = np.full(values.shape, -np.inf)
        for row, problem in enumerate(problems):
            values[row, : self.sizes[row]] = problem.values
            self.padding[row, : self.sizes[row]] = 0.0
        self.scale = np.abs(values).max(axis=1)
        scaled = values / self.scale[:, None]
        self.powers = scaled[:, :, None] ** np.arange(5)
        self.features = self.powers[:, :, :3]
        self.target = np.zeros((len(problems), 3))
        self.target[:, 0] = 1
        self.target[:, 2] = [problem.variance for problem in problems] / self.scale**2

    def newton(self) -> Floats:
        """Return the minimiser (c, a, b) of every row's dual; b <= 0 if the variance is an upper limit."""
        state = self._state(self._start())
        best = np.inf
        for _ in range(MOST_STEPS):
            gradient = state.moments - self.target
            # If b has reached 0 and the variance is below V, the constraint is slack: b stays.
            slack = self.capped & (state.theta[:, 2] >= 0) & (gradient[:, 2] <= 0)
            gradient[slack, 2] = 0.0
            gap = np.abs(gradient).max()
            if gap <= CONVERGED or (gap <= 100 * CONVERGED and gap >= best):
                break
            best = min(best, gap)
            room = np.where(self.capped, -state.theta[:, 2], np.inf)
            # If most values are at their bounds the dual is nearly linear: damping in proportion to the gap
            # keeps steps finite and fades out as they converge. A plain dual is strictly convex.
            # A row with all values at their bounds has no curvature: the minimum damping stays.
            damping = 1e-14 if self.plain else np.maximum(1e-3 * np.abs(gradient).max(axis=1), 1e-100)
            state = self._search(state, gradient, _newton_step(state.hessian, gradient, slack, room, damping))
        if not gap <= ACCEPTABLE:
            worst = int(np.abs(gradient).max(axis=1).argmax())
            raise InternalError(f"p-table row {worst} was not solved: a gap of {gap:.1e} is left. Report its settings.")
        return state.theta

    def _start(self) -> Floats:
        """Return the parameters of a Gaussian of variance V on each row.

        For a variance far below 1 the exponent of a Gaussian would underflow, and p(1) is
        near V / 2: the function uses the flatter of the two.
        """
        theta = np.zeros_like(self.target)
        variance = self.target[:, 2] * self.scale**2
        theta[:, 2] = self.scale**2 * np.maximum(-0.5 / variance, -np.log1p(2 / variance))
        theta[:, 0] = -self._exponentials(theta)[1]
        return theta

    def _exponentials(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return exp(s) divided by its sum over the row, and the logarithm of that sum."""
        s = (self.features @ theta[:, :, None])[:, :, 0] + self.padding
        top = s.max(axis=1)
        e = np.exp(s - top[:, None])
        total = e.sum(axis=1)
        return e / total[:, None], top + np.log(total)

    def _search(self, state: _State, gradient: Floats, step: Floats) -> _State:
        """Return the point along the step at which each row's dual has decreased sufficiently.

        The step is halved until it has (which convexity guarantees), or until its
        change is below the rounding error.
        """
        length = np.ones((len(step), 1))
        tolerance = 1e-13 * (1 + np.abs(state.dual))
        while True:
            trial = state.theta + length * step
            slope = (gradient * (trial - state.theta)).sum(axis=1)
            reached = self._state(trial)
            fallen = reached.dual <= state.dual + 1e-4 * slope + tolerance
            if fallen.all() or length.min() < 1e-12:
                return reached
            length[~fallen] /= 2

    def _state(self, theta: Floats) -> _State:
        """Return dual, moments and Hessian at theta, in a plain batch at the best c for (a, b)."""
        if self.plain:
            p, log_sum = self._exponentials(theta)
            theta = theta.copy()
            theta[:, 0] -= log_sum
            m = (p[:, None, :] @ self.powers)[:, 0, :]
            dual = 1 - (theta * self.target).sum(axis=1)
            return _State(theta, dual, m[:, :3], (m[:, 0], m[:, 1], m[:, 2], m[:, 2], m[:, 3], m[:, 4]))
        s = (self.features @ theta[:, :, None])[:, :, 0]
        with np.errstate(over="ignore", invalid="ignore"):
            p, weight, pooled = self._pooled(s)
            moments = (p[:, None, :] @ self.features)[:, 0, :]
            surprise = np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0)
            dual = (np.where(p > 0, s * p, 0.0) - surprise + p).sum(axis=1) - (theta * self.target).sum(axis=1)
            h = np.swapaxes(weight[:, :, None] * pooled, 1, 2) @ pooled
        # A dual that overflowed must not appear lower than at the start of the search.
        dual = np.where(np.isfinite(dual), dual, np.inf)
        return _State(theta, dual, moments, (h[:, 0, 0], h[:, 0, 1], h[:, 0, 2], h[:, 1, 1], h[:, 1, 2], h[:, 2, 2]))

    def _pooled(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Return best p, the part of it that moves with theta, and the features of its blocks."""
        p, weight, pooled = np.zeros_like(s), np.zeros_like(s), self.features.copy()
        for row, problem in enumerate(self.problems):
            size = self.sizes[row]
            p[row, :size], moving, block = _best(s[row, :size], problem)
            weight[row, :size] = np.where(moving, p[row, :size], 0.0)
            if problem.monotone:
                counts = np.bincount(block)
                sums = np.stack([np.bincount(block, self.features[row, :size, k]) for k in range(3)], axis=1)
                pooled[row, :size] = (sums / counts[:, None])[block]
        return p, weight, pooled

    def solutions(self, theta: Floats) -> list[RowSolution]:
        """Return the distributions at theta; a plain one keeps its logarithm if p underflows."""
        s = (self.features @ theta[:, :, None])[:, :, 0]
        found = []
        for row, problem in enumerate(self.problems):
            log_p = s[row, : self.sizes[row]]
            if not problem.plain:
                with np.errstate(divide="ignore"):
                    log_p = np.log(_best(log_p, problem)[0])
            found.append(RowSolution(np.exp(log_p), log_p))
        return found


@dataclass(frozen=True, eq=False)
class _State:
    """A point of the search; the Hessian as its six entries cc, ca, cb, aa, ab, bb."""

    theta: Floats
    dual: Floats
    moments: Floats
    hessian: tuple[Floats, Floats, Floats, Floats, Floats, Floats]


def _newton_step(
    hessian: tuple[Floats, Floats, Floats, Floats, Floats, Floats],
    gradient: Floats,
    slack: Flags,
    room: Floats,
    damping: Floats | float,
) -> Floats:
    """Return -(H + damping)^-1 g by eliminating c, then a; b stays where slack and moves by `room` at most."""
    cc, ca, cb, aa, ab, bb = hessian
    cc, aa, bb = cc + damping, aa + damping, bb + damping
    by_a, by_b = ca / cc, cb / cc
    # Rounding must not turn a pivot negative.
    aa = np.maximum(aa - by_a * ca, 1e-14 * aa)
    ab = ab - by_a * cb
    bb = np.maximum(bb - by_b * cb - ab**2 / aa, 1e-14 * bb)
    g_a = gradient[:, 1] - by_a * gradient[:, 0]
    g_b = gradient[:, 2] - by_b * gradient[:, 0] - ab / aa * g_a
    step = np.empty_like(gradient)
    step[:, 2] = np.where(slack, 0.0, np.minimum(-g_b / bb, room))
    step[:, 1] = -(g_a + ab * step[:, 2]) / aa
    step[:, 0] = -gradient[:, 0] / cc - by_a * step[:, 1] - by_b * step[:, 2]
    return step


def _best(s: Floats, problem: RowProblem) -> tuple[Floats, Flags, NDArray[np.intp]]:
    """Return the p that maximises sum(s p - p log p + p) under the row's inequalities.

    Also return which p move with s, and which block each belongs to.
    """
    zero = int(np.searchsorted(problem.values, 0))
    stays = zero < len(s) and problem.values[zero] == 0
    level, block = s.copy(), np.arange(len(s))
    if problem.monotone and stays:
        level[: zero + 1], block[: zero + 1] = _isotonic(s[: zero + 1])
    with np.errstate(over="ignore"):
        p = np.exp(level)
    moving = np.ones(len(s), dtype=bool)
    if stays and p[zero] < problem.stay:
        # The lower bound at 0 is active: 0 leaves its block, the rest may not exceed it.
        if problem.monotone:
            level[:zero], block[:zero] = _isotonic(s[:zero])
            block[zero] = zero
            p[:zero] = np.exp(level[:zero])
            moving[:zero] = p[:zero] <= problem.stay
            p[:zero] = np.minimum(p[:zero], problem.stay)
        p[zero], moving[zero] = problem.stay, False
    if problem.ceiling is not None:
        high = p > problem.ceiling
        p[high], moving[high] = problem.ceiling[high], False
    low = p < problem.floor
    p[low], moving[low] = problem.floor, False
    return p, moving, block


def _isotonic(s: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the increasing sequence nearest to s in least squares, and its blocks (pool adjacent violators)."""
    means: list[float] = []
    counts: list[int] = []
    for value in s:
        mean, count = float(value), 1
        while means and means[-1] > mean:
            total = mean * count + means[-1] * counts[-1]
            count += counts.pop()
            means.pop()
            mean = total / count
        means.append(mean)
        counts.append(count)
    block = np.repeat(np.arange(len(counts)), counts)
    # Blocks carry the position of their first member, so that they never meet a value outside.
    first = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp) if counts else np.zeros(0, np.intp)
    return np.repeat(means, counts), first[block]
