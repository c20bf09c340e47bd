from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accuracy.expected_accuracy import expected_effects, reliable_from
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.uniform import Uniform
from tests.quick import up_to


def test_a_uniform_law_by_hand() -> None:
    found = {each.name: each for each in expected_effects(transition_matrix(Uniform(bound=2)))}
    assert found["typical_noise"].value == pytest.approx(math.sqrt(2))
    # -2 and -1 of the five noise values lose the count.
    assert found["singleton_lost"].value == pytest.approx(2 / 5)
    # Up to 9 persons a noise of 2 is more than a fifth, and it comes in 2 of 5 cases; of 10 it is just a fifth.
    assert found["reliable_from"].value == 10
    assert found["typical_noise"].sentence == (
        "Typical noise of a large count (root mean square): 1.4; at most 2."
    )  # fmt: skip


@settings(max_examples=up_to(20))
@given(st.floats(0.5, 6), st.integers(4, 9))
def test_from_there_on_and_not_before_counts_are_rarely_off(variance: float, bound: int) -> None:
    law = transition_matrix(PTable.max_entropy(variance=variance, bound=bound))
    first = reliable_from(law)
    assert first is not None

    def off(count: int) -> float:
        noise = np.arange(-law.reach, law.reach + 1)
        row = law.laws[int(law.rows(np.array([count]))[0])]
        return float(row[5 * np.abs(noise) > count].sum())

    assert all(off(count) <= 0.05 + 1e-12 for count in range(first, first + 5 * bound))
    assert first == 1 or off(first - 1) > 0.05


def test_noise_without_a_bound_says_so() -> None:
    found = expected_effects(transition_matrix(TwoSidedGeometric(epsilon=0.5)))
    assert "unbounded, occasionally much larger" in found[0].sentence


def test_wider_noise_is_relied_on_later() -> None:
    narrow, wide = (reliable_from(transition_matrix(PTable.max_entropy(variance=v, bound=9))) for v in (2, 2 * 1.3**2))
    assert narrow is not None
    assert wide is not None
    assert narrow < wide
