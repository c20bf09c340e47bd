"""The law that fits what a release tells: its size, and a bound where one is told."""

from __future__ import annotations

import pytest

from discreet.noise.ptable import PTable
from discreet.release.record import Record
from discreet.release.told import told_law


def test_within_a_bound_it_has_the_size_that_is_told() -> None:
    law = told_law(Record(programme="x", parameters={"variance": 2, "bound": 5}).public())
    # A bound of 5 is told as not more than about 10, the size to one decimal.
    assert law.bound == 9
    assert law.variance == pytest.approx(1.4**2)
    assert law.laws == tuple(
        pytest.approx(row.pmf(range(-9, 10))) for row in PTable.max_entropy(variance=1.4**2, bound=9).rows
    )


def test_without_a_bound_it_is_geometric() -> None:
    law = told_law({"typical_noise": 3.0, "negative": "..."})
    assert law.variance == pytest.approx(9)
    assert law.bound == float("inf")
    assert law.non_negative


@pytest.mark.parametrize("bound", [None, 5])
def test_noise_on_empty_cells_is_told(bound: int | None) -> None:
    parameters = {"epsilon": 0.5} if bound is None else {"variance": 2, "bound": bound, "perturb_zeros": True}
    law = "geometric" if bound is None else "max-entropy"
    record = Record(programme="x", law=law, parameters=parameters, perturb_zeros=bound is None)
    assert told_law(record.public()).zeros_are_noisy
    still = Record(programme="x", parameters={"variance": 2, "bound": 5}).public()
    assert "zeros" not in still
    assert not told_law(still).zeros_are_noisy


def test_no_noise_is_told_by_no_size() -> None:
    assert told_law({"method": "none"}).variance == 0
