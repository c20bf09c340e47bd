"""The equations parent = sum of children as a sparse matrix, against one written out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.equations import least_squares as module
from discreet.equations.least_squares import Link, margin_sums
from discreet.equations.margin_equations import MarginEquations
from discreet.programme.lattice import lattice
from tests.programme.small import programme

if TYPE_CHECKING:
    from discreet.arrays import Floats


@st.composite
def links(draw: st.DrawFn) -> tuple[list[Link], int]:
    """Return statistics one behind the other, and links between some of them with children in any order."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=2, max_size=5))
    starts = np.cumsum([0, *sizes]).tolist()
    found = []
    for _ in range(draw(st.integers(1, 6))):
        fine, coarse = draw(st.permutations(range(len(sizes))))[:2]
        parent = draw(st.lists(st.integers(0, sizes[coarse] - 1), min_size=sizes[fine], max_size=sizes[fine]))
        found.append(Link(starts[fine], starts[coarse], sizes[coarse], np.array(parent)))
    return found, starts[-1]


def dense(given: list[Link], cells: int) -> Floats:
    """Return one row per parent, in the order of the links, scaled to length 1."""
    rows = []
    for link in given:
        for parent in range(link.size):
            row = np.zeros(cells)
            row[link.coarse + parent] = 1
            for child in np.flatnonzero(link.parent == parent):
                row[link.fine + child] = -1
            rows.append(row / np.sqrt((row**2).sum()))
    return np.array(rows)


@given(links(), st.integers(0, 10**6))
def test_gaps_and_their_transpose_are_those_of_the_dense_matrix(made: tuple[list[Link], int], seed: int) -> None:
    given_links, cells = made
    sums, matrix = margin_sums(given_links, cells), dense(given_links, cells)
    random = np.random.default_rng(seed)
    values, gaps = random.normal(size=cells), random.normal(size=len(matrix))
    assert sums.matrix.toarray() == pytest.approx(matrix)
    assert sums.gaps(values) == pytest.approx(matrix @ values)
    assert sums.back(gaps) == pytest.approx(matrix.T @ gaps)


@given(links(), st.integers(0, 10**6), st.sampled_from([1, 2, 5, module.CHUNK]))
def test_the_diagonal_is_that_of_the_equations_weighted_by_cells(
    made: tuple[list[Link], int], seed: int, chunk: int
) -> None:
    given_links, cells = made
    matrix = dense(given_links, cells)
    weight = np.random.default_rng(seed).random(cells) * (np.arange(cells) % 3 > 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        found = margin_sums(given_links, cells).diagonal(weight)
    assert found == pytest.approx(np.diag(matrix @ np.diag(weight) @ matrix.T))


@given(links())
def test_an_only_child_is_named_with_its_parent(made: tuple[list[Link], int]) -> None:
    for link in made[0]:
        expected = {
            (link.coarse + parent, link.fine + int(children[0]))
            for parent in range(link.size)
            if len(children := np.flatnonzero(link.parent == parent)) == 1
        }
        above, below = link.only_children()
        assert set(zip(above.tolist(), below.tolist(), strict=True)) == expected
        assert link.children.tolist() == [int((link.parent == parent).sum()) for parent in range(link.size)]
        assert link.entries == link.size + len(link.parent)


def test_nothing_published_twice_has_no_equations() -> None:
    sums = margin_sums([], 3)
    assert sums.gaps(np.ones(3)).tolist() == []
    assert sums.back(np.zeros(0)).tolist() == [0, 0, 0]


def test_counts_of_a_programme_fit_its_equations_and_others_do_not() -> None:
    equations = MarginEquations(lattice(programme([("A", "B"), ("B", "C")], {"A": (2, 4), "B": (3,), "C": (2,)})))
    random = np.random.default_rng(1)
    # True counts of everything follow from those of the finest cross of all topics.
    finest = random.integers(0, 9, (4, 3, 2))
    values = np.zeros(equations.cells)
    for statistic in equations.statistics.tolist():
        depths = equations.lattice.depths[statistic].tolist()
        block = finest if depths[0] == 2 else finest.reshape(2, 2, 3, 2).sum(axis=1)
        summed = tuple(axis for axis, depth in enumerate(depths) if depth == 0)
        values[equations.cells_of(statistic)] = block.sum(axis=summed).ravel()
    assert equations.sums.gaps(values) == pytest.approx(0)
    for place in range(equations.cells):
        off = values.copy()
        off[place] += 1
        assert np.abs(equations.sums.gaps(off)).max() > 0.3
