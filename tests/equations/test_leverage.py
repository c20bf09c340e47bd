"""Leverages from random probes against the diagonal of a dense hat matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.equations.leverage import probe_leverages
from discreet.equations.margin_equations import MarginEquations
from discreet.programme.lattice import lattice
from tests.equations.test_margin_equations import unequal
from tests.programme.small import programme
from tests.quick import one_in

if TYPE_CHECKING:
    from discreet.programme.model import Programme

PROBES = 1500


def hat_diagonal(equations: MarginEquations) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the leverage of every cell's unknown: the diagonal of X (X'WX)^+ X'W, unknowns published once.

    X sums the cells of the full cross of all axes at their finest depth.
    """
    found = equations.lattice
    rows = []
    for statistic in equations.statistics.tolist():
        block = np.ones((1, 1))
        for axis, depth in zip(found.axes, found.depths[statistic].tolist(), strict=True):
            count = 1 if depth == 0 else axis.sizes[depth - 1]
            above = axis.up(len(axis.sizes), depth)
            block = np.kron(block, (above[None, :] == np.arange(count)[:, None]).astype(float))
        rows.append(block)
    cells = np.vstack(rows)
    noises = np.repeat(equations.noise_term_counts[equations.statistics], [len(block) for block in rows]).astype(float)
    _, first = np.unique(equations.unknowns, return_index=True)
    design, weight = cells[first], noises[first]
    inverse = np.linalg.pinv(design.T @ (weight[:, None] * design), rcond=1e-11, hermitian=True)
    hat = np.einsum("ij,jk,ik->i", design, inverse, design) * weight
    return np.asarray(hat)[equations.unknowns]


@pytest.mark.parametrize("spsn", one_in(2, [True, False]))
@pytest.mark.parametrize(
    "made", one_in(2, [unequal(), programme([("A", "B"), ("B", "C")], {"A": (2, 4), "B": (3,), "C": (5,)})])
)
def test_probes_estimate_the_diagonal_of_the_hat_matrix(made: Programme, spsn: bool) -> None:
    equations = MarginEquations(lattice(made), spsn)
    found = probe_leverages(equations, np.random.default_rng(3), probes=PROBES, tolerance=1e-8)
    # Five standard errors of a mean of PROBES squares whose variance is at most 2 h^2.
    exact = hat_diagonal(equations)
    assert np.abs(found / exact - 1).max() < 5 * np.sqrt(2 / PROBES)
    assert len(np.unique(exact.round(6))) > 2


@pytest.mark.slow
def test_a_known_cell_has_no_leverage_and_lowers_that_of_the_others() -> None:
    equations = MarginEquations(lattice(unequal()))
    spread = equations.spread.copy()
    place = equations.place(equations.lattice.position("total"))
    spread[place] = 0
    found = probe_leverages(equations, np.random.default_rng(3), probes=PROBES, tolerance=1e-8, spread=spread)
    free = hat_diagonal(equations)
    assert found[place] == 0
    others = np.arange(equations.cells) != place
    assert (found[others] < free[others] * (1 + 5 * np.sqrt(2 / PROBES))).all()
    assert found[others].sum() < free[others].sum()
