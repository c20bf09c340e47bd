"""Differences, ratios, shares and means of published counts: against enumeration, and whether their intervals cover."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.noisy_counts import (
    CONFIDENCE,
    TAIL,
    NoisyCount,
    NoisyEstimate,
    count_difference,
    count_mean,
    count_ratio,
    count_share,
)
from discreet.errors import ParameterError
from discreet.noise.by_count import TransitionMatrix, transition_matrix
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.truncated import truncated_laplace_for
from tests.quick import rows_in

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[int, int, TransitionMatrix], NoisyEstimate]

CELL_KEY = transition_matrix(PTable.max_entropy(variance=2, bound=5))
NOISY_ZEROS = transition_matrix(truncated_laplace_for(0.5, 8e-3), zeros=True)
CUT_AT_ZERO = transition_matrix(truncated_laplace_for(0.5, 8e-3), zeros=True, non_negative=True)
WIDE = transition_matrix(DiscreteGaussian(sigma=6), zeros=True)
WIDER = transition_matrix(DiscreteGaussian(sigma=6 * math.sqrt(1.3)), zeros=True)
LAWS = {"cell key": CELL_KEY, "noisy zeros": NOISY_ZEROS, "cut at zero": CUT_AT_ZERO}
NONE = transition_matrix(None)

published = st.integers(0, 12)
laws = st.sampled_from(list(LAWS.values()))


def pairs(a: int, b: int, law: TransitionMatrix) -> list[tuple[int, int, float]]:
    """Return all pairs of true counts with their probabilities, by Bayes' formula one pair after the other."""
    first, second = (law.chance(np.arange(y + law.reach + 1), np.array(y)).tolist() for y in (a, b))
    found = [(n, m, p * q) for n, p in enumerate(first) for m, q in enumerate(second) if p * q > 0]
    total = sum(chance for _, _, chance in found)
    return [(n, m, chance / total) for n, m, chance in found]


def quantiles(values: dict[Fraction | float, float]) -> list[float]:
    """Return the lower end, the median and the upper end of a law."""
    total, reached, found = sum(values.values()), 0.0, []
    levels = [TAIL, 0.5 - 1e-10, 1 - TAIL - 1e-10]
    for value in sorted(values):
        reached += values[value] / total
        while levels and reached > levels[0] + 1e-11:
            found.append(float(value))
            levels.pop(0)
    return found


def test_a_law_can_be_given_as_it_is_and_counts_are_whole() -> None:
    table = PTable.max_entropy(variance=2, bound=5)
    for function in (count_difference, count_ratio, count_share):
        assert function(31, 24, table) == function(31, 24, transition_matrix(table))
        with pytest.raises(ParameterError, match="published"):
            function(3.5, 4, table)  # type: ignore[arg-type]  # what a user may do


def test_possible_true_counts_are_those_of_bayes_formula() -> None:
    count = NoisyCount(1, CELL_KEY)
    likelihood = {n: float(CELL_KEY.chance(np.array(n), np.array(1))) for n in range(7)}
    possible = {n: p for n, p in likelihood.items() if p > 0}
    assert count.counts.tolist() == list(possible)
    assert count.chances == pytest.approx([p / sum(possible.values()) for p in possible.values()])
    assert count.mean == pytest.approx(sum(n * p for n, p in possible.items()) / sum(possible.values()))
    variances = CELL_KEY.variance_of(count.counts)
    assert count.noise_variance == pytest.approx(float(variances @ count.chances)) != variances[0]
    assert count.empty == 0
    empty = NoisyCount(0, CELL_KEY)
    assert empty.empty == pytest.approx(1 / (1 + sum(float(CELL_KEY.laws[n][5 - n]) for n in range(1, 6))))


def test_far_from_0_the_possible_counts_mirror_the_law() -> None:
    count = NoisyCount(100, CELL_KEY)
    assert count.chances == pytest.approx(CELL_KEY.laws[-1][::-1])
    assert count.variance == pytest.approx(count.noise_variance) == pytest.approx(CELL_KEY.variance)


