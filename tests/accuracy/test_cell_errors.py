"""The three distances, by hand, against numpy on every cell, and with power against more noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.cell_errors import ABSOLUTE_CUTS, LEVELS, RELATIVE_CUTS, distances
from discreet.accuracy.count_pairs import pair_times
from discreet.errors import NothingToCountError
from discreet.noise.by_count import transition_matrix
from discreet.noise.max_entropy import MaxEntropy

# The example of cellKey's help page for ck_cnt_measures: 1 becomes 0, 5 becomes 6, 7 becomes 9.
CELLKEY_TRUE = [*range(1, 11), 0, 0]
CELLKEY_PUBLISHED = [0, 2, 3, 4, 6, 6, 9, 8, 9, 10, 0, 0]


def test_a_table_measured_by_hand() -> None:
    found = distances(pair_times([0, 0, 4, 4, 20], [0, 3, 1, 4, 21]))
    assert found.noise == {-3: 1, 0: 2, 1: 1, 3: 1}
    assert (found.absolute.cells, found.absolute.mean) == (3, (3 + 0 + 1) / 3)
    assert (found.absolute.median, found.absolute.largest) == (1, 3)
    assert found.relative.mean == pytest.approx((3 / 4 + 0 + 1 / 20) / 3)
    assert found.root.mean == pytest.approx((1 + 0 + math.sqrt(21) - math.sqrt(20)) / 3)
    assert found.absolute.within == {cut: (1 if cut == 0 else 2 if cut < 3 else 3) / 3 for cut in ABSOLUTE_CUTS}
    # 1 of 20 is just 5 percent: within the cut, not above it.
    assert [found.relative.within[cut] for cut in (0.02, 0.05, 0.5, 1)] == [1 / 3, 2 / 3, 2 / 3, 1]
    # From 4 to 1 the root falls by just 1.
    assert [found.root.within[cut] for cut in (0.5, 1)] == [2 / 3, 1]


def test_the_example_of_cellkey_without_its_fault() -> None:
    found = distances(pair_times(CELLKEY_TRUE, CELLKEY_PUBLISHED))
    # cellKey leaves out the 1 that became 0, and so reports means over nine cells and no relative error of 100 percent.
    assert found.absolute.cells == 10
    assert found.absolute.mean == (1 + 1 + 2) / 10
    assert found.relative.mean == pytest.approx((1 + 1 / 5 + 2 / 7) / 10)
    assert found.relative.largest == found.root.largest == 1
    every = distances(pair_times(CELLKEY_TRUE, CELLKEY_PUBLISHED), zeros=True)
    assert every.absolute.cells == every.root.cells == 12
    assert every.absolute.mean == 4 / 12
    assert every.relative == found.relative
    assert every.noise == found.noise == {-1: 1, 0: 9, 1: 1, 2: 1}


CELLS = st.lists(st.tuples(st.integers(0, 30), st.integers(-5, 40)), min_size=1, max_size=60)


@given(CELLS, st.booleans())
def test_distances_are_those_of_every_cell(cells: list[tuple[int, int]], zeros: bool) -> None:
    true, published = np.array([(7, 8), *cells]).T
    found = distances(pair_times(true, published), zeros=zeros)
    used = np.ones(len(true), dtype=bool) if zeros else true > 0
    some = true > 0
    expected = (
        (found.absolute, np.abs(published - true)[used], ABSOLUTE_CUTS),
        (found.relative, np.abs(published - true)[some] / true[some], RELATIVE_CUTS),
        (found.root, np.abs(np.sqrt(np.maximum(published, 0)) - np.sqrt(true))[used], RELATIVE_CUTS),
    )
    for distance, each, cuts in expected:
        assert distance.mean == pytest.approx(each.mean())
        assert list(distance.quantiles.values()) == pytest.approx(np.quantile(each, LEVELS), abs=1e-9)
        assert [distance.within[cut] for cut in cuts] == pytest.approx([(each <= cut).mean() for cut in cuts])
    assert found.negatives == (published[used] < 0).sum()


def sampled_mean(variance: float, count: int, cells: int) -> float:
    law = transition_matrix(MaxEntropy(variance=variance, bound=5))
    true = np.full(cells, count)
    return distances(pair_times(true, law.publish(true, np.random.default_rng(11)))).absolute.mean


def test_sampled_noise_has_the_mean_distance_of_its_law_and_larger_noise_has_not() -> None:
    law, noise, cells = MaxEntropy(variance=2, bound=5), np.arange(-5, 6), 20_000
    mean = float(np.abs(noise) @ law.pmf(noise))
    error = math.sqrt((2 - mean**2) / cells)
    assert abs(sampled_mean(2, 40, cells) - mean) < 4 * error
    assert abs(sampled_mean(2 * 1.3**2, 40, cells) - mean) > 4 * error


def test_sentences_say_what_was_left_out() -> None:
    cells = pair_times([0, 4, 4, 20], [-2, 1, 4, 21])
    absolute, largest, unchanged, relative, root = distances(cells).results()
    assert absolute.sentence == (
        f"The mean absolute error of 3 counts above 0 is {4 / 3:.2f}; the median is 1 and the 95% quantile "
        f"{1 + 0.9 * 2:g}."
    )
    assert largest.value == 3
    assert largest.sentence == "The largest absolute error of all cells, including empty cells, is 3."
    assert unchanged.value == pytest.approx(1 / 3)
    assert relative.value == pytest.approx((3 / 4 + 1 / 20) / 3)
    assert relative.sentence.endswith("66.7% of counts above 0 are within 10% of the true count and 66.7% within 50%.")
    assert "cells with a true count of 0 are excluded" in absolute.assumptions
    assert not any("negative" in each for each in root.assumptions)
    absolute, _, _, relative, root = distances(cells, zeros=True).results()
    # What happens to empty cells counts as well.
    assert distances(pair_times([5, 0, 0], [6, 12, -9])).largest == 12
    assert absolute.sentence.startswith("The mean absolute error of 4 counts is")
    assert "cells with a true count of 0 are included" in absolute.assumptions
    assert "cells with a true count of 0 are excluded" in relative.assumptions
    assert "1 negative published counts are set to 0 under the root" in root.assumptions


@pytest.mark.parametrize("zeros", [False, True])
def test_without_a_count_there_is_no_distance(zeros: bool) -> None:
    with pytest.raises(NothingToCountError, match=r"No cell has a true count above 0.*Check that"):
        distances(pair_times([0, 0], [0, 1]), zeros=zeros)
