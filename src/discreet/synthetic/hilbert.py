"""Hilbert's curve: it fills a square and keeps near what is near along it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.arrays import Ints


def order_of(length: int) -> int:
    """Return the order of the shortest curve of at least this length; order n runs through 4^n places.

    >>> order_of(16), order_of(17)
    (2, 3)
    """
    return max(0, -(-(length - 1).bit_length() // 2))


def point(place: Ints, order: int) -> tuple[Ints, Ints]:
    """Return the column and row of places on the curve of an order, from square to square.

    Two bits of the place say in which quarter of a square it lies. Within the first and the last quarter the curve is
    mirrored on a diagonal, the other one in the last.

    >>> [part.tolist() for part in point(np.arange(4), 1)]
    [[0, 0, 1, 1], [0, 1, 1, 0]]
    """
    x, y = np.zeros_like(place), np.zeros_like(place)
    for level in range(order):
        side = 1 << level
        quarter = (place >> (2 * level)) & 3
        right, up = quarter >> 1, (quarter ^ (quarter >> 1)) & 1
        last = quarter == 3
        x, y = np.where(last, side - 1 - x, x), np.where(last, side - 1 - y, y)
        swapped = up == 0
        x, y = np.where(swapped, y, x) + side * right, np.where(swapped, x, y) + side * up
    return x, y
