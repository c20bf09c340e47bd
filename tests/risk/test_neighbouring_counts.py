"""Pairs of neighbouring counts: which laws are compared, and how unbounded ones are tabulated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import DiscreteGaussian, Gaussian, Laplace, MaxEntropy, PTable, Truncated, TwoSidedGeometric
from discreet.noise.ptable import PTableRow
from discreet.risk.neighbouring_counts import law_pair, pairs, row_pair

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise


def shifted(law: Noise, epsilon: float, shift: int, edge: int) -> float:
    """Return sum_x max(0, p(x) - e^epsilon p(x - shift)) over a wide table."""
    x = np.arange(-edge, edge + 1)
    return math.fsum(np.maximum(0, law.pmf(x) - math.exp(epsilon) * law.pmf(x - shift)))


@pytest.mark.parametrize("shift", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.7, 1.5])
@pytest.mark.parametrize(
    "law",
    [
        TwoSidedGeometric(epsilon=0.5),
        TwoSidedGeometric(epsilon=1.0, sensitivity=2),
        Laplace(scale=2.0),
        Gaussian(sigma=2.0),
        DiscreteGaussian(sigma=1.5),
        Truncated(Laplace(scale=3.0), 6),
        MaxEntropy(variance=2, bound=5),
    ],
    ids=repr,
)
def test_a_law_is_compared_with_its_shifted_copy(law: Noise, epsilon: float, shift: int) -> None:
    pair = law_pair(law, shift)
    assert pair.delta(epsilon) == pytest.approx(shifted(law, epsilon, shift, 200), abs=1e-13)
    assert pair.up.delta(epsilon) == pytest.approx(pair.down.delta(epsilon), abs=1e-13)


@pytest.mark.parametrize(("law", "rate"), [(TwoSidedGeometric(epsilon=0.3), 0.3), (Laplace(scale=4.0), 0.25)], ids=repr)
def test_laws_of_strict_privacy_have_an_epsilon_at_delta_0(law: Noise, rate: float) -> None:
    assert law_pair(law).beyond == 0
    assert law_pair(law).epsilon(0.0) == pytest.approx(rate, rel=1e-12)
    assert law_pair(law, 3).epsilon(0.0) == pytest.approx(3 * rate, rel=1e-12)


def test_the_loss_of_a_geometric_law_has_two_values() -> None:
    # The same law as in the code of the US census: P(loss = +epsilon) = 1 / (1 + e^-epsilon).
    loss = law_pair(TwoSidedGeometric(epsilon=0.3)).up
    positive = math.fsum(loss.probabilities[loss.losses > 0])
    assert positive == pytest.approx(1 / (1 + math.exp(-0.3)), rel=1e-14)
    np.testing.assert_allclose(np.abs(loss.losses), 0.3, rtol=1e-14)


def test_what_lies_beyond_the_table_is_added() -> None:
    pair = law_pair(Gaussian(sigma=3.0))
    assert pair.floor == pair.beyond
    assert 0 < pair.beyond < 1e-295
    assert pair.epsilon(0.0) == math.inf


def test_a_rounded_law_is_cut_and_has_a_floor() -> None:
    law = TwoSidedGeometric(epsilon=1.0)
    row = law.rounded(2**16)
    outermost = max(row.law())
    assert law_pair(law, key_space=2**16).floor == pytest.approx(float(row.law()[outermost]))


def test_a_law_too_wide_is_refused() -> None:
    with pytest.raises(ParameterError, match="too wide to assess"):
        law_pair(Gaussian(sigma=1e7))


def test_a_ptable_has_one_pair_per_row() -> None:
    ptable = PTable.max_entropy(variance=2, bound=3)
    assert [pair.name for pair in pairs(ptable)] == [f"counts {i} and {i + 1}" for i in range(4)]


def test_the_last_pair_is_the_last_row_and_its_shifted_copy() -> None:
    ptable, law = PTable.max_entropy(variance=2, bound=5), MaxEntropy(variance=2, bound=5)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert pairs(ptable)[-1].delta(epsilon) == pytest.approx(law_pair(law).delta(epsilon), rel=1e-9)
        assert row_pair(ptable, 400).delta(epsilon) == pairs(ptable)[-1].delta(epsilon)


def test_rows_that_serve_in_turn_meet_each_other() -> None:
    # Rounding to base 2 at random: an odd count goes up or down, an even one stays.
    even, odd = PTableRow(0, (0,), (1.0,)), PTableRow(1, (-1, 1), (0.5, 0.5))
    ptable = PTable((even, odd), key_space=2, repeat=2)
    assert [pair.delta(3.0) for pair in pairs(ptable)] == pytest.approx([0.5, 0.5])
    assert row_pair(ptable, 7).delta(3.0) == pytest.approx(0.5)


def test_both_directions_of_counts_0_and_1() -> None:
    pair = row_pair(PTable.max_entropy(variance=2, bound=5), 0)
    to_zero = float(PTable.max_entropy(variance=2, bound=5).rows[1].pmf(-1))
    assert pair.up.delta(1.0) == pytest.approx(1 - to_zero)
    assert pair.down.delta(0.5) == pytest.approx(max(0.0, 1 - math.exp(0.5) * to_zero))
    assert pair.floor == pair.up.floor