@given(published, published, laws)
def test_differences_are_those_of_enumeration(a: int, b: int, law: TransitionMatrix) -> None:
    values: dict[Fraction | float, float] = {}
    for n, m, chance in pairs(a, b, law):
        values[n - m] = values.get(n - m, 0.0) + chance
    found = count_difference(a, b, law)
    assert [found.lower, found.value, found.upper] == quantiles(values)
    turned = count_difference(b, a, law)
    assert (turned.standard_error, turned.upper) == pytest.approx((found.standard_error, -found.lower))


@given(published, published, laws)
def test_ratios_and_shares_are_those_of_enumeration(a: int, b: int, law: TransitionMatrix) -> None:
    ratios: dict[Fraction | float, float] = {}
    shares: dict[Fraction | float, float] = {}
    for n, m, chance in pairs(a, b, law):
        if n + m > 0:
            quotient, part = Fraction(n, m) if m else math.inf, Fraction(n, n + m)
            ratios[quotient] = ratios.get(quotient, 0.0) + chance
            shares[part] = shares.get(part, 0.0) + chance
    of_ratio, of_share = count_ratio(a, b, law), count_share(a, b, law)
    assert [of_ratio.lower, of_ratio.value, of_ratio.upper] == pytest.approx(quantiles(ratios))
    assert [of_share.lower, of_share.value, of_share.upper] == pytest.approx(quantiles(shares))
    weight = sum(shares.values())
    first = sum(float(part) * chance for part, chance in shares.items()) / weight
    spread = sum((float(part) - first) ** 2 * chance for part, chance in shares.items()) / weight
    assert of_share.standard_error == pytest.approx(math.sqrt(spread))
    if math.isfinite(of_ratio.upper):
        finite = {value: chance for value, chance in ratios.items() if value < math.inf}
        first = sum(float(value) * chance for value, chance in finite.items())
        second = sum(float(value) ** 2 * chance for value, chance in finite.items())
        # A zero denominator is left out, with whatever numerator, which is independent of it.
        weight = 1 - NoisyCount(b, law).empty
        assert of_ratio.standard_error == pytest.approx(math.sqrt(max(second / weight - (first / weight) ** 2, 0)))
    else:
        assert math.isinf(of_ratio.standard_error)


@given(st.integers(200, 5000), st.integers(200, 5000))
def test_for_large_counts_the_delta_method_agrees(a: int, b: int) -> None:
    of_ratio, of_share, apart = count_ratio(a, b, WIDE), count_share(a, b, WIDE), count_difference(a, b, WIDE)
    V, N = WIDE.variance, a + b  # noqa: N806 - the symbols of the formula
    assert apart.value == a - b
    assert apart.standard_error == pytest.approx(math.sqrt(2 * V))
    assert of_ratio.value == pytest.approx(a / b, rel=2e-3)
    assert of_ratio.standard_error == pytest.approx(math.sqrt(V + (a / b) ** 2 * V) / b, rel=1e-2)
    assert of_share.value == pytest.approx(a / N, rel=2e-3)
    assert of_share.standard_error == pytest.approx(math.sqrt(V * (a**2 + b**2)) / N**2, rel=1e-2)
    assert of_ratio.upper - of_ratio.lower == pytest.approx(2 * 1.96 * of_ratio.standard_error, rel=3e-2)


@cache
def interval(function: Function, a: int, b: int, law: TransitionMatrix) -> tuple[float, float]:
    found = function(a, b, law)
    return found.lower, found.upper


def covered(
    function: Function, true: float, counts: tuple[int, int], believed: TransitionMatrix, law: TransitionMatrix
) -> float:
    """Return the probability that the interval of two counts with noise of a law covers; rare noise is left out."""
    first, second = (
        [(y, p) for y, p in enumerate(law.chance(np.array(n), np.arange(n + law.reach + 1)).tolist()) if p > 1e-3]
        for n in counts
    )
    found, total = 0.0, 0.0
    for y, p in first:
        for z, q in second:
            lower, upper = interval(function, y, z, believed)
            found += p * q * (lower - 1e-12 <= true <= upper + 1e-12)
            total += p * q
    return found / total


