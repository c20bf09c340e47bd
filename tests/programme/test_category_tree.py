"""Category trees: cuts, paths, and what is refused."""

from __future__ import annotations

import pytest

from discreet.errors import ProgrammeError
from discreet.programme.category_tree import Category, CategoryTree
from tests.each import each


def tree(*lines: tuple[str, str]) -> CategoryTree:
    return CategoryTree("T", tuple(Category(code, parent) for code, parent in lines))


AGES = tree(("Y", ""), ("O", ""), ("Y1", "Y"), ("Y2", "Y"), ("Y21", "Y2"), ("Y22", "Y2"))


def test_cuts_are_partitions_with_leaves_that_end_above() -> None:
    assert AGES.depth == 3
    assert [AGES.cut(depth) for depth in (1, 2, 3)] == [("Y", "O"), ("Y1", "Y2", "O"), ("Y1", "Y21", "Y22", "O")]
    assert set(AGES.leaves) == set(AGES.cut(3))
    assert AGES.path("Y22") == ("Y", "Y2", "Y22")


def test_above_says_which_category_contains_which() -> None:
    assert AGES.above(AGES.cut(1), AGES.cut(3)) == [0, 0, 0, 1]
    assert AGES.above(AGES.cut(3), AGES.cut(1)) is None


@each(
    ("lines", "message"),
    [
        ([], "has no categories"),
        ([("A", ""), ("A", "")], "category 'A' is given twice"),
        ([("A", ""), ("B", ""), ("C", "A"), ("C", "B")], "category 'C' has two parents, A and B"),
        ([("A", ""), ("B", "AA")], r"parent 'AA', which does not exist. Did you mean A\? Add it"),
        ([("A", "B"), ("B", "A")], "form a cycle, A -> B -> A"),
        ([("R", ""), ("A", "C"), ("B", "A"), ("C", "B")], "cycle"),
        ([("A", "A")], "cycle, A -> A"),
    ],
)
def test_trees_that_are_none_are_refused(lines: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(ProgrammeError, match=message):
        tree(*lines)
