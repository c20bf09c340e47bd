"""The largest struck area, against every possible outcome."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.paper.small_area_part import largest


def by_outcomes(sizes: list[int], chances: list[float], size: int) -> float:
    """Return the probability that the largest struck area has at least a size, by every outcome."""
    total = 0.0
    for outcome in product((False, True), repeat=len(sizes)):
        if any(struck and each >= size for struck, each in zip(outcome, sizes, strict=True)):
            total += float(np.prod([p if struck else 1 - p for struck, p in zip(outcome, chances, strict=True)]))
    return total


@given(
    st.lists(st.tuples(st.integers(1, 1000), st.floats(0.02, 0.98)), min_size=2, max_size=6, unique_by=lambda x: x[0])
)
def test_it_is_the_quantile_of_all_outcomes(areas: list[tuple[int, float]]) -> None:
    sizes, chances = [size for size, _ in areas], [chance for _, chance in areas]
    found = largest(np.array(sizes), np.array(chances))
    for share, quantile in ((0.5, found.median), (0.975, found.low), (0.025, found.high)):
        reached = {size: by_outcomes(sizes, chances, size) for size in sizes}
        fitting = [size for size, chance in reached.items() if chance >= share - 1e-12]
        assert quantile == (max(fitting) if fitting else min(sizes))


def test_the_order_of_areas_does_not_matter() -> None:
    random = np.random.default_rng(0)
    sizes, chances = random.integers(1, 500, 100), random.random(100) / 50
    place = random.permutation(100)
    assert largest(sizes, chances) == largest(sizes[place], chances[place])


def test_the_quantiles_are_in_order() -> None:
    found = largest(np.arange(1, 1001), np.exp(-0.02 * np.arange(1, 1001)))
    assert found.low < found.median < found.high


@pytest.mark.parametrize("certain", [0, 1])
def test_a_certain_one_is_the_largest_unless_a_larger_is_struck(certain: int) -> None:
    chances = np.array([0.0, 0.0])
    chances[certain] = 1.0
    assert largest(np.array([10, 20]), chances).median == (10, 20)[certain]
