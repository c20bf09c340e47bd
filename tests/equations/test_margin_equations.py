"""Margin equations against dense least squares and against the closed form."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from discreet.equations.closed_form import success
from discreet.equations.margin_equations import MarginEquations
from discreet.errors import ParameterError
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.lattice import RULES, lattice
from discreet.programme.model import Breakdown, Level, Programme, Table, Topic
from discreet.risk.averaging import averaging
from tests.programme.small import programme
from tests.programme.test_lattice import programmes
from tests.quick import up_to


def dense_ratios(equations: MarginEquations) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the variance of every published cell's best estimate by generalised least squares on the finest cross.

    Unknowns are the cells of the full cross of all axes at their finest depth; every
    published cell is a sum of them.
    """
    found = equations.lattice
    deepest = [len(axis.sizes) for axis in found.axes]
    sizes = [axis.sizes[-1] for axis in found.axes]
    rows, weights = [], []
    for statistic in equations.statistics.tolist():
        block = np.ones((1, 1))
        for axis, depth, deep, size in zip(found.axes, found.depths[statistic].tolist(), deepest, sizes, strict=True):
            above = axis.up(deep, depth)
            count = 1 if depth == 0 else axis.sizes[depth - 1]
            member = (above[None, :] == np.arange(count)[:, None]).astype(float)
            assert member.shape == (count, size)
            block = np.kron(block, member)
        rows.append(block)
        times = 1 if equations.spsn else int(found.tables[statistic])
        weights.append(np.full(len(block), float(times)))
    design, weight = np.vstack(rows), np.concatenate(weights)
    cells = design
    if equations.spsn:
        # Same participants, same noise: of cells that sum the same persons one observation is left.
        design, first = np.unique(design, axis=0, return_index=True)
        weight = weight[first]
    covariance = np.linalg.pinv(design.T @ (weight[:, None] * design), rcond=1e-11, hermitian=True)
    ratios: np.ndarray[tuple[int], np.dtype[np.float64]] = np.einsum("ij,jk,ik->i", cells, covariance, cells)
    return ratios


@given(programmes(largest=3, topics=3))
@settings(max_examples=up_to(25), deadline=None)
def test_projection_and_closed_form_agree_with_dense_least_squares(made: Programme) -> None:
    for rule, spsn in product(RULES, (True, False)):
        found = lattice(made, rule)
        if found.along(lambda axis: [axis.sizes[-1]] * (len(axis.sizes) + 1))[0] > 600:
            continue
        equations = MarginEquations(found, spsn)
        dense = dense_ratios(equations)
        first = np.array([dense[equations.place(s)] for s in equations.statistics.tolist()])
        projected = np.array([equations.variance_ratio(s) for s in equations.statistics.tolist()])
        assert projected == pytest.approx(first, rel=1e-9, abs=1e-12)
        assert averaging(found, spsn=spsn).optimal == pytest.approx(first, rel=1e-9)


def unequal() -> Programme:
    lines = [("a", ""), ("b", ""), ("a1", "a"), ("b1", "b"), ("b2", "b"), ("b3", "b")]
    tree = CategoryTree("A", tuple(Category(code, parent) for code, parent in lines))
    levels = tuple(Level("A", f"A{d}", len(tree.cut(d)), tree.cut(d)) for d in (1, 2))
    sex = Level("S", "S", 2, ("f", "m"))
    topics = {"A": Topic("A", levels, tree), "S": Topic("S", (sex,))}
    tables = (Table("1", (Breakdown("A", "A", levels), Breakdown("S", "S", (sex,)))),)
    return Programme("unequal", topics, tables)


def test_unequal_blocks_follow_the_tree() -> None:
    equations = MarginEquations(lattice(unequal()))
    dense = dense_ratios(equations)
    for statistic in equations.statistics.tolist():
        shape = equations.shape(statistic)
        for cell in np.ndindex(*shape):
            assert equations.variance_ratio(statistic, cell) == pytest.approx(dense[equations.place(statistic, cell)])
    # An only child has the persons and the noise of its parent: nothing is gained by seeing it twice.
    coarse, fine = equations.lattice.position("A1"), equations.lattice.position("A2")
    assert equations.variance_ratio(coarse, (0, 0)) == pytest.approx(equations.variance_ratio(fine, (0, 0)), rel=1e-12)


