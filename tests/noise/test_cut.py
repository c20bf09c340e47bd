"""The bias of publishing 0 for everything negative, against the mean of what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.noise import Laplace, PTable, SeededBits, TruncatedLaplace, TwoSidedGeometric, Uniform
from discreet.noise.published_counts import cut_bias
from tests.each import each

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

ROW = PTable.max_entropy(variance=2, bound=5).rows[3]
LAWS: list[Noise] = [
    TwoSidedGeometric(epsilon=0.5),
    TwoSidedGeometric(epsilon=0.01),
    Laplace(scale=2),
    Uniform(bound=4),
    TruncatedLaplace(epsilon=0.5, bound=7),
    ROW,
]


@each("law", LAWS, ids=repr)
@each("count", [0, 1, 3, 40])
def test_bias_is_the_mean_of_what_is_published_less_the_count(law: Noise, count: int) -> None:
    edge = law.reach(1e-18)
    x = np.arange(-edge, edge + 1)
    mean = float(np.maximum(0, count + x) @ law.pmf(x))
    assert cut_bias(law, count) == pytest.approx(mean - count, abs=1e-9)


def test_bias_of_a_geometric_law_in_closed_form() -> None:
    # P(X <= -m) = q^m / (1 + q), summed over m > n.
    q = np.exp(-0.5)
    for count in (0, 2, 7):
        bias = q ** (count + 1) / ((1 + q) * (1 - q))
        assert cut_bias(TwoSidedGeometric(epsilon=0.5), count) == pytest.approx(bias, rel=1e-9)


def test_bias_is_seen_in_a_sample() -> None:
    law = TwoSidedGeometric(epsilon=0.5)
    published = np.maximum(0, 1 + law.sample(40_000, SeededBits(9)))
    error = published.std() / 200
    assert abs(published.mean() - 1 - cut_bias(law, 1)) < 5 * error
    # The same test rejects a bias that is 30 % off.
    assert abs(published.mean() - 1 - 1.3 * cut_bias(law, 1)) > 5 * error


def test_nothing_is_cut_where_nothing_can_be_negative() -> None:
    assert cut_bias(None, 0) == 0
    assert cut_bias(Uniform(bound=4), 4) == 0
    assert cut_bias(ROW, 3) == 0
