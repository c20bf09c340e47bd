"""Grouped equations against the whole system, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.equations.grouped_equations import GroupedEquations, grouped
from discreet.equations.margin_equations import MarginEquations
from discreet.programme.axis import axis_of
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.lattice import lattice
from discreet.programme.model import Level
from tests.programme.small import with_universes
from tests.programme.test_lattice import programmes
from tests.quick import up_to

if TYPE_CHECKING:
    from discreet.programme.model import Programme


@given(programmes(largest=3, topics=3), st.booleans())
@settings(max_examples=up_to(25), deadline=None)
def test_alike_cells_have_the_variance_of_the_whole_system(made: Programme, spsn: bool) -> None:
    check(made, spsn)


@given(with_universes(universes=(None,), totals=True), st.booleans())
@settings(max_examples=up_to(25), deadline=None)
def test_unequal_blocks_too(made: Programme, spsn: bool) -> None:
    check(made, spsn)


def check(made: Programme, spsn: bool) -> None:
    found = lattice(made)
    whole, groups = MarginEquations(found, spsn), GroupedEquations(found, spsn)
    for place in np.flatnonzero(groups.members == 1).tolist()[:12]:
        statistic, cell = groups.cell(place)
        expected = pytest.approx(whole.variance_ratio(statistic, cell), rel=1e-9)
        assert groups.variance_ratio(place) == expected
        # Equations for this statistic alone are smaller, and its own cells stand in the same order.
        alone = GroupedEquations(found, spsn, target=statistic)
        number = int(np.searchsorted(groups.starts, place, side="right")) - 1
        shifted = place - int(groups.starts[number]) + int(alone.starts[number])
        assert alone.cells <= groups.cells
        assert alone.members[shifted] == 1
        assert alone.cell(shifted) == (statistic, cell)
        assert alone.variance_ratio(shifted) == expected
        assert groups.terms[place] == whole.terms[whole.place(statistic, cell)]
    assert groups.members.sum() == whole.cells


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.lists(st.integers(1, 3), min_size=10, max_size=40))
def test_every_category_is_like_a_representative(first: list[int], more: list[int]) -> None:
    lines = [(f"a{n}", "") for n in range(len(first))]
    lines += [(f"a{n}.{k}", f"a{n}") for n, size in enumerate(first) for k in range(size)]
    middle = [code for code, above in lines if above]
    lines += [(f"{code}.{k}", code) for code, size in zip(middle, more, strict=False) for k in range(size)]
    tree = CategoryTree("A", tuple(Category(*line) for line in lines))
    cuts = [tree.cut(depth) for depth in range(1, tree.depth + 1)]
    levels = [Level("A", str(number), len(codes), codes) for number, codes in enumerate(cuts)]
    axis = axis_of("A", levels, tree, keep_single=True)
    found = grouped(axis)
    for depth, codes in enumerate(cuts, start=1):
        members, ups = found.members[depth], found.ups[depth]
        assert members.sum() == len(codes)
        # A group has equally many members in every member of the group above it.
        assert (members % found.members[depth - 1][ups] == 0).all()
