"""The goodness-of-fit test can fail: what it must reject, it rejects."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.noise import SeededBits, TwoSidedGeometric, Uniform
from tests.noise.goodness import ACCEPT, REJECT, chi_square, p_value


def test_a_constant_is_rejected() -> None:
    assert p_value(np.zeros(1000, dtype=np.int64), TwoSidedGeometric(epsilon=1)) < REJECT


def test_one_value_outside_the_support_is_rejected() -> None:
    sample = Uniform(bound=3).sample(1000, SeededBits(1))
    assert p_value(sample, Uniform(bound=3)) > ACCEPT
    assert p_value(np.append(sample, 4), Uniform(bound=3)) == 0


def test_a_shift_by_one_is_rejected() -> None:
    law = TwoSidedGeometric(epsilon=0.3)
    assert p_value(law.sample(20_000, SeededBits(2)) + 1, law) < REJECT


def test_p_values_of_the_law_itself_are_uniform() -> None:
    law = TwoSidedGeometric(epsilon=0.7)
    found = [p_value(law.sample(2000, SeededBits(seed)), law) for seed in range(400)]
    deciles = np.bincount((10 * np.array(found)).astype(np.int64), minlength=10)
    assert chi_square(deciles, np.full(10, 40.0)) > ACCEPT
    assert np.mean(found) == pytest.approx(0.5, abs=5 / np.sqrt(12 * 400))
