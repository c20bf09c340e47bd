"""What noise does by size of the count, by hand, against numpy on every cell, and against the law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.cell_errors import QUANTILES, STARTS, THRESHOLDS, SizeClass, by_size
from discreet.accuracy.count_pairs import pair_times
from discreet.errors import NothingToCountError
from discreet.noise.by_count import transition_matrix
from discreet.noise.max_entropy import MaxEntropy


def test_a_table_divided_by_hand() -> None:
    first, second = by_size(pair_times([0, 0, 10, 10, 10, 10, 2], [0, 0, 12, 13, 10, 4, 4])).classes
    assert (first.low, first.high, first.cells, first.unchanged) == (1, 2, 1, 0)
    assert (first.deviation, first.noise, first.relative) == (0, (2, 2, 2), (1, 1, 1))
    # An error of just 100 or just 20 percent is not above it.
    assert first.above == {20: 1, 50: 1, 100: 0}
    assert (second.low, second.high, second.cells, second.unchanged) == (10, 49, 4, 1 / 4)
    assert second.above == {20: 2 / 4, 50: 1 / 4, 100: 0}
    mean = (2 + 3 + 0 - 6) / 4
    assert second.deviation == pytest.approx(math.sqrt((4 + 9 + 0 + 36) / 4 - mean**2))
    assert second.noise == pytest.approx(np.quantile([2, 3, 0, -6], QUANTILES))
    assert second.relative == pytest.approx(np.quantile([0.2, 0.3, 0, -0.6], QUANTILES))


def test_empty_cells_are_a_class_only_where_their_count_changes() -> None:
    zero, one = by_size(pair_times([0, 0, 0, 0, 1], [0, 0, 1, -1, 1])).classes
    assert zero == SizeClass(0, 0, 4, math.sqrt(2 / 4), 1 / 2, zero.noise, (), {})
    assert one.low == 1
    assert [each.low for each in by_size(pair_times([0, 1], [0, 1])).classes] == [1]
    assert by_size(pair_times([0, 0], [0, 2])).classes[0].cells == 2


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(-60, 60)), min_size=1, max_size=80))
def test_classes_are_those_of_every_cell(cells: list[tuple[int, int]]) -> None:
    true, noise = np.array([(1, 0), *cells]).T
    found = by_size(pair_times(true, true + noise)).classes
    ends = dict(zip((0, *STARTS), (0, *(start - 1 for start in STARTS[1:]), 10**9), strict=True))
    assert sum(each.cells for each in found) == len(true) - (0 if found[0].low == 0 else (true == 0).sum())
    for each in found:
        inside = (true >= each.low) & (true <= ends[each.low])
        assert each.cells == inside.sum() > 0
        assert each.deviation == pytest.approx(noise[inside].std(), abs=1e-9)
        assert each.unchanged == (noise[inside] == 0).mean()
        assert each.noise == pytest.approx(np.quantile(noise[inside], QUANTILES), abs=1e-9)
        if each.low:
            error = noise[inside] / true[inside]
            assert each.relative == pytest.approx(np.quantile(error, QUANTILES), abs=1e-9)
            assert list(each.above.values()) == [(np.abs(error) > p / 100).mean() for p in THRESHOLDS]


def sampled(variance: float, count: int, cells: int) -> SizeClass:
    true = np.full(cells, count)
    published = transition_matrix(MaxEntropy(variance=variance, bound=5)).publish(true, np.random.default_rng(4))
    return by_size(pair_times(true, published)).classes[0]


def test_sampled_errors_are_as_frequent_as_the_law_says_and_not_with_larger_noise() -> None:
    law, noise, count, cells = MaxEntropy(variance=2, bound=5), np.arange(-5, 6), 12, 20_000
    chance = float(law.pmf(noise[np.abs(noise) > 0.2 * count]).sum())
    error = math.sqrt(chance * (1 - chance) / cells)
    assert abs(sampled(2, count, cells).above[20] - chance) < 4 * error
    assert abs(sampled(2 * 1.3**2, count, cells).above[20] - chance) > 4 * error
    kurtosis = float(noise**4 @ law.pmf(noise))
    spread = math.sqrt((kurtosis - 4) / cells)
    assert abs(sampled(2, count, cells).deviation ** 2 - 2) < 4 * spread
    assert abs(sampled(2 * 1.3**2, count, cells).deviation ** 2 - 2) > 4 * spread


def test_sentences_carry_the_numbers_of_their_class() -> None:
    results = by_size(pair_times([0, 0, 4, 4, 4, 4, 900], [0, 1, 4, 4, 7, 4, 900])).results()
    assert [each.name for each in results] == ["size_0", "size_3_to_9", "size_250_or_more"]
    zero, small, large = results
    assert zero.sentence == (
        f"Empty cells (2 cells): 50.0% are unchanged; 90% have noise from {0.05:+g} to {0.95:+g}; "
        f"standard deviation {1 / 2:.2f}."
    )
    assert zero.value == 1 / 2
    assert small.value == 1 / 4
    assert small.sentence == (
        f"Counts of 3 to 9 (4 cells): 75.0% are unchanged; 90% have noise from 0 to {0.85 * 3:+g}; "
        f"standard deviation {math.sqrt(9 / 4 - 9 / 16):.2f}; the relative error exceeds 20% in 25.0%, "
        "50% in 25.0%, 100% in 0.0% of the cells."
    )
    assert large.sentence.startswith("Counts of 250 or more (1 cell): 100.0%")


def test_nothing_to_divide_is_refused() -> None:
    with pytest.raises(NothingToCountError, match="errors by size are undefined"):
        by_size(pair_times([0, 0], [0, 0]))
