"""The gap of an additive tuple against enumeration of every noise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.random_bits import SeededBits
from discreet.noise.uniform import Uniform
from discreet.risk.bound_disclosure import check_tuples, extreme_gap, gap_law, largest_noise, probabilities
from tests.quick import up_to


def enumerated(law: dict[int, Fraction], categories: int) -> dict[int, Fraction]:
    """Return the law of the gap by adding up every combination of noises."""
    found: dict[int, Fraction] = {}
    for *parts, total in itertools.product(law, repeat=categories + 1):
        gap = sum(parts) - total
        found[gap] = found.get(gap, Fraction(0)) + math.prod(law[x] for x in (*parts, total))
    return found


@st.composite
def exact_laws(draw: st.DrawFn) -> dict[int, Fraction]:
    """Return a law on -E .. E with E of 1 or 2, of any shape."""
    bound = draw(st.integers(1, 2))
    size = 2 * bound + 1
    weights = draw(st.lists(st.integers(1, 1000), min_size=size, max_size=size))
    return {x: Fraction(weight, sum(weights)) for x, weight in zip(range(-bound, bound + 1), weights, strict=True)}


@settings(deadline=None, derandomize=True, max_examples=up_to(40))
@given(exact_laws(), st.integers(2, 3))
def test_the_gap_is_that_of_all_noise_combinations(law: dict[int, Fraction], categories: int) -> None:
    bound = max(law)
    row = PTableRow(9, tuple(law), tuple(map(float, law.values())))
    expected = enumerated(law, categories)
    found = gap_law([probabilities(row)] * categories, probabilities(row))
    np.testing.assert_allclose(found, [float(expected[gap]) for gap in sorted(expected)], rtol=1e-12)
    tails = [p for gap, p in expected.items() if abs(gap) > (categories + 1) * (bound - 1)]
    assert extreme_gap([probabilities(row)] * categories, probabilities(row)) == pytest.approx(float(sum(tails)))


# Asghar and Kaafar (2019), quoted by Bach (2020): 20 / (2E + 1)^3 for uniform noise and two parts.
# With c parts the sums within c steps of the end are counted by binomial coefficients.
# For 2 E below c the tails would be cut by the other end.
@pytest.mark.parametrize(("categories", "bound"), [(c, e) for c in (2, 3, 4) for e in (1, 2, 3, 10, 100) if 2 * e >= c])
def test_uniform_noise(categories: int, bound: int) -> None:
    p = probabilities(Uniform(bound=bound))
    cells = categories + 1
    expected = 2 * math.comb(2 * cells - 1, cells) / (2 * bound + 1) ** cells
    assert extreme_gap([p] * categories, p) == pytest.approx(expected, rel=1e-13)
    if categories == 2:
        assert expected == pytest.approx(20 / (2 * bound + 1) ** 3)


def test_the_chance_of_an_extreme_gap_is_that_of_samples() -> None:
    law, size = MaxEntropy(variance=1.5, bound=2), 400_000
    noise = law.sample(3 * size, SeededBits(5)).reshape(3, size)
    share = float(np.mean(np.abs(noise[0] + noise[1] - noise[2]) > 3))
    p = probabilities(law)
    chance = extreme_gap([p, p], p)
    error = math.sqrt(chance * (1 - chance) / size)
    assert abs(share - chance) < 4 * error
    # One tail alone, or a law 5 % off, would be noticed.
    assert 0.05 * chance > 8 * error


def test_tiny_tails_keep_their_digits() -> None:
    law = MaxEntropy(variance=3, bound=10)
    p = [Fraction(value) for value in law.pmf(np.arange(-10, 11)).tolist()]
    terms = (
        p[a] * p[b] * p[c]
        for a, b, c in itertools.product(range(21), repeat=3)
        if abs((a - 10) + (b - 10) + (c - 10)) > 27
    )
    found = probabilities(law)
    assert extreme_gap([found, found], found) == pytest.approx(float(sum(terms)), rel=1e-12)


def test_values_that_never_occur_do_not_widen_the_bound() -> None:
    assert largest_noise(PTableRow(7, (-3, -1, 0, 1, 3), (0.0, 0.25, 0.5, 0.25, 0.0))) == 1


def test_probabilities_that_underflow_still_occur() -> None:
    assert largest_noise(MaxEntropy(variance=0.05, bound=40)) == 40


def test_a_law_on_its_key_grid_has_the_bound_that_is_drawn() -> None:
    # A grid of 2^32 keys cuts the outermost noise of V = 2, E = 10.
    row = PTable.max_entropy(variance=2, bound=10).rounded[-1]
    assert largest_noise(row) == 9
    assert len(probabilities(row)) == 19
    assert math.fsum(probabilities(row)) == pytest.approx(1)


def test_an_unbounded_law_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"TwoSidedGeometric is unbounded.*Truncate it with Truncated"):
        probabilities(TwoSidedGeometric(epsilon=1))


def test_a_law_without_noise_is_refused() -> None:
    with pytest.raises(ParameterError, match="is always 0"):
        probabilities(PTable.max_entropy(variance=2, bound=5).rows[0])


@pytest.mark.parametrize(("tuples", "categories", "parameter"), [(-1, 2, "tuples"), (5, 1, "categories")])
def test_impossible_tuples_are_refused(tuples: int, categories: int, parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"{parameter} must be") as refusal:
        check_tuples(tuples=tuples, categories=categories)
    assert refusal.value.parameter == parameter
