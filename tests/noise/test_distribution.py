"""What every law derives from its formulas, beyond the contract: reach, keys, width, tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import Laplace, MaxEntropy, SeededBits, TwoSidedGeometric, Uniform
from discreet.noise.distribution import WIDEST, WORDS, Noise, ProbabilityTable
from tests.each import each

LAWS: list[Noise] = [
    Laplace(scale=3),
    TwoSidedGeometric(epsilon=0.2),
    Uniform(bound=6),
    MaxEntropy(variance=2, bound=5),
]


@each("law", LAWS, ids=repr)
@each("resolution", [0.3, 0.05, 1e-3, 1e-9])
def test_reach_is_the_largest_value_with_that_probability(law: Noise, resolution: float) -> None:
    x = np.arange(500)
    likely = np.flatnonzero(law.pmf(x) >= resolution)
    assert law.reach(resolution) == (likely.max() if len(likely) else 0)


def test_reach_of_the_geometric_law_is_its_closed_form() -> None:
    # tanh(r / 2) exp(-r x) >= s up to x = log(tanh(r / 2) / s) / r.
    rate, resolution = 0.01, 2.0**-65
    expected = math.floor(math.log(math.tanh(rate / 2) / resolution) / rate)
    assert TwoSidedGeometric(epsilon=rate).reach(resolution) == expected


def test_sample_is_the_draw_of_its_words() -> None:
    law = Laplace(scale=5)
    assert np.array_equal(law.sample(1000, SeededBits(3)), law.draw(SeededBits(3).words(1000), WORDS))


def test_keys_are_32_bits_unless_told_otherwise() -> None:
    law = Laplace(scale=5)
    keys = SeededBits(3).words(100) >> np.uint64(32)
    assert np.array_equal(law.draw(keys), law.draw(keys, 2**32))
    with pytest.raises(ParameterError, match=f"below the key space of {2**32}"):
        law.draw([2**32])


def test_lowest_and_highest_key_draw_the_outermost_noise() -> None:
    for law in LAWS:
        row = law.rounded(2**32)
        assert law.draw([0, 2**32 - 1]).tolist() == [-row.bound, row.bound]


def test_noise_has_the_shape_of_its_keys() -> None:
    law = Uniform(bound=2)
    assert law.draw(3, 5).shape == ()
    assert law.draw([[0, 1, 2], [3, 4, 0]], 5).tolist() == [[-2, -1, 0], [1, 2, -2]]
    assert law.sample(0).shape == (0,)


@each("key_space", [1, 0, -5, 2**64 + 1, True, 2.0**32])
def test_key_spaces_out_of_range_are_refused(key_space: int) -> None:
    with pytest.raises(ParameterError, match=r"key_space must be a whole number from 2 to 2\*\*64") as refusal:
        Uniform(bound=2).rounded(key_space)
    assert refusal.value.parameter == "key_space"


def test_a_law_too_wide_to_tabulate_is_refused() -> None:
    with pytest.raises(ParameterError, match=f"Laplace: too wide to draw from; values beyond ±{WIDEST}"):
        Laplace(scale=1e6).sample(1)


def test_an_unbounded_law_is_cut_at_half_a_step_of_the_grid() -> None:
    law = TwoSidedGeometric(epsilon=0.5)
    for key_space in (2**16, 2**32):
        assert law.rounded(key_space).bound == law.reach(0.5 / key_space)


def test_table_moments_are_about_the_mean() -> None:
    # 1 with probability 1/4 and 5 with 3/4: mean 4, variance 3/4 * 1 + 1/4 * 9.
    table = ProbabilityTable(np.array([1, 5]), np.log([0.25, 0.75]))
    assert table.mean == pytest.approx(4)
    assert table.variance == pytest.approx(3)
    assert table.cdf(np.array([0, 1, 4, 5, 9])) == pytest.approx([0, 0.25, 0.25, 1, 1])
    assert np.exp(table.log_pmf(np.array([0, 1, 3, 5, 6]))) == pytest.approx([0, 0.25, 0, 0.75, 0])
