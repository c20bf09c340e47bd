"""Pairs of true and published counts and how often they occur, against counting one by one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy import count_pairs as module
from discreet.accuracy.count_pairs import CountPairs, merged, pair_times, ranked
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.arrays import Ints

COUNTS = st.one_of(st.integers(0, 6), st.integers(0, 2**30))
PAIRS = st.lists(st.tuples(COUNTS, st.one_of(st.integers(-5, 9), st.integers(-(2**20), 2**30))), max_size=40)


def counted(found: CountPairs) -> Counter[tuple[int, int]]:
    listed = zip(found.true.tolist(), found.published.tolist(), strict=True)
    return Counter(dict(zip(listed, found.times.tolist(), strict=True)))


def of(cells: list[tuple[int, int]]) -> CountPairs:
    return pair_times([true for true, _ in cells], [shown for _, shown in cells])


def test_a_table_counted_by_hand() -> None:
    found = pair_times([[0, 0], [3, 3], [3, 0]], [[0, -1], [5, 5], [3, 0]])
    assert found.true.tolist() == [0, 0, 3, 3]
    assert found.published.tolist() == [-1, 0, 3, 5]
    assert found.times.tolist() == [1, 2, 1, 2]
    assert found.noise.tolist() == [-1, 0, 0, 2]
    assert (found.cells, len(found)) == (6, 4)
    assert counted(found.occupied) == {(3, 3): 1, (3, 5): 2}
    assert found.among(found.noise == 0) == 3


@given(PAIRS)
def test_every_pair_is_counted_and_in_order(cells: list[tuple[int, int]]) -> None:
    found = of(cells)
    assert counted(found) == Counter(cells)
    assert list(counted(found)) == sorted(set(cells))
    assert found.cells == len(cells)


@given(st.lists(PAIRS, max_size=5))
def test_parts_together_are_the_whole(parts: list[list[tuple[int, int]]]) -> None:
    together = [pair for part in parts for pair in part]
    found = merged(of(part) for part in parts)
    assert counted(found) == Counter(together)
    assert list(counted(found)) == sorted(set(together))


def test_a_pile_is_added_up_before_it_grows_too_high(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PILE", 3)
    parts = [[(n, n + 1), (0, 0)] for n in range(20)]
    assert counted(merged(map(of, parts))) == Counter(pair for part in parts for pair in part)


def many(random: np.random.Generator) -> tuple[Ints, Ints]:
    """Return more cells than are taken at a time, small and large ones."""
    cells = 2 * module.CELLS + 17
    true = np.floor((1 - random.random(cells)) ** -1.1).astype(np.int64).clip(max=10**9) - 1
    return true, true + random.integers(-4, 5, cells)


def test_many_cells_in_several_goes() -> None:
    true, published = many(np.random.default_rng(5))
    pairs, times = np.unique(np.stack([true, published]), axis=1, return_counts=True)
    found = pair_times(true, published)
    assert np.array_equal([found.true, found.published], pairs)
    assert np.array_equal(found.times, times)
    assert found.true.max() > module.TALLIED


def test_no_cells_are_no_pairs() -> None:
    assert (len(pair_times([], [])), len(merged([])), merged([]).cells) == (0, 0, 0)
    assert len(merged([pair_times([], [])])) == 0


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 5)), min_size=1, max_size=12),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
    st.lists(st.integers(-10, 10), min_size=1, max_size=4),
)
def test_ranks_are_those_of_every_value_written_out(
    values: list[tuple[int, int]], levels: list[float], limits: list[int]
) -> None:
    value, times = np.array(values).T
    every = np.repeat(value, times)
    found = ranked(value, times)
    assert found.quantiles(levels) == pytest.approx(np.quantile(every, levels), abs=1e-9)
    assert found.within(limits) == pytest.approx([(every <= limit).mean() for limit in limits])


@given(PAIRS)
def test_cells_by_noise_are_those_of_every_cell(cells: list[tuple[int, int]]) -> None:
    noise, times = of(cells).by_noise
    expected = Counter(shown - true for true, shown in cells)
    assert noise.tolist() == sorted(expected)
    assert dict(zip(noise.tolist(), times.tolist(), strict=True)) == expected


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"shape \(2,\), published counts the shape \(3,\).*with 0 for a cell without a row"
    ):
        pair_times([1, 2], [1, 2, 3])
    with pytest.raises(ParameterError, match="A true count is negative"):
        pair_times([-4], [1])
    with pytest.raises(ParameterError, match="published must be whole numbers"):
        pair_times([4], [1.5])
    for true, published in (([2**61, 5], [0, 5]), ([5], [-(2**63)]), ([2**63 - 1], [2**63 - 1])):
        with pytest.raises(ParameterError, match="too large to compare"):
            pair_times(true, published)


def test_large_counts_with_little_noise_are_fine() -> None:
    assert counted(pair_times([10**12, 10**12], [10**12 + 3, 10**12 - 3])) == {
        (10**12, 10**12 - 3): 1,
        (10**12, 10**12 + 3): 1,
    }
