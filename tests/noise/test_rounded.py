"""Rounding to a key space: whole weights, sum K, mean exactly 0, close to the law."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise import TwoSidedGeometric
from discreet.noise.rounded import (
    LARGEST_KEY_SPACE,
    RoundedRow,
    check_key_space,
    round_centred,
    round_symmetric,
)
from tests.each import each

key_spaces = st.sampled_from([64, 255, 256, 1000, 4096, 10**8, 2**32, 2**62, 2**64]) | st.integers(64, 2**64)
weights = st.integers(1, 10**6)


def slack(key_space: int) -> float:
    """Return how far doubles that sum to 1 may lie from whole keys on a fine grid."""
    return 1e-13 * key_space


@st.composite
def symmetric_laws(draw: st.DrawFn) -> tuple[float, list[float]]:
    """Return P(0) and P(1), P(2), .. of a symmetric law."""
    centre, half = draw(weights), draw(st.lists(weights, min_size=1, max_size=20))
    total = centre + 2 * sum(half)
    return centre / total, [weight / total for weight in half]


def law_of(parts: list[tuple[int, int, int]], stay: int) -> dict[int, float]:
    """Return the law of mean 0 that mixes 0 with pairs -i, j in the ratio j : i; every such law is a mixture."""
    law = {0: Fraction(stay)}
    for i, j, weight in parts:
        law[-i] = law.get(-i, Fraction(0)) + Fraction(weight * j, i + j)
        law[j] = law.get(j, Fraction(0)) + Fraction(weight * i, i + j)
    total = sum(law.values())
    return {value: float(law[value] / total) for value in sorted(law)}


@st.composite
def row_laws(draw: st.DrawFn) -> dict[int, float]:
    """Return a law on all whole numbers from -a to b, as the rows of p-tables are."""
    below, above = draw(st.integers(1, 10)), draw(st.integers(1, 10))
    falls = [(i, draw(st.integers(1, above)), draw(weights)) for i in range(1, below + 1)]
    rises = [(draw(st.integers(1, below)), j, draw(weights)) for j in range(1, above + 1)]
    return law_of(falls + rises, draw(weights))


parts = st.tuples(st.integers(1, 12), st.integers(1, 12), weights)
sparse_laws = st.builds(law_of, st.lists(parts, min_size=1, max_size=4), weights)
"""Laws that may leave out values, as a table from elsewhere may."""


def rounded(law: dict[int, float], key_space: int, mean: int = 0) -> RoundedRow:
    return round_centred(np.array(list(law)), np.array(list(law.values())), key_space, mean)


def in_fractions(centre: float, positive: list[float], key_space: int) -> tuple[int, ...]:
    """Return the weights of a symmetric law, with every share as a fraction: the rule as it was first written."""
    exact = [Fraction(p) * key_space for p in positive]
    half = [int(share) for share in exact]
    wanted = round((key_space - Fraction(centre) * key_space) / 2)
    wanted = min(max(wanted, sum(half)), key_space // 2)
    for k in sorted(range(len(half)), key=lambda k: half[k] - exact[k])[: wanted - sum(half)]:
        half[k] += 1
    while half and half[-1] == 0:
        half.pop()
    return (*reversed(half), key_space - 2 * sum(half), *half)


@given(symmetric_laws(), key_spaces)
def test_symmetric_rounding_is_that_of_fractions(law: tuple[float, list[float]], key_space: int) -> None:
    assert round_symmetric(law[0], np.array(law[1]), key_space).weights == in_fractions(*law, key_space)


@each("key_space", [2**64, 2**32, 10**8, 3 * 10**9 + 1])
@each("epsilon", [3, 0.5, 0.05])
def test_released_noise_of_a_law_stays_as_it_was(epsilon: float, key_space: int) -> None:
    law = TwoSidedGeometric(epsilon=epsilon)
    positive = law.pmf(np.arange(1, law.reach(0.5 / key_space) + 1)).tolist()
    assert law.rounded(key_space).weights == in_fractions(float(law.pmf(0)), positive, key_space)


@given(symmetric_laws(), key_spaces)
def test_symmetric_rounding_mirrors_and_keeps_the_sum(law: tuple[float, list[float]], key_space: int) -> None:
    row = round_symmetric(law[0], np.array(law[1]), key_space)
    assert sum(row.weights) == row.key_space == key_space
    assert min(row.weights) >= 0
    assert row.weights == row.weights[::-1]
    assert row.values == tuple(-value for value in reversed(row.values))
    assert row.moment(1) == 0


@given(symmetric_laws(), key_spaces)
def test_symmetric_rounding_is_within_one_key_of_every_share(law: tuple[float, list[float]], key_space: int) -> None:
    row = round_symmetric(law[0], np.array(law[1]), key_space)
    found = dict(zip(row.values, row.weights, strict=True))
    for value, p in enumerate([law[0], *law[1]]):
        assert abs(found.get(value, 0) - Fraction(p) * key_space) <= 1 + slack(key_space)


def test_symmetric_rounding_drops_values_that_no_key_reaches() -> None:
    row = round_symmetric(0.7, np.array([0.15 - 2e-9, 1e-9, 1e-9]), 1000)
    assert (row.values, row.weights) == ((-1, 0, 1), (150, 700, 150))


def test_symmetric_rounding_gives_the_largest_remainders_one_key_more() -> None:
    # Shares of 10 keys: 1.4 | 1.7, 1.6, 1.0 on each side leave 4 for each side and 2 for 0: 1.7 is rounded up.
    row = round_symmetric(0.14, np.array([0.17, 0.16, 0.1]), 10)
    assert row.weights == (1, 1, 2, 2, 2, 1, 1)


@given(row_laws() | sparse_laws, key_spaces)
def test_centred_rounding_keeps_sum_and_mean_exactly(law: dict[int, float], key_space: int) -> None:
    row = rounded(law, key_space)
    assert row.values == tuple(law)
    assert sum(row.weights) == row.key_space == key_space
    assert min(row.weights) >= 0
    assert sum(value * weight for value, weight in zip(row.values, row.weights, strict=True)) == 0
    assert row.moment(1) == 0


@given(row_laws(), key_spaces)
def test_centred_rounding_is_within_three_keys_of_every_share(law: dict[int, float], key_space: int) -> None:
    row = rounded(law, key_space)
    for p, weight in zip(law.values(), row.weights, strict=True):
        assert abs(weight - Fraction(p) * key_space) <= 3 + slack(key_space)


@given(row_laws(), st.integers(-50, 50), st.sampled_from([1000, 2**32, 2**64]))
def test_the_sum_of_noise_over_all_keys_can_be_chosen(law: dict[int, float], mean: int, key_space: int) -> None:
    row = rounded(law, key_space, mean)
    assert row.key_space == key_space
    assert row.moment(1) == Fraction(mean, key_space)


@given(row_laws(), st.sampled_from([256, 2**32]))
def test_a_law_of_whole_keys_is_left_as_it_is(law: dict[int, float], key_space: int) -> None:
    row = rounded(law, key_space)
    again = round_centred(np.array(row.values), np.array(row.weights) / key_space, key_space)
    assert again == row


def test_a_gap_smaller_than_every_move_is_closed_by_a_detour() -> None:
    # Shares of 256 keys are 76.8, 128, 51.2; the mean is 0 for multiples of 3 and 2 keys alone.
    row = rounded({-2: 0.3, 0: 0.5, 3: 0.2}, 256)
    assert row.key_space == 256
    assert row.moment(1) == 0
    assert row.weights == (78, 126, 52)


def test_a_key_space_that_cannot_hold_mean_zero_is_refused() -> None:
    # -2 and 3 in the ratio 3 : 2 need a multiple of five keys.
    law = {-2: 0.6, 3: 0.4}
    assert rounded(law, 10).weights == (6, 4)
    with pytest.raises(ParameterError, match="large enough to represent every row with mean 0") as refusal:
        rounded(law, 256)
    assert refusal.value.parameter == "key_space"


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 50)), min_size=1, max_size=12))
def test_moments_are_exact_sums_over_all_keys(pieces: list[tuple[int, int]]) -> None:
    values, held = [value for value, _ in pieces], [weight for _, weight in pieces]
    assume(sum(held) > 0)
    row = RoundedRow(tuple(values), tuple(held))
    keys = [value for value, weight in pieces for _ in range(weight)]
    assert row.key_space == len(keys)
    for order in range(5):
        assert row.moment(order) == Fraction(sum(noise**order for noise in keys), len(keys))
    mean = Fraction(sum(keys), len(keys))
    assert row.variance == sum((noise - mean) ** 2 for noise in keys) / Fraction(len(keys))
    assert row.bound == max(abs(noise) for noise in keys)
    assert row.law() == {noise: Fraction(keys.count(noise), len(keys)) for noise in sorted(set(keys))}
    assert list(row.law()) == sorted(set(keys))


def test_pieces_of_one_value_are_joined_in_the_law_and_kept_apart_in_the_keys() -> None:
    row = RoundedRow((0, 2, 0, -1), (1, 2, 3, 4))
    assert row.upper == (1, 3, 6, 10)
    assert row.law() == {-1: Fraction(4, 10), 0: Fraction(4, 10), 2: Fraction(2, 10)}


@each("key_space", [2, 255, 2**32, LARGEST_KEY_SPACE])
def test_key_spaces_from_2_to_2_to_the_62_are_taken(key_space: int) -> None:
    check_key_space(key_space)


@each("key_space", [1, 0, -1, LARGEST_KEY_SPACE + 1, True, 4096.0, "4096", None])
def test_other_key_spaces_are_refused(key_space: Any) -> None:  # noqa: ANN401 - wrong types are the point
    with pytest.raises(ParameterError, match=r"key_space must be a whole number from 2 to 2\*\*62") as refusal:
        check_key_space(key_space)
    assert refusal.value.parameter == "key_space"
    assert "2**32" in str(refusal.value)


@each(("key_space", "law"), [(4, {-7: 2, -4: 1, 3: 6}), (12, {-7: 1, -4: 2, 3: 5})])
def test_a_row_that_no_weights_can_centre_is_refused(key_space: int, law: dict[int, int]) -> None:
    # A detour that takes a key twice from a value that holds it once would leave a weight below 0.
    for weights_ in product(range(key_space + 1), repeat=len(law)):
        assert sum(weights_) != key_space or sum(v * w for v, w in zip(law, weights_, strict=True)) != 0
    with pytest.raises(ParameterError, match="large enough to represent every row with mean 0"):
        rounded({value: weight / sum(law.values()) for value, weight in law.items()}, key_space)