@pytest.mark.parametrize(
    ("function", "true"),
    rows_in(3, [(count_difference, -20), (count_ratio, 40 / 60), (count_share, 0.4)]),
)
def test_intervals_cover_and_no_longer_when_the_noise_is_30_percent_larger(function: Function, true: float) -> None:
    # Whole numbers cover somewhat more than 95 percent; at this standard deviation not much more.
    law, larger = (transition_matrix(DiscreteGaussian(sigma=1.96 * math.sqrt(times)), zeros=True) for times in (1, 1.3))
    assert CONFIDENCE <= covered(function, true, (40, 60), law, law) < CONFIDENCE + 0.015
    assert covered(function, true, (40, 60), law, larger) < CONFIDENCE - 0.02


@pytest.mark.slow
def test_intervals_cover_in_a_simulation_over_many_true_counts() -> None:
    random = np.random.default_rng(7)
    true = random.integers(0, 20, (1200, 2))
    shown = CELL_KEY.publish(true, random)
    usable = (true.sum(axis=1) > 0) & (true[:, 1] > 0)
    hits = []
    for (n, m), (y, z) in zip(true[usable].tolist(), shown[usable].tolist(), strict=True):
        lower, upper = interval(count_ratio, y, z, CELL_KEY)
        hits.append(lower - 1e-12 <= n / m <= upper + 1e-12)
    assert np.mean(hits) > CONFIDENCE - 3 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / len(hits))


def test_single_small_counts_are_covered_less_often_but_not_much() -> None:
    coverage = {
        (n, m): covered(count_ratio, n / m, (n, m), CELL_KEY, CELL_KEY) for n in range(1, 8) for m in range(1, 8)
    }
    assert min(coverage.values()) > 0.9
    assert np.mean(list(coverage.values())) > CONFIDENCE


def test_a_denominator_that_may_be_0_leaves_the_ratio_unbounded() -> None:
    found = count_ratio(3, 0, CELL_KEY)
    assert (found.upper, found.standard_error) == (math.inf, math.inf)
    assert found.lower > 0
    assert str(found).endswith(f"95% interval from {found.lower:.4g} on, without an upper limit")
    assert str(found).startswith("unbounded, ")
    assert count_share(3, 0, CELL_KEY).upper == 1
    assert count_ratio(0, 9, CELL_KEY).lower == 0


def test_without_noise_figures_are_what_they_are() -> None:
    for found, value in (
        (count_difference(7, 3, NONE), 4),
        (count_ratio(7, 3, NONE), 7 / 3),
        (count_share(7, 3, NONE), 0.7),
    ):
        assert (found.lower, found.value, found.upper) == pytest.approx((value, value, value))
        assert found.standard_error == pytest.approx(0, abs=1e-7)
    assert str(count_ratio(7, 4, NONE)) == "1.75, 95% interval 1.75 to 1.75"
    assert count_ratio(7, 0, NONE).lower == math.inf


def test_wide_laws_take_no_long_time() -> None:
    law = transition_matrix(TwoSidedGeometric(epsilon=0.02), zeros=True)
    found = count_share(20_000, 60_000, law)
    assert found.lower < 0.25 < found.upper
    assert found.standard_error == pytest.approx(math.sqrt(law.variance * (0.75**2 + 0.25**2)) / 80_000, rel=1e-3)


def test_the_mean_of_a_hand_made_table() -> None:
    found = count_mean([10, 20, 40], [100, 200, 100], CELL_KEY)
    middle = (10 * 100 + 20 * 200 + 40 * 100) / 400
    apart = [10 - middle, 20 - middle, 40 - middle]
    V = CELL_KEY.variance  # noqa: N806 - the symbol of the formula
    assert found.value == middle
    assert found.noise_error == pytest.approx(math.sqrt(V * sum(x**2 for x in apart)) / 400)
    assert found.sampling_error == pytest.approx(
        math.sqrt(sum(x**2 * n for x, n in zip(apart, (100, 200, 100), strict=True))) / 400
    )
    assert found.standard_error == math.hypot(found.noise_error, found.sampling_error)
    assert found.bias == pytest.approx(-V * sum(apart) / 400**2)
    assert found.of_persons_counted.standard_error == found.noise_error
    wide, narrow = found.of_population, found.of_persons_counted
    assert wide.upper - wide.lower > narrow.upper - narrow.lower


