"""The epsilon that keeps many counts within a bound, against published values and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.expected_accuracy import chance_within, epsilon_needed, exact_epsilon_needed
from discreet.errors import ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.uniform import Uniform


def all_within(epsilon: float, bound: int, counts: int) -> float:
    inside = TwoSidedGeometric(epsilon=epsilon).pmf(np.arange(-bound, bound + 1)).sum()
    return float(inside) ** counts


@pytest.mark.parametrize(("counts", "published"), [(68, 0.27), (37_000, 0.58)])
def test_values_of_the_paper(counts: int, published: float) -> None:
    """Bach, heuristic utility constraint: Malta and France, E = 20, confidence 68 percent."""
    assert round(epsilon_needed(20, counts), 2) == published
    assert epsilon_needed(20, counts, 0.68) == pytest.approx(math.log(counts / 0.32) / 20)


@given(st.integers(0, 60), st.integers(1, 10**5), st.floats(0.05, 0.99))
def test_the_exact_epsilon_just_keeps_the_confidence(bound: int, counts: int, confidence: float) -> None:
    bound = max(bound, 1)
    epsilon = exact_epsilon_needed(bound, counts, confidence)
    assert all_within(epsilon * 1.0001, bound, counts) >= confidence
    assert all_within(epsilon * 0.999, bound, counts) < confidence
    assert epsilon < epsilon_needed(bound, counts, confidence)


def test_any_law_against_brute_force() -> None:
    law = transition_matrix(Uniform(bound=3))
    assert chance_within(law, np.array([0, 5, 9]), 2) == pytest.approx((5 / 7) ** 2)
    assert chance_within(law, np.array([0, 5, 9]), 3) == 1
    table = transition_matrix(PTable.max_entropy(variance=2, bound=5))
    counts, inside = np.array([1, 1, 3, 80]), 1.0
    for n in counts.tolist():
        inside *= table.chance(np.full(7, n), n + np.arange(-3, 4)).sum()
    assert chance_within(table, counts, 3) == pytest.approx(inside)


def test_the_geometric_law_keeps_the_confidence_it_was_asked_for() -> None:
    epsilon, counts = exact_epsilon_needed(20, 68), np.full(68, 1000)
    law = transition_matrix(TwoSidedGeometric(epsilon=epsilon))
    assert chance_within(law, counts, 20) == pytest.approx(0.68, abs=1e-6)
    random, times = np.random.default_rng(3), 4000
    error = math.sqrt(0.68 * 0.32 / times)

    def kept(rate: float) -> float:
        noisy = transition_matrix(TwoSidedGeometric(epsilon=rate))
        drawn = [np.abs(noisy.publish(counts, random) - counts).max() <= 20 for _ in range(times)]
        return float(np.mean(drawn))

    assert abs(kept(epsilon) - 0.68) < 4 * error
    assert abs(kept(epsilon / 1.3) - 0.68) > 10 * error


@pytest.mark.parametrize(
    ("bound", "counts", "confidence", "message"),
    [
        (0, 68, 0.68, "bound must be a positive number, not 0. Typical values: 5 to 20"),
        (20, 0, 0.68, "counts must be a whole number of 1 or more, not 0"),
        (20, 68, 1.0, "confidence must be above 0 and below 1, not 1.0"),
        (20, 68, math.nan, "confidence must be above 0 and below 1"),
    ],
)
def test_what_is_refused(bound: float, counts: int, confidence: float, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        epsilon_needed(bound, counts, confidence)


def test_a_negative_bound_is_refused() -> None:
    with pytest.raises(ParameterError, match="bound must be zero or a positive whole number, not -1"):
        chance_within(transition_matrix(Uniform(bound=3)), np.array([1]), -1)
