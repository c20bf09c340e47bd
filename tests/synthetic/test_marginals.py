"""Shares and targets: near shares agree, distant ones do not, and small samples prove little."""

from __future__ import annotations

import math

import pytest

from discreet.synthetic.marginal_check import CHANCE, LEEWAY, Marginal, Share
from tests.each import each


@each(
    ("seen", "among", "target", "agrees"),
    [
        (500, 1000, 0.5, True),
        (70_000, 100_000, 0.7 / 1.3, False),
        (13_000, 100_000, 0.1, False),
        (10_400, 100_000, 0.1, True),
        (3, 10, 0.1, True),
        (0, 10, 0.0, True),
        (1, 10, 0.0, False),
        (0, 0, 0.4, True),
        (10, 10, 1.0, True),
    ],
)
def test_near_agrees_and_far_does_not(seen: int, among: int, target: float, agrees: bool) -> None:
    assert Share("some", seen, among, target).agrees is agrees


def test_farness_is_the_equation() -> None:
    allowed = LEEWAY * 0.2 + CHANCE * math.sqrt(0.2 * 0.8 / 900)
    assert Share("some", 270, 900, 0.2).relative_deviation == pytest.approx(0.1 / allowed)


def test_a_marginal_is_as_good_as_its_farthest_share() -> None:
    near, far = Share("near", 50_100, 100_000, 0.5), Share("far", 40_000, 100_000, 0.3)
    assert Marginal("good", (near,)).agrees
    bad = Marginal("bad", (near, far))
    assert not bad.agrees
    assert bad.farthest is far
    assert str(bad) == "bad: 2 shares do NOT agree; farthest: far 40.00%, target 30.00%"
