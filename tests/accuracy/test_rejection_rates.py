"""Real levels of tests at a nominal 5 percent, and what noise costs in power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

from discreet.accuracy import rejection_rates
from discreet.accuracy.independence_test import noise_aware_statistics
from discreet.accuracy.rejection_rates import NOMINAL, level, power, rejections
from discreet.errors import ParameterError
from discreet.noise.by_count import TransitionMatrix, transition_matrix
from discreet.noise.discrete_gaussian import DiscreteGaussian
from discreet.noise.ptable import PTable
from discreet.noise.truncated import PROMISED

NONE = transition_matrix(None)
CELL_KEY = transition_matrix(PTable.max_entropy(variance=2, bound=5))
RINOTT = {
    f"{name} {epsilon:g}": transition_matrix(law(epsilon, delta), zeros=True)
    for name, law in PROMISED.items()
    for epsilon, delta in ((0.5, 8e-3), (1.5, 2e-5))
}


@pytest.mark.parametrize("law", [CELL_KEY, *RINOTT.values()], ids=["cell key", *RINOTT])
def test_the_aware_test_keeps_its_level_and_the_naive_one_does_not(law: TransitionMatrix) -> None:
    found = level(10, law, seed=4, tables=3000)
    error = found.error(NOMINAL)
    assert abs(found.exact - NOMINAL) < 4 * error
    # At a mean of 10 the chi-square law is near, not exact: one percent is granted.
    assert abs(found.aware - NOMINAL) < 0.01 + 3 * error
    assert found.naive - NOMINAL > 5 * error
    assert found.naive - found.aware > 5 * error


def test_the_naive_level_is_that_of_a_scaled_chi_square() -> None:
    # Where every count has the mean m and noise of variance V, Pearson's statistic is about (1 + V / m) chi-square.
    mean, sigma, degrees = 60, 6, 16
    limit = chi2.isf(NOMINAL, degrees)

    def expected(variance: float) -> float:
        return float(chi2.sf(limit / (1 + variance / mean), degrees))

    found = level(mean, transition_matrix(DiscreteGaussian(sigma=sigma), zeros=True), seed=1, tables=4000)
    error = found.error(found.naive)
    assert abs(found.naive - expected(sigma**2)) < 4 * error
    assert abs(found.naive - expected(1.3 * sigma**2)) > 8 * error


def test_a_wrong_law_is_no_protection() -> None:
    # The aware test of counts whose noise is 30 % larger than it believes, by the same formula.
    mean, variance = 60, 100
    believed = transition_matrix(DiscreteGaussian(sigma=math.sqrt(variance)), zeros=True)
    larger = transition_matrix(DiscreteGaussian(sigma=math.sqrt(1.3 * variance)), zeros=True)
    random = np.random.default_rng(6)
    true = random.poisson(mean, (2000, 5, 5))
    right, wrong = (
        float((noise_aware_statistics(law.publish(true, random), believed).p_values <= NOMINAL).mean())
        for law in (believed, larger)
    )
    error = math.sqrt(NOMINAL * (1 - NOMINAL) / 2000)
    assert abs(right - NOMINAL) < 4 * error
    assert wrong - NOMINAL > 8 * error


def test_power_is_that_of_the_noncentral_law_with_the_noise_in_its_variances() -> None:
    mean, factor, size, noise = 400, 1.15, 4, 400
    means = np.where(np.eye(size, dtype=bool), factor * mean, mean)
    product = means.sum(axis=1)[:, None] * means.sum(axis=0) / means.sum()
    degrees = (size - 1) ** 2

    def expected(variance: float) -> float:
        apart = ((means - product) ** 2 / (product + variance)).sum()
        return float(ncx2.sf(chi2.isf(NOMINAL, degrees), degrees, apart))

    law = transition_matrix(DiscreteGaussian(sigma=math.sqrt(noise)), zeros=True)
    found = power(mean, law, factor=factor, seed=3, rows=size, columns=size, tables=4000)
    assert found.associated
    assert abs(found.exact - expected(0)) < 4 * found.error(found.exact)
    assert abs(found.aware - expected(noise)) < 4 * found.error(found.aware)
    assert abs(found.aware - expected(1.3 * noise)) > 6 * found.error(found.aware)


def test_without_noise_the_three_tests_are_one() -> None:
    found = power(20, NONE, seed=3, factor=1.5, tables=500)
    assert found.exact == found.naive == found.aware


def test_shares_repeat_with_their_seed_and_say_what_they_are() -> None:
    found = level(5, CELL_KEY, seed=1, rows=2, columns=3, tables=500)
    assert found == level(5, CELL_KEY, seed=1, rows=2, columns=3, tables=500)
    assert found != level(5, CELL_KEY, seed=2, rows=2, columns=3, tables=500)
    assert not found.associated
    assert found.error(0.5) == 0.5 / math.sqrt(500)
    exact, naive, aware = found.results()
    assert (exact.name, naive.name, aware.name) == ("level_exact", "level_naive", "level_aware")
    assert f"rejects independence in {found.naive:.1%} of 500 tables" in naive.sentence
    assert naive.sentence.endswith("nominal level: 5%.")
    powers = power(5, CELL_KEY, seed=1, rows=2, columns=2, tables=50).results()
    assert [result.name for result in powers] == ["power_exact", "power_naive", "power_aware"]
    assert powers[0].sentence.startswith("If rows and columns are associated, ")


def test_many_tables_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejection_rates, "CELLS", 60)
    found = level(30, NONE, seed=1, rows=2, columns=3, tables=1234)
    assert abs(found.exact - NOMINAL) < 4 * found.error(NOMINAL)
    assert rejections([[900, 1], [1, 900]], NONE, seed=1, tables=67).exact == 1


def test_mistakes_are_refused() -> None:
    with pytest.raises(ParameterError, match="means that are not positive"):
        level(0, NONE, seed=1)
    with pytest.raises(ParameterError, match="rows must be 2 or more, not 1"):
        level(5, NONE, seed=1, rows=1)
    with pytest.raises(ParameterError, match="tables must be 1 or more, not 0"):
        level(5, NONE, seed=1, tables=0)
    with pytest.raises(ParameterError, match="factor must be above 0 and not 1"):
        power(5, NONE, seed=1, factor=1.0)
    with pytest.raises(ParameterError, match=r"the given shape is \(2,\)"):
        rejections([1.0, 2.0], NONE, seed=1)
