"""Hilbert's curve: through every place once, step by step, and near stays near."""

from __future__ import annotations

import numpy as np

from discreet.synthetic.residence import order_of, point
from tests.each import each


@each("order", range(7))
def test_it_goes_through_every_place_once_in_steps_of_one(order: int) -> None:
    x, y = point(np.arange(4**order), order)
    assert sorted(zip(x.tolist(), y.tolist(), strict=True)) == [
        (i, j) for i in range(2**order) for j in range(2**order)
    ]
    assert (abs(np.diff(x)) + abs(np.diff(y)) == 1).all()


def test_what_is_near_along_it_is_near() -> None:
    x, y = point(np.arange(4**8), 8)
    for way in (10, 100, 1000):
        # The curve never gets farther than the square root of 6 times its way.
        assert ((x[way:] - x[:-way]) ** 2 + (y[way:] - y[:-way]) ** 2).max() <= 6 * way


@each("length", [1, 2, 4, 5, 16, 17, 10**8])
def test_the_order_is_the_smallest_that_is_long_enough(length: int) -> None:
    order = order_of(length)
    assert 4**order >= length
    assert order == 0 or 4 ** (order - 1) < length
