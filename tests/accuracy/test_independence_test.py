"""The test of independence with and without noise, against brute force, scipy and its own simulated law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chi2, chi2_contingency

from discreet.accuracy.independence_test import (
    bootstrapped,
    independence,
    noise_aware,
    noise_aware_statistics,
    pearson,
    pearson_statistics,
    two_way,
)
from discreet.errors import ParameterError
from discreet.noise.by_count import transition_matrix
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.truncated import truncated_laplace_for

CELL_KEY = transition_matrix(PTable.max_entropy(variance=2, bound=5))
NOISY_ZEROS = transition_matrix(truncated_laplace_for(0.5, 8e-3), zeros=True)
CUT_AT_ZERO = transition_matrix(truncated_laplace_for(0.5, 8e-3), zeros=True, non_negative=True)
# Rounding to base 3 at random: the laws of 0, 1 and 2 take turns.
ROUNDING = transition_matrix(
    PTable(
        (
            PTableRow(0, (0,), (1.0,)),
            PTableRow(1, (-1, 2), (2 / 3, 1 / 3)),
            PTableRow(2, (-2, 1), (1 / 3, 2 / 3)),
        ),
        key_space=3,
        repeat=3,
    )
)
LAWS = {"cell key": CELL_KEY, "noisy zeros": NOISY_ZEROS, "cut at zero": CUT_AT_ZERO, "rounding": ROUNDING}
TABLE = [[12, 20, 9], [31, 25, 40]]

tables = st.lists(st.lists(st.integers(0, 60), min_size=3, max_size=3), min_size=2, max_size=5)


def has_persons_everywhere(table: list[list[int]]) -> bool:
    counts = np.array(table)
    return bool((counts.sum(axis=0) > 0).all() and (counts.sum(axis=1) > 0).all())


def test_pearson_of_a_two_by_two_table_is_the_closed_formula() -> None:
    a, b, c, d = 10, 20, 30, 40
    test = pearson([[a, b], [c, d]])
    closed = (a + b + c + d) * (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))
    assert test.statistic == pytest.approx(closed)
    assert (test.degrees, test.left_out) == (1, 0)
    assert test.p_value == pytest.approx(math.erfc(math.sqrt(closed / 2)))


@given(tables.filter(has_persons_everywhere))
def test_pearson_is_that_of_scipy_and_the_aware_test_without_noise_is_pearson(table: list[list[int]]) -> None:
    statistic, p_value, degrees, _ = chi2_contingency(table, correction=False)
    for test in (pearson(table), noise_aware(table, transition_matrix(None))):
        assert test.statistic == pytest.approx(statistic, abs=1e-6)
        assert test.degrees == degrees
        assert test.p_value == pytest.approx(p_value, abs=1e-6)


@given(tables.filter(has_persons_everywhere), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_their_exchange_with_columns_do_not_matter(table: list[list[int]], shuffler) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - hypothesis gives it
    shuffled = list(table)
    shuffler.shuffle(shuffled)
    counts = np.array([table, shuffled])
    first, second = noise_aware_statistics(counts, CELL_KEY).statistic
    (turned,) = noise_aware_statistics(counts[:1].transpose(0, 2, 1), CELL_KEY).statistic
    assert second == pytest.approx(first, abs=1e-5)
    assert turned == pytest.approx(first, abs=1e-5)


def test_empty_rows_and_columns_are_left_out() -> None:
    full = [[12, 0, 20, 9], [0, 0, 0, 0], [31, 0, 25, 40]]
    for with_empty, without in (
        (pearson(full), pearson(TABLE)),
        (noise_aware(full, CELL_KEY), noise_aware(TABLE, CELL_KEY)),
    ):
        assert with_empty.statistic == pytest.approx(without.statistic)
        assert (with_empty.degrees, with_empty.left_out) == (without.degrees, 2)
        assert "Excluded rows and columns with a sum of 0 or less: 2." in with_empty.result().sentence
        assert "left out" not in without.result().sentence


def test_negative_counts_are_0_for_the_naive_test_and_themselves_for_the_aware_one() -> None:
    signed, cut = [[-2, 20, 9], [31, 25, 40]], [[0, 20, 9], [31, 25, 40]]
    assert pearson(signed).statistic == pearson(cut).statistic
    assert "negative counts set to 0: 1" in pearson(signed).assumptions
    assert noise_aware(signed, NOISY_ZEROS).statistic > noise_aware(cut, NOISY_ZEROS).statistic


def test_the_fit_solves_its_equations_and_is_close_to_the_smallest_statistic() -> None:
    counts = np.array(TABLE)
    found = noise_aware_statistics(counts[None], NOISY_ZEROS)
    means, noise = found.means[0], NOISY_ZEROS.variance
    pull = means * (counts - means) / (means + noise)
    assert pull.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-5)
    assert pull.sum(axis=1) == pytest.approx(np.zeros(2), abs=1e-5)
    assert means[0, 0] * means[1, 2] == pytest.approx(means[0, 2] * means[1, 0])

    def statistic(logs: np.ndarray) -> float:
        model = np.exp(logs[:2, None] + logs[None, 2:])
        return float(((counts - model) ** 2 / (model + noise)).sum())

    smallest = minimize(statistic, np.full(5, 1.6), tol=1e-10).fun
    assert smallest <= found.statistic[0] <= smallest * 1.03


def test_noise_makes_the_same_table_less_surprising() -> None:
    naive, aware = pearson(TABLE), noise_aware(TABLE, NOISY_ZEROS)
    assert aware.p_value > naive.p_value
    assert aware.degrees == naive.degrees == 2


def test_many_tables_at_once_are_each_for_itself() -> None:
    random = np.random.default_rng(3)
    drawn = CUT_AT_ZERO.publish(random.poisson(3.0, (40, 3, 4)), random)
    together = noise_aware_statistics(drawn, CUT_AT_ZERO)
    alone = [noise_aware_statistics(table[None], CUT_AT_ZERO).statistic[0] for table in drawn]
    assert together.statistic == pytest.approx(np.array(alone))


def test_the_statistic_has_the_chi_square_law_and_not_when_the_noise_is_30_percent_larger() -> None:
    random = np.random.default_rng(5)
    true = random.poisson(30.0, (4000, 3, 4))

    def too_large(sigma: float) -> float:
        """Return the mean of the statistic in its standard errors from the degrees of freedom."""
        published = transition_matrix(DiscreteGaussian(sigma=sigma), zeros=True).publish(true, random)
        statistic = noise_aware_statistics(
            published, transition_matrix(DiscreteGaussian(sigma=5), zeros=True)
        ).statistic
        return float((statistic.mean() - 6) / math.sqrt(2 * 6 / len(true)))

    assert abs(too_large(5)) < 4
    assert too_large(5 * math.sqrt(1.3)) > 8


def test_the_bootstrap_agrees_with_the_chi_square_law_where_counts_are_large() -> None:
    table = [[120, 150, 131], [104, 140, 160]]
    test, bootstrap = noise_aware(table, CELL_KEY), bootstrapped(table, CELL_KEY, seed=1, tables=1999)
    assert 0.01 < test.p_value < 0.5
    assert bootstrap.statistic == test.statistic
    assert bootstrap.p_value == pytest.approx(test.p_value, abs=4 * math.sqrt(test.p_value / 2000))
    assert bootstrap == bootstrapped(table, CELL_KEY, seed=1, tables=1999)


@pytest.mark.slow
def test_the_bootstrap_keeps_its_level_where_counts_are_small() -> None:
    random = np.random.default_rng(8)
    drawn = CELL_KEY.publish(random.poisson(1.5, (200, 3, 3)), random)
    usable = drawn[noise_aware_statistics(drawn, CELL_KEY).degrees > 0]
    rejected = sum(bootstrapped(t, CELL_KEY, seed=seed, tables=39).p_value <= 0.05 for seed, t in enumerate(usable))
    naive = (pearson_statistics(usable).p_values <= 0.05).sum()
    error = math.sqrt(0.05 * 0.95 * len(usable))
    assert abs(rejected - 0.05 * len(usable)) < 3 * error
    assert naive - 0.05 * len(usable) > 10 * error


def test_before_and_after() -> None:
    published = [[14, 19, 9], [30, 26, 39]]
    both = independence(TABLE, published, CELL_KEY)
    assert both.before.statistic == pearson(TABLE).statistic
    assert both.naive == pearson(published)
    assert both.aware == noise_aware(published, CELL_KEY)
    assert [r.name for r in both.results()] == ["independence_true", "independence_naive", "independence_noise_aware"]
    first = both.results()[0]
    assert first.value == pytest.approx(float(chi2.sf(both.before.statistic, 2)))
    assert f"statistic of {both.before.statistic:.2f} or more on 2 degrees of freedom" in first.sentence


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([1, 2, 3], r"the given shape is \(3,\)"),
        ([[]], r"the given shape is \(1, 0\)"),
        ([[1, 2], [3]], "rows of the two-way table have different lengths"),
        ([[1.5, 2], [3, 4]], "counts must be whole numbers"),
        ([[0, 0], [0, 0]], "The table has no persons"),
        ([[5, 3], [0, 0]], "fewer than two non-empty rows or columns"),
        ([[5, 0], [3, 0]], "fewer than two non-empty rows or columns"),
    ],
)
def test_tables_that_cannot_be_tested_are_refused(counts: list[list[float]], words: str) -> None:
    for test in (
        pearson,
        lambda table: noise_aware(table, CELL_KEY),
        lambda table: bootstrapped(table, CELL_KEY, seed=1),
    ):
        with pytest.raises(ParameterError, match=words):
            test(counts)


def test_other_mistakes_are_refused() -> None:
    with pytest.raises(ParameterError, match="has 2 rows and 2 columns, the true one 2 and 3"):
        independence(TABLE, [[1, 2], [3, 4]], CELL_KEY)
    with pytest.raises(ParameterError, match="tables must be 1 or more, not 0"):
        bootstrapped(TABLE, CELL_KEY, seed=1, tables=0)
    assert two_way([[1.0, 2.0]]).tolist() == [[1, 2]]
