"""Maximum-entropy rows against an independent solver and against the condition that makes an optimum."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize

from discreet.noise.dual import RowProblem, solve
from tests.each import each
from tests.noise.programs import polytope, variance_range

if TYPE_CHECKING:
    from discreet.arrays import Floats


def entropy(p: Floats) -> float:
    return -math.fsum(p[p > 0] * np.log(p[p > 0]))


@cache
def solution(problem: RowProblem) -> Floats:
    (row,) = solve([problem])
    return row.probability


def random_problem(rng: np.random.Generator, widest: int) -> RowProblem:
    """Return a feasible row: lopsided, sometimes with a gap as a threshold makes it, with any mix of constraints."""
    while True:
        below, above = rng.integers(1, widest + 1, 2)
        values = np.arange(-below, above + 1)
        if rng.random() < 0.3:
            gap = rng.integers(-below + 1, above, 2)
            values = values[(values < gap.min()) | (values > gap.max())]
        problem = RowProblem(
            values,
            variance=1.0,
            equality=rng.random() < 0.5,
            floor=float(rng.choice([0, 0, 1e-8, 1e-3, 0.02])),
            stay=float(rng.choice([0, 0, 0.2, 0.5])),
            monotone=rng.random() < 0.5,
        )
        limits = variance_range(problem)
        if limits and limits[1] - limits[0] > 0.1:
            low, high = limits
            return replace(problem, variance=low + float(rng.uniform(0.05, 0.95)) * (high - low))


def with_ceiling(problem: RowProblem, rng: np.random.Generator) -> RowProblem:
    """Return the row with upper bounds that its own optimum breaks, and that another of its laws keeps."""
    bare = replace(problem, monotone=False)
    laws = polytope(bare)
    corners = [laws.best(rng.normal(size=len(problem.values))) for _ in range(30)]
    kept = np.mean([corner for corner in corners if corner is not None], axis=0)
    return replace(bare, ceiling=np.maximum(1.05 * kept, problem.floor + 1e-3))


@cache
@cache
def random_rows(seed: int, *, widest: int, size: int) -> list[RowProblem]:
    """Return rows with any mix of constraints, and some of them again with ceilings."""
    rng = np.random.default_rng(seed)
    rows = [random_problem(rng, widest) for _ in range(size)]
    return rows + [with_ceiling(row, rng) for row in rows[: size // 3]]


def small() -> list[RowProblem]:
    return random_rows(20, widest=5, size=45)


def small_and_large() -> list[RowProblem]:
    return small() + random_rows(21, widest=30, size=45)


def describe(problem: RowProblem) -> str:
    asked = [f"{problem.values[0]}..{problem.values[-1]}", f"V={problem.variance:.3g}"]
    asked += ["equality"] if problem.equality else []
    asked += [f"floor={problem.floor:g}"] if problem.floor else []
    asked += [f"stay={problem.stay:g}"] if problem.stay else []
    asked += ["monotone"] if problem.monotone else []
    asked += ["ceiling"] if problem.ceiling is not None else []
    return " ".join(asked)


def by_sequential_quadratic_programming(problem: RowProblem) -> Floats:
    """Return the law of largest entropy as a general-purpose solver finds it."""
    laws = polytope(problem)
    rng = np.random.default_rng(1)
    corners = [laws.best(rng.normal(size=len(problem.values))) for _ in range(20)]
    low = np.maximum(laws.low, 1e-13)
    start: Floats = np.maximum(np.mean([corner for corner in corners if corner is not None], axis=0), low)
    constraints = [LinearConstraint(laws.equal, laws.exactly, laws.exactly)]
    if len(laws.less):
        constraints.append(LinearConstraint(laws.less, -np.inf, laws.at_most))

    def loss(p: Floats) -> float:
        return -entropy(p)

    def slope(p: Floats) -> Floats:
        return np.asarray(np.log(np.maximum(p, 1e-15)) + 1)

    found = minimize(
        loss,
        start,
        jac=slope,
        method="SLSQP",
        bounds=Bounds(low, laws.high),
        constraints=constraints,
        tol=1e-14,
        options={"maxiter": 2000},
    )
    return np.asarray(found.x, dtype=np.float64)


@each("problem", small, ids=describe, every=18)
def test_small_rows_agree_with_a_general_solver(problem: RowProblem) -> None:
    ours, theirs = solution(problem), by_sequential_quadratic_programming(problem)
    assert polytope(problem).violation(theirs) < 1e-7
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-6)
    assert entropy(ours) >= entropy(theirs) - 1e-8


@each("problem", small_and_large, ids=describe, every=6)
def test_constraints_are_met(problem: RowProblem) -> None:
    p, v = solution(problem), problem.values / np.abs(problem.values).max()
    assert math.fsum(p) == pytest.approx(1, abs=1e-12)
    assert math.fsum(v * p) == pytest.approx(0, abs=1e-12)
    target = problem.variance / np.abs(problem.values).max() ** 2
    variance = math.fsum(v**2 * p)
    assert variance == pytest.approx(target, abs=1e-12) if problem.equality else variance <= target + 1e-12
    laws = polytope(problem, with_variance=False)
    # Bounds are met to the last digit or two of a double.
    assert (p >= laws.low * (1 - 1e-14)).all()
    assert (p <= laws.high * (1 + 1e-14)).all()
    assert (laws.less @ p <= 1e-15).all()


@each("problem", small_and_large, ids=describe)
def test_no_law_of_the_row_has_more_entropy(problem: RowProblem) -> None:
    # Entropy is concave: no feasible q has H(q) above H(p) + grad H(p) (q - p). A linear program finds the
    # best q, and at the optimum even that gains nothing.
    p = solution(problem)
    gradient = -np.log(np.maximum(p, 1e-300)) - 1
    best = polytope(problem).best(gradient)
    assert best is not None
    assert gradient @ (best - p) < 2e-7


@each("problem", lambda: small()[::5], ids=describe)
def test_entropy_falls_in_every_feasible_direction(problem: RowProblem) -> None:
    p, rng = solution(problem), np.random.default_rng(3)
    laws = polytope(problem)
    for _ in range(25):
        other = laws.best(rng.normal(size=len(p)))
        assert other is not None
        for step in (1e-3, 0.1, 1.0):
            assert entropy(p + step * (other - p)) <= entropy(p) + 1e-9


@each("bound", [1, 2, 10, 100, 250])
@each("share", [1e-8, 1e-4, 0.1, 0.9, 0.9999])
@each("below", [1, 100])
def test_plain_rows_from_very_small_to_very_large_variances(bound: int, share: float, below: int) -> None:
    values = np.arange(-min(below, bound), bound + 1)
    variance = share * float(-values[0] * values[-1])
    p = solution(RowProblem(values, variance, equality=True))
    assert math.fsum(p) == pytest.approx(1, abs=1e-12)
    assert math.fsum(values * p) == pytest.approx(0, abs=1e-12 * bound)
    assert math.fsum(values**2 * p) == pytest.approx(variance, rel=1e-10, abs=1e-12 * bound**2)


@each("bound", [5, 40, 120])
def test_rows_with_all_inequalities_at_wide_bounds(bound: int) -> None:
    for variance in (0.5, 3.0, bound / 2):
        problem = RowProblem(np.arange(-1, bound + 1), variance, floor=1e-8, stay=0.3, monotone=True)
        p = solution(problem)
        assert polytope(problem).violation(p) < 1e-9
        best = polytope(problem).best(-np.log(p))
        assert best is not None
        assert -np.log(p) @ (best - p) < 1e-6


@each("variance", [100.0, 1e6, 1e300])
def test_a_slack_variance_leaves_an_exponential_law(variance: float) -> None:
    # b = 0: log p is linear in v, and zero-mean on -1..E has one solution.
    p = solution(RowProblem(np.arange(-1, 6), variance))
    np.testing.assert_allclose(np.diff(np.log(p)), np.diff(np.log(p))[0], rtol=1e-10)
    assert p @ np.arange(-1, 6) == pytest.approx(0, abs=1e-14)


def test_a_slack_variance_leaves_a_symmetric_row_uniform() -> None:
    np.testing.assert_allclose(solution(RowProblem(np.arange(-4, 5), 100.0)), 1 / 9, rtol=1e-12)


def test_the_variance_is_an_upper_limit_unless_equality_is_asked() -> None:
    # On -1..5 the exponential distribution with mean 0 has a variance of 1.72: only equality gives 2.
    values = np.arange(-1, 6)
    free, forced = solution(RowProblem(values, 2.0)), solution(RowProblem(values, 2.0, equality=True))
    assert values**2 @ free < 1.73
    assert values**2 @ forced == pytest.approx(2, rel=1e-13)
    assert entropy(free) > entropy(forced)


def test_two_values_leave_one_law() -> None:
    # p(-2) : p(3) = 3 : 2, whatever variance above 6 is allowed.
    assert solution(RowProblem(np.array([-2, 3]), 7.0)) == pytest.approx([0.6, 0.4], rel=1e-12)


def test_floor_and_ceiling_hold_the_values_they_touch() -> None:
    values = np.arange(-3, 4)
    p = solution(RowProblem(values, 0.5, floor=0.01))
    assert p[[0, 6]] == pytest.approx(0.01, rel=1e-14)
    ceiling = np.where(values == 0, 0.3, 1.0)
    assert solution(RowProblem(values, 0.9, ceiling=ceiling))[3] == pytest.approx(0.3, rel=1e-14)


def test_stay_holds_the_middle_and_monotone_makes_a_plateau() -> None:
    values = np.arange(-1, 6)
    assert solution(RowProblem(values, 2.0, stay=0.6))[1] == pytest.approx(0.6, rel=1e-14)
    rising = solution(RowProblem(values, 2.0, monotone=True))
    # Without the shape p(-1) would be above p(0); with it they meet.
    assert solution(RowProblem(values, 2.0))[0] > solution(RowProblem(values, 2.0))[1]
    assert rising[0] == pytest.approx(rising[1], rel=1e-14)


def test_mirrored_values_give_the_mirrored_law() -> None:
    values = np.array([-2, 0, 1, 2, 4, 7])
    ours, mirrored = solution(RowProblem(values, 3.0)), solution(RowProblem(-values[::-1], 3.0))
    np.testing.assert_allclose(ours, mirrored[::-1], rtol=1e-12)


def test_rows_solved_together_are_the_rows_solved_alone() -> None:
    rows = small()[::2] + small_and_large()[len(small()) :: 3]
    for alone, together in zip(rows, solve(rows), strict=True):
        np.testing.assert_allclose(together.probability, solution(alone), rtol=1e-6, atol=1e-11)


def test_a_row_held_by_its_bounds_does_not_disturb_its_neighbours() -> None:
    # Only p(0) is free to move, so its dual has no curvature in a and b once the sum is right.
    held = RowProblem(np.arange(-1, 2), 0.5, ceiling=np.array([0.125, 1.0, 0.125]))
    free = RowProblem(np.arange(-4, 9), 3.0, floor=1e-6, stay=0.1, monotone=True)
    first, second = solve([held, free])
    assert first.probability == pytest.approx([0.125, 0.75, 0.125], rel=1e-12)
    np.testing.assert_allclose(second.probability, solution(free), rtol=1e-9)


def test_log_probability_goes_on_where_a_plain_law_underflows() -> None:
    (row,) = solve([RowProblem(np.arange(-60, 61), 0.1, equality=True)])
    assert row.probability[0] == 0
    # A parabola: second differences of log p are all the same.
    np.testing.assert_allclose(np.diff(row.log_probability, 2), np.diff(row.log_probability, 2)[0], rtol=1e-9)
