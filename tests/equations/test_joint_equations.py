"""Joint equations across universes against dense least squares on the finest cross of all topics."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.equations.joint_equations import JointEquations
from discreet.programme.universe import finest_codes, universe_of
from discreet.tabulation.plan import plan
from tests.programme.small import with_universes
from tests.quick import up_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from discreet.arrays import Floats
    from discreet.programme.category_tree import CategoryTree
    from discreet.programme.model import Programme, Table


def _has(atom: tuple[str, ...], cell: tuple[str, ...], which: list[int], trees: list[CategoryTree | None]) -> bool:
    """Say whether a cell counts a combination of finest codes."""
    return all(tree and code in tree.path(atom[w]) for code, w, tree in zip(cell, which, trees, strict=True))


def combinations(made: Programme) -> list[tuple[str, ...]]:
    """Return all combinations of finest codes."""
    return list(product(*(finest_codes(topic) for topic in made.topics.values())))


def counted(made: Programme, table: Table, cells: Iterable[Mapping[str, str]]) -> Floats:
    """Return for every cell, by topic its code, which combinations of finest codes a table counts in it."""
    names, trees = list(made.topics), [topic.tree for topic in made.topics.values()]
    leaves = {name: finest_codes(topic) for name, topic in made.topics.items()}
    universe = universe_of(made, table)
    atoms = combinations(made)
    inside = [
        bool(universe.members[tuple(leaves[t].index(atom[names.index(t)]) for t in universe.topics)]) for atom in atoms
    ]
    rows = []
    for cell in cells:
        which = [names.index(name) for name in cell]
        own = [trees[number] for number in which]
        codes = tuple(cell.values())
        rows.append([float(there and _has(atom, codes, which, own)) for atom, there in zip(atoms, inside, strict=True)])
    return np.array(rows).reshape(-1, len(atoms))


def participants(equations: JointEquations) -> Floats:
    """Return for every published cell, in order, which finest combinations of codes it counts."""
    rows = []
    for name, part in equations.parts.items():
        lattice = part.lattice
        for statistic in part.equations.statistics.tolist():
            shown = {
                axis.name: axis.codes[depth - 1] or ()
                for axis, depth in zip(lattice.axes, lattice.depths[statistic].tolist(), strict=True)
                if depth
            }
            cells = [dict(zip(shown, codes, strict=True)) for codes in product(*shown.values())]
            rows.append(counted(equations.programme, equations.programme.of(name)[0], cells))
    return np.concatenate(rows)


def published_rows(made: Programme) -> Floats:
    """Return for every row of every table which finest combinations of codes it counts; a code has one row."""
    rows = []
    for table in made.tables:
        columns = [
            dict.fromkeys([*([""] if b.total or not b.levels else []), *(c for v in b.levels for c in v.codes or ())])
            for b in table.breakdowns
        ]
        topics = [breakdown.topic for breakdown in table.breakdowns]
        cells = [
            {topic: code for topic, code in zip(topics, codes, strict=True) if code} for codes in product(*columns)
        ]
        rows.append(counted(made, table, cells))
    return np.concatenate(rows)


def dense_ratios(equations: JointEquations) -> Floats:
    """Return the variance of every cell's best estimate by generalised least squares on the finest cross."""
    cells = participants(equations)
    # The same participants have one noise, or every row of every table has its own.
    design = np.unique(cells, axis=0) if equations.spsn else published_rows(equations.programme)
    covariance = np.linalg.pinv(design.T @ design, rcond=1e-11, hermitian=True)
    found: Floats = np.einsum("ij,jk,ik->i", cells, covariance, cells)
    return found


@given(with_universes(), st.booleans())
@settings(max_examples=up_to(60), deadline=None)
def test_the_equations_across_universes_are_all_there_are(made: Programme, spsn: bool) -> None:
    equations = JointEquations(made, spsn)
    dense = dense_ratios(equations)
    assert equations.variance_ratios() == pytest.approx(dense, rel=1e-9, abs=1e-9)
    for place in {0, equations.cells // 2, equations.cells - 1}:
        assert equations.variance_ratio(place) == pytest.approx(dense[place], rel=1e-9, abs=1e-9)


@given(with_universes())
@settings(max_examples=up_to(40), deadline=None)
def test_one_unknown_is_one_set_of_participants(made: Programme) -> None:
    equations = JointEquations(made)
    sets = participants(equations)
    same = (sets[:, None, :] == sets[None, :, :]).all(axis=2)
    assert (same == (equations.unknowns[:, None] == equations.unknowns[None, :])).all()
    assert (equations.possible == sets.any(axis=1)).all()


@given(with_universes())
@settings(max_examples=up_to(40), deadline=None)
def test_every_row_of_every_table_has_one_fresh_noise(made: Programme) -> None:
    equations = JointEquations(made, spsn=False)
    first = np.unique(equations.unknowns, return_index=True)[1]
    written = sum(table.cells for tables in made.populations.values() for table in plan(made, tables).tables)
    assert equations.terms[first].sum() == written == len(published_rows(made))
    sets = participants(equations)
    # One noise means the same participants, but not the other way round: a single child has rows of its own.
    for unknown in range(len(first)):
        assert len(np.unique(sets[equations.unknowns == unknown], axis=0)) == 1
