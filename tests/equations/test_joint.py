"""Joint equations across universes against dense least squares on the finest cross of all topics."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.equations.joint import JointEquations
from discreet.programme.universe import finest_codes, universe_of
from tests.programme.small import with_universes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.programme.model import Programme
    from discreet.programme.tree import CategoryTree

    Floats = NDArray[np.float64]


def _has(atom: tuple[str, ...], cell: tuple[str, ...], which: list[int], trees: list[CategoryTree | None]) -> bool:
    """Say whether a cell counts a combination of finest codes."""
    return all(tree and code in tree.path(atom[w]) for code, w, tree in zip(cell, which, trees, strict=True))


def participants(equations: JointEquations) -> Floats:
    """Return for every published cell, in order, which finest combinations of codes it counts."""
    known = equations.programme.topics
    leaves = {name: finest_codes(topic) for name, topic in known.items()}
    atoms = list(product(*leaves.values()))
    rows = []
    for name, part in equations.parts.items():
        universe = universe_of(equations.programme, equations.programme.of(name)[0])
        inside = [
            bool(universe.members[tuple(leaves[t].index(atom[list(leaves).index(t)]) for t in universe.topics)])
            for atom in atoms
        ]
        lattice = part.lattice
        for statistic in part.equations.statistics.tolist():
            shown = [
                axis.codes[depth - 1] or ()
                for axis, depth in zip(lattice.axes, lattice.depths[statistic].tolist(), strict=True)
                if depth
            ]
            which = [
                list(leaves).index(axis.name)
                for axis, depth in zip(lattice.axes, lattice.depths[statistic].tolist(), strict=True)
                if depth
            ]
            for cell in product(*shown):
                paths = [known[list(leaves)[w]].tree for w in which]
                rows.append(
                    [float(there and _has(atom, cell, which, paths)) for atom, there in zip(atoms, inside, strict=True)]
                )
    return np.array(rows)


def dense_ratios(equations: JointEquations) -> Floats:
    """Return the variance of every cell's best estimate by generalised least squares on the finest cross."""
    cells = participants(equations)
    design, weight = cells, np.ones(len(cells))
    if equations.spsn:
        design = np.unique(cells[cells.any(axis=1)], axis=0)
        weight = np.ones(len(design))
    else:
        weight = np.concatenate(
            [
                np.repeat(
                    part.lattice.tables[part.equations.statistics],
                    part.lattice.cells[part.equations.statistics].astype(int),
                )
                for part in equations.parts.values()
            ]
        ).astype(float)
    covariance = np.linalg.pinv(design.T @ (weight[:, None] * design), rcond=1e-11, hermitian=True)
    found: Floats = np.einsum("ij,jk,ik->i", cells, covariance, cells)
    return found


@given(with_universes(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_equations_across_universes_are_all_there_are(made: Programme, spsn: bool) -> None:
    equations = JointEquations(made, spsn)
    dense = dense_ratios(equations)
    assert equations.variance_ratios() == pytest.approx(dense, rel=1e-9, abs=1e-9)
    for place in {0, equations.cells // 2, equations.cells - 1}:
        assert equations.variance_ratio(place) == pytest.approx(dense[place], rel=1e-9, abs=1e-9)


@given(with_universes())
@settings(max_examples=40, deadline=None)
def test_one_unknown_is_one_set_of_participants(made: Programme) -> None:
    equations = JointEquations(made)
    sets = participants(equations)
    same = (sets[:, None, :] == sets[None, :, :]).all(axis=2)
    assert (same == (equations.unknowns[:, None] == equations.unknowns[None, :])).all()
    assert (equations.possible == sets.any(axis=1)).all()
