"""The privacy loss against likelihood ratios that are enumerated one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.risk.privacy_loss import PrivacyLoss, falling_root

Law = list[float]
"""Probabilities of the outcomes 0, 1, 2, .."""


@st.composite
def two_laws(draw: st.DrawFn) -> tuple[Law, Law]:
    size = draw(st.integers(1, 6))
    weights = st.lists(st.integers(0, 50), min_size=size, max_size=size).filter(sum)
    first, second = draw(weights), draw(weights)
    return [w / sum(first) for w in first], [w / sum(second) for w in second]


def loss_between(p: Law, q: Law) -> PrivacyLoss:
    with np.errstate(divide="ignore"):
        return PrivacyLoss.between(np.log(p), np.log(q))


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    """Return sum_y max(0, P(y) - e^epsilon Q(y)), the definition."""
    return math.fsum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))


@given(two_laws(), st.floats(0, 5))
def test_delta_is_the_hockey_stick_divergence(laws: tuple[Law, Law], epsilon: float) -> None:
    p, q = laws
    assert loss_between(p, q).delta(epsilon) == pytest.approx(hockey_stick(p, q, epsilon), abs=1e-13)


@given(two_laws())
def test_delta_at_0_is_the_total_variation_distance_in_both_directions(laws: tuple[Law, Law]) -> None:
    p, q = laws
    distance = math.fsum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    assert loss_between(p, q).delta(0) == pytest.approx(distance, abs=1e-13)
    assert loss_between(q, p).delta(0) == pytest.approx(distance, abs=1e-13)


@given(two_laws(), st.floats(0, 4), st.floats(0, 4))
def test_delta_falls_with_epsilon_down_to_the_floor(laws: tuple[Law, Law], epsilon: float, more: float) -> None:
    loss = loss_between(*laws)
    assert loss.delta(epsilon + more) <= loss.delta(epsilon)
    assert loss.delta(max(loss.largest, 0)) == min(1.0, loss.floor) <= loss.delta(epsilon)


@given(two_laws(), st.floats(0, 0.999))
def test_epsilon_is_the_smallest_that_goes_with_delta(laws: tuple[Law, Law], delta: float) -> None:
    loss = loss_between(*laws)
    epsilon = loss.epsilon(delta)
    if delta < loss.floor:
        assert epsilon == math.inf
    else:
        assert loss.delta(epsilon) <= delta + 1e-15
        assert epsilon == 0 or loss.delta(epsilon * (1 - 1e-9)) >= delta - 1e-12


def test_what_was_not_tabulated_counts_as_given_away() -> None:
    loss = PrivacyLoss(np.array([1.0]), np.array([0.9]), infinite=0.06, beyond=0.04)
    assert loss.floor == pytest.approx(0.1)
    assert loss.delta(0.0) == pytest.approx(0.1 + 0.9 * (1 - math.exp(-1)))


def test_a_small_difference_keeps_its_digits() -> None:
    loss = PrivacyLoss(np.array([1.0]), np.array([1.0]), infinite=0.0)
    assert loss.excess(1 - 1e-12) == pytest.approx(1e-12, rel=1e-3)
    assert loss.excess(math.nextafter(1.0, 0.0)) > 0


def test_a_root_is_returned_from_above() -> None:
    root = falling_root(lambda x: -(x**3), -2.0, 0.0, 5.0)
    assert root**3 >= 2
    assert root == pytest.approx(2 ** (1 / 3), rel=1e-12)
    assert falling_root(lambda x: -x, 1.0, 0.5, 2.0) == 0.5
