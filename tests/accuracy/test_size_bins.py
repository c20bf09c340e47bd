"""Bins of sizes, on hand-made sizes and chances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.distortion import BINS, Sides, by_bins

SIZES = np.array([1, 20, 21, 480, 481, 499, 500, 9999])
CHANCES = Sides(np.full(8, 0.1), np.array([0.4, 0.3, 0.2, 0.1, 0.05, 0.04, 0.03, 0.02]))


def test_lines_of_a_hand_made_list() -> None:
    at_limits = np.linspace(0.5, 0.02, BINS)
    seen = np.array([True, False, True, False, False, True, True, False])
    found = by_bins(0.5, SIZES, CHANCES, seen=seen, at_limits=at_limits)
    first, second, *_, before_last, last, rest = found.bins
    assert [(line.first, line.last) for line in (first, second, before_last, last, rest)] == [
        (1, 20),
        (21, 40),
        (461, 480),
        (481, 499),
        (500, None),
    ]
    assert [line.number for line in (first, second, before_last, last, rest)] == [2, 1, 1, 2, 2]
    assert first.expected == pytest.approx(0.5 + 0.4)
    assert first.standard_error == pytest.approx(math.sqrt(0.5 * 0.5 + 0.4 * 0.6))
    assert (first.up, first.down) == pytest.approx((0.2, 0.7))
    assert (first.binned, last.binned) == pytest.approx((1.0, 0.04))
    assert rest.binned is None
    assert (first.sampled, second.sampled, last.sampled, rest.sampled) == (1, 1, 1, 1)
    assert (found.small.number, found.all.number) == (6, 8)
    assert found.small.binned == pytest.approx(2 * 0.5 + at_limits[1] + at_limits[-2] + 2 * 0.02)
    assert (found.small.sampled, found.all.sampled, found.all.binned) == (3, 4, None)
    assert found.all.expected == pytest.approx(CHANCES.either.sum())


def test_nothing_drawn_and_nothing_estimated() -> None:
    found = by_bins(0.5, SIZES, CHANCES)
    assert {line.sampled for line in (*found.bins, found.small, found.all)} == {None}
    assert {line.binned for line in (*found.bins, found.small, found.all)} == {None}


@given(st.lists(st.tuples(st.integers(1, 700), st.floats(0, 0.5), st.floats(0, 0.5)), min_size=1))
def test_bins_add_up(rows: list[tuple[int, float, float]]) -> None:
    sizes, up, down = (np.array(column) for column in zip(*rows, strict=True))
    found = by_bins(1.0, sizes, Sides(up, down))
    for part, whole in ((found.bins[:-1], found.small), (found.bins, found.all)):
        assert sum(line.number for line in part) == whole.number
        assert sum(line.expected for line in part) == pytest.approx(whole.expected)
        assert math.hypot(*(line.standard_error for line in part)) == pytest.approx(whole.standard_error, abs=1e-7)
    for line in found.bins:
        inside = (sizes >= line.first) & (sizes <= (line.last or 10**9))
        assert line.number == inside.sum()