def simulated_means(law: TransitionMatrix, *, tables: int) -> tuple[dict[str, float], float]:
    """Return how often intervals cover when persons are drawn and noise is added; and the mean error over all."""
    random = np.random.default_rng(11)
    values, means = np.arange(8.0) ** 2, np.array([9.0, 25, 40, 40, 30, 25, 12, 6])
    middle = float(values @ means / means.sum())
    hits = {"population": 0, "sampling alone": 0, "persons counted": 0, "noise alone, population": 0}
    errors = []
    for _ in range(tables):
        true = random.poisson(means)
        found = count_mean(values, law.publish(true, random), WIDE)
        counted = float(values @ true / true.sum())
        errors.append(found.value - counted)
        for name, interval_, target in (
            ("population", found.of_population, middle),
            ("persons counted", found.of_persons_counted, counted),
            ("noise alone, population", found.of_persons_counted, middle),
        ):
            hits[name] += interval_.lower <= target <= interval_.upper
        hits["sampling alone"] += abs(found.value - middle) <= 1.96 * found.sampling_error
    return {name: n / tables for name, n in hits.items()}, float(np.mean(errors))


@pytest.mark.slow
def test_means_cover_with_both_errors_and_not_with_one_or_with_more_noise() -> None:
    tables = 1000
    error = math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / tables)
    right, _ = simulated_means(WIDE, tables=tables)
    assert abs(right["population"] - CONFIDENCE) < 4 * error
    assert abs(right["persons counted"] - CONFIDENCE) < 4 * error
    assert right["sampling alone"] < CONFIDENCE - 10 * error
    assert right["noise alone, population"] < CONFIDENCE - 5 * error
    wrong, _ = simulated_means(WIDER, tables=tables)
    assert wrong["persons counted"] < CONFIDENCE - 4 * error


def test_the_bias_of_a_mean_is_that_of_a_simulation() -> None:
    values, true = np.array([0.0, 1, 10]), np.array([60, 60, 30])
    random = np.random.default_rng(2)
    shown = WIDE.publish(np.broadcast_to(true, (100_000, 3)), random)
    middle = values @ true / true.sum()
    # The part that is linear in the noise has mean 0; without it less is left to chance.
    linear = (shown - true) @ (values - middle) / true.sum()
    second_order = (shown @ values) / shown.sum(axis=1) - middle - linear
    expected = count_mean(values, true, WIDE).bias
    error = second_order.std() / math.sqrt(len(second_order))
    assert abs(second_order.mean() - expected) < 4 * error + 0.05 * abs(expected)
    assert abs(second_order.mean() - 1.3 * expected) > 4 * error + 0.05 * abs(expected)


def test_mistakes_are_refused() -> None:
    with pytest.raises(ParameterError, match="No true count is published as -3 under this noise distribution"):
        count_difference(-3, 4, CELL_KEY)
    with pytest.raises(ParameterError, match="Both counts are 0, so their ratio"):
        count_ratio(0, 0, NONE)
    with pytest.raises(ParameterError, match=r"Values have the shape \(2,\), counts \(3,\)"):
        count_mean([1, 2], [4, 5, 6], CELL_KEY)
    with pytest.raises(ParameterError, match="counts must be whole numbers"):
        count_mean([1, 2], [4.5, 5], CELL_KEY)
    with pytest.raises(ParameterError, match="The counts sum to 4 with typical noise of"):
        count_mean([1, 2], [2, 2], CELL_KEY)
    assert any("published as 0" in text for text in count_mean([1, 2], [90, 80], CUT_AT_ZERO).assumptions)
