"""Sums of one step per axis: what every cell of a statistic gets from its category along each axis, added up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Ints

WORTH_AN_ARRAY = 8
"""A sum over all cells is worth its time if at most this many cells are there for one that is wanted."""


def summed(
    steps: Sequence[NDArray[np.unsignedinteger[Any]]],
    shape: tuple[int, ...],
    index: Ints,
    kind: np.dtype[np.unsignedinteger[Any]],
) -> NDArray[np.unsignedinteger[Any]]:
    """Return the sum of one step per axis at every index: through all cells, or cell by cell if few are wanted."""
    if math.prod(shape) <= WORTH_AN_ARRAY * len(index):
        total = np.zeros(1, dtype=kind)
        for step in steps:
            total = (total[:, None] + step).reshape(-1)
        return total[index]
    total = np.zeros(len(index), dtype=kind)
    for step, place in zip(steps, _positions(shape, index), strict=True):
        total += step[place]
    return total


def _positions(shape: tuple[int, ...], index: Ints) -> list[NDArray[np.integer[Any]]]:
    """Return the position along every axis."""
    found: list[NDArray[np.integer[Any]]] = []
    rest: NDArray[np.integer[Any]] = index.astype(np.uint32) if math.prod(shape) < 1 << 32 else index
    for number in range(len(shape)):
        stride = rest.dtype.type(math.prod(shape[number + 1 :]))
        place = rest // stride
        rest = rest - place * stride
        found.append(place)
    return found
