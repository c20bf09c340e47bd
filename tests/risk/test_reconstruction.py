"""The thresholds of Dinur and Nissim by brute force and against the paper's figures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise.laplace import Laplace
from discreet.noise.random_bits import SeededBits
from discreet.risk.reconstruction import (
    PolynomialAttack,
    epsilon_of_reconstruction,
    exponential_attack,
)


def databases(records: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return all databases of 0s and 1s, one per row; its rows are also all subsets."""
    return np.arange(2**records)[:, None] >> np.arange(records) & 1


@pytest.mark.parametrize("records", [3, 5, 8])
@pytest.mark.parametrize("bound", [0, 1, 2])
def test_theorem_2_holds_for_every_database_and_every_answer(records: int, bound: int) -> None:
    every = databases(records)
    counts = every @ every.T
    # Answers within E of the truth and of a candidate exist for all subsets if their counts differ by 2 E at most.
    furthest = 0
    for truth in range(len(every)):
        consistent = np.abs(counts - counts[truth]).max(axis=1) <= 2 * bound
        furthest = max(furthest, int(np.abs(every[consistent] - every[truth]).sum(axis=1).max()))
    promised = exponential_attack(records, bound).value
    assert furthest <= promised
    # The limit is reached: it is not merely an upper one.
    assert furthest == promised


def test_theorem_2_on_answers_with_noise() -> None:
    bits, every = np.random.default_rng(8), databases(8)
    counts = every @ every.T
    for bound in (1, 2):
        truth = int(bits.integers(256))
        answers = counts[truth] + bits.integers(-bound, bound + 1, size=256)
        candidates = every[np.abs(counts - answers).max(axis=1) <= bound]
        assert len(candidates)
        assert np.abs(candidates - every[truth]).sum(axis=1).max() <= exponential_attack(8, bound).value


def test_more_noise_than_records_gives_all_of_them_away_to_doubt() -> None:
    assert exponential_attack(100, 50).value == 100


def test_polynomial_attack() -> None:
    attack = PolynomialAttack(records=10**6, bound=10, outputs=28_000_000)
    assert attack.queries == pytest.approx(10**6 * math.log(10**6) ** 2)
    assert attack.ratio == pytest.approx(10 / 1000)
    result = attack.result()
    assert "within the scope" in result.sentence
    assert "28,000,000 counts are published" in result.sentence
    assert any("a scaling, not a guarantee" in each for each in result.assumptions)


def test_noise_above_the_root_is_not_called_safe() -> None:
    result = PolynomialAttack(records=100, bound=20).result()
    assert result.value == 2
    assert "not clearly within" in result.sentence
    assert "not whether this database is safe" in result.sentence


def test_published_budget() -> None:
    # Bach (2020), after the equation of eps_alpha: eps_99 > 0.024 for n = 1e6; 0.0237 to three digits.
    assert epsilon_of_reconstruction(10**6, 0.99).value == pytest.approx(0.0237, abs=5e-5)


def test_the_budget_keeps_all_noise_below_the_root() -> None:
    records, confidence = 50, 0.68
    epsilon = epsilon_of_reconstruction(records, confidence).value
    queries, runs = math.ceil(records * math.log(records) ** 2), 2000
    # The continuous law exceeds E no more often than the rounded one exceeds E - 1/2.
    noise = Laplace(scale=1 / epsilon).sample(queries * runs, SeededBits(4)).reshape(runs, queries)
    inside = float(np.mean(np.abs(noise).max(axis=1) <= math.sqrt(records)))
    expected = (1 - math.exp(-epsilon * (math.floor(math.sqrt(records)) + 0.5))) ** queries
    assert inside == pytest.approx(expected, abs=4 * math.sqrt(0.25 / runs))
    assert inside > confidence


@pytest.mark.parametrize("records", [0, 2, -5, 3.5])
def test_too_few_records_are_refused(records: int) -> None:
    for attack in (exponential_attack, lambda n, e: PolynomialAttack(records=n, bound=e)):
        with pytest.raises(ParameterError, match="records must be a whole number from 3 on"):
            attack(records, 1)
    with pytest.raises(ParameterError, match="records must be"):
        epsilon_of_reconstruction(records)


@pytest.mark.parametrize("bound", [-1, math.inf, math.nan])
def test_a_bound_that_is_none_is_refused(bound: float) -> None:
    with pytest.raises(ParameterError, match="For unbounded noise use epsilon_of_reconstruction"):
        exponential_attack(10, bound)
    with pytest.raises(ParameterError, match="bound must be zero or a positive number"):
        PolynomialAttack(records=10, bound=bound)


def test_other_mistakes_are_refused() -> None:
    with pytest.raises(ParameterError, match="confidence must be between 0 and 1"):
        epsilon_of_reconstruction(10**6, 1)
    with pytest.raises(ParameterError, match="outputs must be a positive whole number"):
        PolynomialAttack(records=10, bound=1, outputs=0)
