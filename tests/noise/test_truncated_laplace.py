"""The truncated Laplace law on whole numbers: a geometric law given that it is within the bound."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.noise import SeededBits, Truncated, TwoSidedGeometric
from discreet.noise.truncated import TruncatedLaplace
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, p_value


@each("epsilon", [0.1, 0.5, 1.5])
@each("bound", [1, 5, 12])
def test_it_is_the_geometric_law_cut_at_the_bound(epsilon: float, bound: int) -> None:
    x = np.arange(-bound - 2, bound + 3)
    law, cut = TruncatedLaplace(epsilon=epsilon, bound=bound), Truncated(TwoSidedGeometric(epsilon=epsilon), bound)
    np.testing.assert_allclose(law.pmf(x), cut.pmf(x), rtol=1e-12)
    assert law.variance == pytest.approx(cut.variance)


def test_probabilities_follow_the_equation() -> None:
    epsilon, bound = 0.5, 3
    whole = 1 + 2 * sum(math.exp(-epsilon * x) for x in range(1, bound + 1))
    law = TruncatedLaplace(epsilon=epsilon, bound=bound)
    assert law.pmf([-3, 0, 1, 4]) == pytest.approx([math.exp(-1.5) / whole, 1 / whole, math.exp(-0.5) / whole, 0])


def test_a_wide_bound_cuts_nothing() -> None:
    assert TruncatedLaplace(epsilon=2, bound=200).variance == pytest.approx(TwoSidedGeometric(epsilon=2).variance)


def test_a_sample_tells_its_bound_from_the_next() -> None:
    sample = TruncatedLaplace(epsilon=0.5, bound=5).sample(20_000, SeededBits(4))
    assert p_value(sample, TruncatedLaplace(epsilon=0.5, bound=5)) > ACCEPT
    for bound in (4, 6):
        assert p_value(sample, TruncatedLaplace(epsilon=0.5, bound=bound)) < REJECT