@pytest.mark.parametrize(("child", "rows"), [([], 1), ([("a1", "a")], 2)])
def test_an_only_child_is_no_second_look_unless_it_has_its_own_row(child: list[tuple[str, str]], rows: int) -> None:
    # Categories a and b, b in two parts: with one noise for `a` its variance is 1 / (1 + 1 / (1 + 2/3)).
    lines = [("a", ""), ("b", ""), *child, ("b1", "b"), ("b2", "b")]
    tree = CategoryTree("A", tuple(Category(code, parent) for code, parent in lines))
    levels = tuple(Level("A", f"A{d}", len(tree.cut(d)), tree.cut(d)) for d in (1, 2))
    made = Programme("p", {"A": Topic("A", levels, tree)}, (Table("1", (Breakdown("A", "A", levels),)),))
    for spsn, noises in ((True, 1), (False, rows)):
        found = MarginEquations(lattice(made), spsn)
        ratio = found.variance_ratio(found.lattice.position("A1"), (0,))
        assert ratio == pytest.approx(1 / (noises + 3 / 5))


def test_projection_keeps_what_adds_up_and_makes_the_rest_add_up() -> None:
    equations = MarginEquations(lattice(programme([("A", "B"), ("B", "C")], {"A": (2, 4), "B": (3,), "C": (5,)})))
    noisy = np.random.default_rng(1).normal(size=int(equations.unknowns.max()) + 1)[equations.unknowns]
    fitted = equations.project(noisy).values
    assert equations.sums.gaps(fitted) == pytest.approx(0, abs=1e-8)
    assert equations.project(fitted).values == pytest.approx(fitted, abs=1e-8)


def test_statistics_with_nothing_between_are_linked() -> None:
    # Table 1 has A and B at their second level only with the total between; table 2 at their first.
    made = programme([("A", "B")], {"A": (2, 4), "B": (2, 4)})
    levels = {name: topic.levels for name, topic in made.topics.items()}
    fine = Table("1", tuple(Breakdown(f"{n}f", n, levels[n][1:]) for n in "AB"))
    coarse = Table("2", tuple(Breakdown(f"{n}c", n, levels[n][:1]) for n in "AB"))
    found = lattice(Programme("gap", made.topics, (fine, coarse)))
    equations = MarginEquations(found)
    dense = dense_ratios(equations)
    for statistic in equations.statistics.tolist():
        assert equations.variance_ratio(statistic) == pytest.approx(dense[equations.place(statistic)], rel=1e-9)


def test_a_programme_that_is_too_large_is_refused() -> None:
    made = programme([("A", "B")], {"A": (10_000,), "B": (10_000,)})
    with pytest.raises(ParameterError, match=r"has 100,020,001 cells; exact variances are computed up to 30,000,000"):
        MarginEquations(lattice(made))


def test_real_noise_is_removed_as_far_as_the_formula_says() -> None:
    """Publish a small programme many times with p-table noise, fit it, and compare errors with the prediction."""
    equations = MarginEquations(lattice(programme([("A", "B"), ("B", "C")], {"A": (2, 4), "B": (3,), "C": (5,)})))
    runs, ptable = 4000, PTable.max_entropy(variance=2, bound=5)
    noise = ptable.rows[-1].sample(runs * equations.cells, SeededBits(5)).reshape(runs, equations.cells)
    projection = np.stack([equations.project(unit).values for unit in np.eye(equations.cells)])
    errors = noise @ projection
    for statistic in equations.statistics.tolist():
        place = equations.place(statistic)
        ratio = equations.variance_ratio(statistic)
        # 4000 runs: the variance is known to about 2.2 percent, four of these are allowed.
        assert errors[:, place].var() == pytest.approx(2 * ratio, rel=0.09)
        right = (np.abs(errors[:, place]) < 0.5).mean()
        assert right == pytest.approx(success(2, ratio), abs=0.04)
    total = equations.place(equations.lattice.position("total"))
    assert errors[:, total].var() < 2 * 0.7
