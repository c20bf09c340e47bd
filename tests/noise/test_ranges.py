"""The range in which a count is published, against sums over the law."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise.ptable import PTable
from discreet.noise.published_counts import published_range
from tests.each import each

PTABLE = PTable.max_entropy(variance=3, bound=5)


@given(st.integers(0, 30), st.floats(0.05, 0.999))
def test_it_is_the_shortest_that_holds_as_often_as_asked(count: int, share: float) -> None:
    found = published_range(PTABLE, count, share)
    row = PTABLE.rows[min(count, 5)]

    def chance(low: int, high: int) -> float:
        return sum(p for v, p in zip(row.values, row.probabilities, strict=True) if low <= count + v <= high)

    assert found.probability == pytest.approx(chance(found.low, found.high))
    assert found.probability >= share
    width = found.high - found.low
    assert all(chance(low, low + width - 1) < share for low in range(-1, count + 6))
    assert all(chance(low, low + width) <= found.probability + 1e-12 for low in range(-1, count + 6))


def test_a_village_of_12() -> None:
    assert published_range(PTABLE, 12).result().sentence == (
        "A count of 12 is published as 9 to 15 in at least 19 of 20 cases (0.959)."
    )


def test_an_empty_place_stays_empty() -> None:
    found = published_range(PTABLE, 0)
    assert (found.low, found.high, found.probability) == (0, 0, 1.0)
    assert found.result().sentence == "A count of 0 is published as 0 in at least 19 of 20 cases (1.000)."


@each("share", [0, 1, -0.5, 2])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(ParameterError, match="share must be between 0 and 1"):
        published_range(PTABLE, 12, share)
