"""Two noises of one count, weighed against each other: formulas against what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.noise.uniform import Uniform
from discreet.protection.earlier_releases import joint_variance

DRAWS = 400_000
LAWS = {
    "3 and 2": (PTable.max_entropy(variance=3, bound=5).large, PTable.max_entropy(variance=2, bound=5).large),
    "unbounded": (TwoSidedGeometric(epsilon=0.7), TwoSidedGeometric(epsilon=0.5)),
    "of two kinds": (Laplace(scale=1.5), Uniform(bound=4)),
}


@pytest.mark.parametrize("name", LAWS)
def test_independent_noises_are_weighed_by_their_variances(name: str) -> None:
    first, second = LAWS[name]
    joint = joint_variance(first, second, same_keys=False)
    assert joint == pytest.approx(first.variance * second.variance / (first.variance + second.variance))
    drawn, other = (law.sample(DRAWS, SeededBits(seed)) for seed, law in ((1, first), (2, second)))
    weight = second.variance / (first.variance + second.variance)
    assert np.var(weight * drawn + (1 - weight) * other) == pytest.approx(joint, rel=0.02)


@pytest.mark.parametrize("name", LAWS)
def test_noises_of_the_same_keys_tell_by_their_difference(name: str) -> None:
    first, second = LAWS[name]
    words = SeededBits(3).words(DRAWS)
    drawn, other = (law.draw(words, 2**64) for law in (first, second))
    left = sum((drawn - other == gap).mean() * np.var(drawn[drawn - other == gap]) for gap in np.unique(drawn - other))
    joint = joint_variance(first, second, same_keys=True)
    assert joint == pytest.approx(left, rel=0.02)
    assert joint == pytest.approx(joint_variance(second, first, same_keys=True))
    assert joint < min(first.variance, second.variance)


def test_the_same_noise_twice_tells_nothing_more() -> None:
    law = PTable.max_entropy(variance=3, bound=5).large
    assert joint_variance(law, law, same_keys=True) == pytest.approx(law.variance)


def test_one_release_without_noise_tells_all() -> None:
    nothing, law = PTable.max_entropy(variance=3, bound=5).rows[0], Uniform(bound=3)
    assert nothing.variance == 0
    for same_keys in (True, False):
        assert joint_variance(nothing, law, same_keys=same_keys) == pytest.approx(0)
