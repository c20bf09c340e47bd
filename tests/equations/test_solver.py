"""Fits to margin equations against numpy's least squares, with known cells, contradictions and an early end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.equations.least_squares import MOST_STEPS, Link, fit, margin_sums
from discreet.equations.margin_equations import MarginEquations
from discreet.noise.ptable import PTable
from discreet.programme.lattice import lattice
from tests.attacks.scenes import LARGE, Scene, residents
from tests.programme.small import programme
from tests.programme.test_lattice import programmes
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.arrays import Floats
    from discreet.equations.least_squares import MarginSums
    from discreet.programme.model import Programme

TIGHT = 1e-12


def least_squares(sums: MarginSums, values: Floats, spread: Floats) -> Floats:
    """Return y - D z with the shortest z for which A (y - D z) = 0."""
    matrix = sums.matrix.toarray()
    z = np.linalg.lstsq(matrix * spread, matrix @ values, rcond=1e-10)[0]
    found: Floats = values - spread * z
    return found


@st.composite
def systems(draw: st.DrawFn) -> tuple[MarginSums, Floats, Floats]:
    """Return equations, values near a solution, and spreads of which some are 0: these values are the solution's."""
    made: Programme = draw(programmes(largest=3, topics=3))
    equations = MarginEquations(lattice(made), spsn=draw(st.booleans()))
    sums = equations.sums
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    if equations.cells > 400:
        # The dense solution is the slow one.
        equations = MarginEquations(lattice(programme([("A", "B")], {"A": (2, 4), "B": (3,)})))
        sums = equations.sums
    solution = least_squares(sums, random.integers(0, 50, equations.cells).astype(float), np.ones(equations.cells))
    spread = equations.spread * random.uniform(0.3, 2, equations.cells)
    spread[random.random(equations.cells) < draw(st.sampled_from([0.0, 0.2, 0.7]))] = 0
    return sums, solution + spread * random.normal(size=equations.cells), spread


@given(systems())
@settings(max_examples=up_to(60))
def test_it_is_the_weighted_least_squares_solution(made: tuple[MarginSums, Floats, Floats]) -> None:
    sums, values, spread = made
    found = fit(sums, values, spread, tolerance=TIGHT)
    assert found.complete
    assert found.values == pytest.approx(least_squares(sums, values, spread), abs=1e-6)
    assert sums.gaps(found.values) == pytest.approx(0, abs=1e-6)
    # What is known stays as it is, to the last digit.
    assert found.values[spread == 0].tolist() == values[spread == 0].tolist()
    assert found.missed <= TIGHT or np.abs(sums.gaps(values)).max() < 1e-9


def small(*spread: float) -> tuple[MarginSums, Floats]:
    """Return one parent with two children."""
    return margin_sums([Link(1, 0, 1, np.array([0, 0]))], 3), np.array(spread)


@pytest.mark.parametrize(
    ("spread", "expected"),
    [
        ((1, 1, 1), [11, 4, 7]),  # 12 against 3 + 6: a third of the gap each
        ((0, 1, 1), [12, 4.5, 7.5]),
        ((0, 0, 1), [12, 3, 9]),
        ((1, 0, 0), [9, 3, 6]),
        ((1, 2, 1), [11.5, 5, 6.5]),  # shares by variance: 1, 4 and 1 of 6
    ],
)
def test_one_equation_by_hand(spread: tuple[float, ...], expected: list[float]) -> None:
    sums, deviations = small(*spread)
    found = fit(sums, np.array([12.0, 3.0, 6.0]), deviations, tolerance=TIGHT)
    assert found.values == pytest.approx(np.array(expected))
    assert (found.complete, found.steps) == (True, 1)


def test_what_fits_already_is_left_alone() -> None:
    sums, spread = small(1, 1, 1)
    found = fit(sums, np.array([9.0, 3.0, 6.0]), spread, tolerance=TIGHT)
    assert (found.values.tolist(), found.steps, found.missed, found.complete) == ([9, 3, 6], 0, 0, True)


def test_known_cells_that_contradict_each_other_stay_and_the_rest_is_fitted() -> None:
    # Two parents: the first and its children are known and do not add up, the second is free.
    sums = margin_sums([Link(2, 0, 2, np.array([0, 0, 1, 1]))], 6)
    values = np.array([10.0, 12.0, 1.0, 2.0, 3.0, 6.0])
    found = fit(sums, values, np.array([0.0, 1, 0, 0, 1, 1]), tolerance=TIGHT)
    assert found.values == pytest.approx(np.array([10, 11, 1, 2, 4, 7]))
    assert found.steps <= 2


@pytest.mark.parametrize("known", ["total and cells", "everything"])
def test_contradictions_end_without_looping(known: str) -> None:
    equations = MarginEquations(lattice(programme([("A", "B")], {"A": (3,), "B": (4,)})))
    random = np.random.default_rng(2)
    values = random.integers(5, 40, equations.cells).astype(float)
    spread = equations.spread.copy()
    # The total and the finest cells are known and contradict each other by way of A and of B.
    for name in ("total", "A1 B1"):
        spread[equations.cells_of(equations.lattice.position(name))] = 0
    if known == "everything":
        spread[:] = 0
    found = fit(equations.sums, values, spread, tolerance=1e-10)
    assert found.steps < MOST_STEPS
    assert np.isfinite(found.values).all()
    assert found.values[spread == 0].tolist() == values[spread == 0].tolist()


def test_it_ends_when_told_to() -> None:
    equations = MarginEquations(lattice(programme([("A", "B"), ("B", "C")], {"A": (2, 4), "B": (3,), "C": (5,)})))
    values = np.random.default_rng(1).normal(10, 3, equations.cells)
    asked: list[int] = []

    def until_two(step: int) -> bool:
        asked.append(step)
        return step < 2

    early = fit(equations.sums, values, equations.spread, tolerance=TIGHT, go_on=until_two)
    assert (asked, early.steps, early.complete) == ([1, 2], 2, False)
    whole = fit(equations.sums, values, equations.spread, tolerance=TIGHT, go_on=lambda _: True)
    assert whole.complete
    assert whole.steps > 2
    assert early.missed > whole.missed
    # Two steps are already nearer to fitting than none.
    assert np.linalg.norm(equations.sums.gaps(early.values)) < np.linalg.norm(equations.sums.gaps(values))


def test_a_loose_tolerance_takes_fewer_steps() -> None:
    equations = MarginEquations(lattice(programme([("A", "B"), ("B", "C")], {"A": (2, 4), "B": (3,), "C": (5,)})))
    values = np.random.default_rng(1).normal(10, 3, equations.cells)
    loose, tight = (fit(equations.sums, values, equations.spread, tolerance=t) for t in (1e-2, TIGHT))
    assert loose.steps < tight.steps
    assert loose.missed <= 1e-2
    assert loose.values == pytest.approx(tight.values, abs=0.5)


def test_known_cells_that_contradict_each_other_by_way_of_unknown_ones_do_not_run_away() -> None:
    scene = Scene(residents(LARGE), PTable.max_entropy(variance=0.2, bound=2))
    equations, random = scene.layout.equations, np.random.default_rng(1)
    for _ in range(20):
        values = scene.counts + random.integers(-1, 2, len(scene.counts)).astype(float)
        spread = np.where(random.random(len(values)) < 0.4, 0.0, equations.spread)
        found = fit(equations.sums, values, spread, tolerance=1e-4)
        assert np.abs(found.values - values).max() < 100
        assert found.complete
