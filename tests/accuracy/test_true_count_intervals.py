"""Intervals around published counts, against the beliefs written out and against sampled tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.count_pairs import pair_times
from discreet.accuracy.true_count_intervals import (
    FLAT,
    certain_intervals,
    coverage,
    interval_result,
    likely_intervals,
    small_counts,
)
from discreet.errors import NothingToCountError, ParameterError
from discreet.noise.by_count import TransitionMatrix, transition_matrix
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable

if TYPE_CHECKING:
    from discreet.arrays import Ints

TABLE = PTable.max_entropy(variance=2, bound=5)
TURNS = TransitionMatrix(
    (np.array([0, 1, 0.0]), np.array([0.3, 0.6, 0.1]), np.array([0.1, 0.1, 0.8]), np.array([0.5, 0, 0.5])),
    variance=1.0,
    bound=1.0,
    repeat=2,
)
LAWS = {
    "p-table": transition_matrix(TABLE),
    "noisy zeros": transition_matrix(MaxEntropy(variance=3, bound=4), zeros=True),
    "never negative": transition_matrix(MaxEntropy(variance=3, bound=4), zeros=True, non_negative=True),
    "geometric": transition_matrix(TwoSidedGeometric(epsilon=1.2), zeros=True),
    "geometric, zeros fixed": transition_matrix(TwoSidedGeometric(epsilon=1.2)),
    "turns": TURNS,
    "none": transition_matrix(None),
}
MOST = 90
"""True counts that are tried one by one."""


def beliefs(law: TransitionMatrix, published: int) -> list[float]:
    """Return P(n | y) of n = 0 .. MOST, from the law row by row."""
    chances = []
    for n in range(MOST + 1):
        row = law.laws[int(law.rows(np.array(n)))]
        reached = [n + x - law.reach for x in range(len(row))]
        shown = [max(y, 0) for y in reached] if law.non_negative else reached
        chances.append(math.fsum(p for y, p in zip(shown, row.tolist(), strict=True) if y == published))
    total = math.fsum(chances)
    return [chance / total for chance in chances] if total else []


def tried(belief: list[float], level: float) -> tuple[int, int]:
    """Return the largest count below which, and the smallest above which, little enough is believed in."""
    outside = (1 - level) / 2 + 1e-12
    low = max(n for n in range(MOST + 1) if math.fsum(belief[:n]) <= outside)
    high = min(n for n in range(MOST + 1) if math.fsum(belief[n + 1 :]) <= outside)
    return low, high


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_likely_intervals_leave_out_as_little_on_either_side(name: str, level: float) -> None:
    law = LAWS[name]
    lowest = -12 if math.isinf(law.bound) else -5
    found = {y: belief for y in range(lowest, 20) if (belief := beliefs(law, y))}
    made = likely_intervals(law, list(found), level)
    expected = [tried(belief, level) for belief in found.values()]
    assert list(zip(made.lower.tolist(), made.upper.tolist(), strict=True)) == expected


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if math.isfinite(law.bound)])
def test_certain_intervals_hold_all_that_is_possible(name: str) -> None:
    law = LAWS[name]
    found = {y: belief for y in range(-5, 20) if (belief := beliefs(law, y))}
    made = certain_intervals(law, list(found))
    assert made is not None
    able = [[n for n, chance in enumerate(belief) if chance > 0] for belief in found.values()]
    assert made.lower.tolist() == [counts[0] for counts in able]
    assert made.upper.tolist() == [counts[-1] for counts in able]


def test_a_law_by_hand() -> None:
    # Zeros stay; a 1 is published as 0 or 2, half and half; larger counts stay.
    law = TransitionMatrix(
        (np.array([0, 1, 0.0]), np.array([0.5, 0, 0.5]), np.array([0, 1, 0.0])), variance=0.0, bound=1.0
    )
    # A published 0: true 0 with 1 / 1.5, true 1 with 0.5 / 1.5. A published 2: the same for 2 and 1.
    one = likely_intervals(law, [0, 2, 3], 0.3)
    assert (one.lower.tolist(), one.upper.tolist()) == ([0, 2, 3], [0, 2, 3])
    both = likely_intervals(law, [0, 2, 3], 0.7)
    assert (both.lower.tolist(), both.upper.tolist()) == ([0, 1, 3], [1, 2, 3])
    assert both.width.tolist() == [1, 1, 0]
    assert beliefs(law, 0)[:2] == pytest.approx([1 / 1.5, 0.5 / 1.5])


def test_a_law_without_bound_has_no_certain_interval() -> None:
    assert certain_intervals(LAWS["geometric"], [3]) is None
    assert interval_result(LAWS["geometric"], 3).sentence.endswith("(flat prior). Every true count is possible.")


def test_far_below_zero_a_law_without_memory_says_the_same() -> None:
    made = likely_intervals(LAWS["geometric"], [-1000, -30, -5, 0])
    q = math.exp(-1.2)
    # P(n | y) = (1 - q) q^n for every y of 0 or less.
    upper = math.ceil(math.log(0.025) / math.log(q)) - 1
    assert (made.lower.tolist(), made.upper.tolist()) == ([0] * 4, [upper] * 4)
    gaussian = likely_intervals(transition_matrix(DiscreteGaussian(sigma=3), zeros=True), [-1000, -15])
    assert gaussian.lower.tolist() == [0, 0]
    assert gaussian.upper[0] <= gaussian.upper[1]


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if law.repeat == 1])
def test_small_counts_end_where_intervals_go_on_alike(name: str) -> None:
    law = LAWS[name]
    found = small_counts(law)
    further = found.published[-1] + np.arange(60)
    made = likely_intervals(law, further)
    assert np.array_equal(made.lower, found.lower[-1] + np.arange(60))
    assert np.array_equal(made.upper, found.upper[-1] + np.arange(60))
    same = likely_intervals(law, found.published)
    assert np.array_equal([same.lower, same.upper], [found.lower, found.upper])
    if len(found.published) > 1:
        steps = found.lower[-1] - found.lower[-2], found.upper[-1] - found.upper[-2]
        assert steps != (1, 1)


def test_small_counts_start_with_the_smallest_that_is_published() -> None:
    assert small_counts(LAWS["p-table"]).published[0] == 0
    assert small_counts(LAWS["noisy zeros"]).published[0] == -4
    assert small_counts(LAWS["never negative"]).published[0] == 0
    assert small_counts(LAWS["none"]).published.tolist() == [0]
    turns = small_counts(TURNS)
    later = likely_intervals(TURNS, turns.published[-2:] + 10)
    assert np.array_equal(later.lower, turns.lower[-2:] + 10)


@given(st.floats(0.05, 0.98), st.floats(0.01, 0.9), st.integers(-2, 40))
def test_a_higher_level_is_never_narrower(level: float, more: float, published: int) -> None:
    law = LAWS["geometric"]
    higher = level + (0.99 - level) * more
    one, other = likely_intervals(law, published, level), likely_intervals(law, published, higher)
    assert one.width <= other.width
    assert other.lower >= 0


def uniform(law: TransitionMatrix, most: int, cells: int, *, seed: int) -> tuple[Ints, Ints]:
    """Return true counts, all from 0 to most equally likely, and published ones that are away from the upper edge."""
    random = np.random.default_rng(seed)
    true = random.integers(0, most + 1, cells)
    published = law.publish(true, random)
    away = published <= most - law.reach
    return true[away], published[away]


def held(true: Ints, published: Ints, law: TransitionMatrix, level: float) -> float:
    made = likely_intervals(law, published, level)
    return float(((made.lower <= true) & (true <= made.upper)).mean())


@pytest.mark.parametrize("zeros", [False, True])
def test_coverage_is_at_least_the_level_and_falls_below_with_larger_noise(zeros: bool) -> None:
    level, cells, epsilon = 0.9, 40_000, 0.25
    law = transition_matrix(TwoSidedGeometric(epsilon=epsilon), zeros=zeros)
    error = math.sqrt(level * (1 - level) / cells)
    assert held(*uniform(law, 400, cells, seed=1), law, level) > level - 3 * error
    larger = transition_matrix(TwoSidedGeometric(epsilon=epsilon / 1.3), zeros=zeros)
    assert held(*uniform(larger, 400, cells, seed=1), law, level) < level - 4 * error


def test_sampled_coverage_is_the_belief_in_the_interval() -> None:
    law, cells = LAWS["p-table"], 40_000
    true, published = uniform(law, 30, cells, seed=2)
    made = likely_intervals(law, published)
    belief = {y: beliefs(law, y) for y in np.unique(published).tolist()}
    chance = np.array(
        [
            math.fsum(belief[y][low : high + 1])
            for y, low, high in zip(published.tolist(), made.lower.tolist(), made.upper.tolist(), strict=True)
        ]
    )
    error = math.sqrt(float((chance * (1 - chance)).sum())) / len(true)
    assert chance.min() >= 0.95
    assert abs(held(true, published, law, 0.95) - chance.mean()) < 4 * error
    # A p-table of a larger variance but the same bound: its counts are possible under the law that is believed.
    larger = transition_matrix(PTable.max_entropy(variance=2 * 1.3**2, bound=5))
    assert abs(held(*uniform(larger, 30, cells, seed=2), law, 0.95) - chance.mean()) > 4 * error


def test_coverage_counts_cells_with_somebody() -> None:
    law = transition_matrix(TABLE)
    inside = likely_intervals(law, 40)
    true = [int(inside.lower), int(inside.upper), int(inside.upper) + 1, 0, 0]
    found = coverage(pair_times(true, [40, 40, 40, 0, 0]), law)
    assert (found.cells, found.held, found.width) == (3, 2 / 3, float(inside.width))
    share, width = found.results()
    assert share.sentence == (
        "Intervals with a nominal level of 0.95 contain the true count for 66.7% of 3 counts above 0."
    )
    assert width.value == found.width
    assert share.assumptions[0].startswith(FLAT)


def test_what_a_published_count_stands_for() -> None:
    law = transition_matrix(PTable.max_entropy(variance=3, bound=5))
    result = interval_result(law, 12)
    assert result.sentence == (
        "A published 12 has a true count of 9 to 15 persons with probability at least 0.95 (flat prior). "
        "The true count is certainly between 7 and 17."
    )
    assert (result.value, result.name) == (6, "interval_of_12")
    assert FLAT in result.assumptions
    # A p-table or a law can be given as it is.
    assert interval_result(PTable.max_entropy(variance=3, bound=5), 12) == result
    assert interval_result(law, 0, 0.99).sentence.startswith("A published 0 has a true count of 0 to ")
    assert interval_result(law, 0, 0.99).sentence.endswith("(flat prior). The true count is certainly at most 5.")
    assert interval_result(transition_matrix(None), 1).sentence.startswith(
        "A published 1 has a true count of 1 person with"
    )


def test_arrays_of_any_shape_are_answered() -> None:
    law = transition_matrix(TABLE)
    published = np.array([[0, 3], [700, 3]])
    made = likely_intervals(law, published)
    assert made.lower.shape == made.upper.shape == (2, 2)
    assert made.lower[0, 1] == made.lower[1, 1]
    assert len(likely_intervals(law, []).lower) == 0


def test_mistakes_are_said() -> None:
    law = transition_matrix(TABLE)
    with pytest.raises(ParameterError, match=r"A count of -1 cannot be published under this noise.*Check that"):
        likely_intervals(law, [3, -1])
    with pytest.raises(ParameterError, match="A count of -1 cannot be published"):
        certain_intervals(law, [-1])
    with pytest.raises(ParameterError, match="A count of -2 cannot be published"):
        likely_intervals(transition_matrix(TwoSidedGeometric(epsilon=1), zeros=True, non_negative=True), [-2])
    for level in (0, 1, 1.5):
        with pytest.raises(ParameterError, match=f"level must be above 0 and below 1, not {level}"):
            likely_intervals(law, [3], level)
    with pytest.raises(NothingToCountError, match="No cell has a true count above 0"):
        coverage(pair_times([0], [0]), law)
