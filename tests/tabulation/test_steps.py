"""Sums of one step per axis, against adding them up cell by cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.tabulation import cell_coordinates as steps_module
from discreet.tabulation.cell_coordinates import summed
from tests.each import each
from tests.quick import up_to


@each("worth", [0, 8, 10**6])
@each("kind", [np.uint32, np.uint64])
@settings(max_examples=up_to(60))
@given(st.data())
def test_every_cell_has_the_sum_of_its_steps(kind: type[Any], worth: int, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 6), max_size=4)))
    top = np.iinfo(kind).max
    steps = [np.array([data.draw(st.integers(0, int(top))) for _ in range(size)], dtype=kind) for size in shape]
    every = list(np.ndindex(shape))
    index = np.array(data.draw(st.lists(st.integers(0, len(every) - 1), max_size=10)), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps_module, "MAX_CELL_RATIO", worth)
        found = summed(steps, shape, index, np.dtype(kind))
    assert found.dtype == kind
    # Sums wrap around, as the words of coordinates do.
    expected = [
        sum(int(step[k]) for step, k in zip(steps, every[cell], strict=True)) % (int(top) + 1) for cell in index
    ]
    assert found.tolist() == expected


def test_statistics_of_more_cells_than_32_bits_can_number() -> None:
    shape = (1 << 12, 1 << 12, 1 << 12)
    steps = [np.arange(size, dtype=np.uint64) * np.uint64(3**n) for n, size in enumerate(shape)]
    cell = (4001, 17, 4095)
    index = np.array([np.ravel_multi_index(cell, shape), 0, math.prod(shape) - 1])
    found = summed(steps, shape, index, np.dtype(np.uint64))
    assert found.tolist() == [4001 + 3 * 17 + 9 * 4095, 0, 4095 * (1 + 3 + 9)]
