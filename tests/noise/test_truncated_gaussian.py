"""The truncated Gaussian law: a discrete Gaussian law given that it is within the bound, and of largest entropy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.noise import DiscreteGaussian, MaxEntropy, SeededBits, Truncated
from discreet.noise.truncated import TruncatedGaussian
from tests.each import each
from tests.noise.goodness import ACCEPT, REJECT, p_value


@each("sigma", [0.7, 2.0, 5.0])
@each("bound", [1, 5, 12])
def test_it_is_the_discrete_gaussian_law_cut_at_the_bound(sigma: float, bound: int) -> None:
    x = np.arange(-bound - 2, bound + 3)
    law, cut = TruncatedGaussian(sigma=sigma, bound=bound), Truncated(DiscreteGaussian(sigma=sigma), bound)
    np.testing.assert_allclose(law.pmf(x), cut.pmf(x), rtol=1e-12)
    assert law.variance == pytest.approx(cut.variance)


def test_probabilities_follow_the_equation() -> None:
    sigma, bound = 1.5, 2
    weights = [math.exp(-(x**2) / (2 * sigma**2)) for x in range(bound + 1)]
    whole = weights[0] + 2 * sum(weights[1:])
    law = TruncatedGaussian(sigma=sigma, bound=bound)
    assert law.pmf([0, 1, -2, 3]) == pytest.approx([weights[0] / whole, weights[1] / whole, weights[2] / whole, 0])


@pytest.mark.parametrize("sigma", [1.0, 2.5])
def test_no_law_of_its_variance_and_bound_has_more_entropy(sigma: float) -> None:
    law, x = TruncatedGaussian(sigma=sigma, bound=6), np.arange(-6, 7)
    np.testing.assert_allclose(law.pmf(x), MaxEntropy(variance=law.variance, bound=6).pmf(x), rtol=1e-7)


def test_a_sample_tells_its_bound_from_the_next() -> None:
    sample = TruncatedGaussian(sigma=5, bound=5).sample(20_000, SeededBits(4))
    assert p_value(sample, TruncatedGaussian(sigma=5, bound=5)) > ACCEPT
    for bound in (4, 6):
        assert p_value(sample, TruncatedGaussian(sigma=5, bound=bound)) < REJECT
