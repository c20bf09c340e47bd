"""The same noise with another bound."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks.attacker_view import noise_from_record
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.rival_noise import rival
from discreet.noise.truncated import TruncatedLaplace
from discreet.release.record import Record
from tests.each import each

if TYPE_CHECKING:
    from discreet.noise.distribution import Noise

STAY: dict[str, Any] = {"variance": 2, "bound": 5, "stay": 0.6}


def moments(law: Noise | None) -> tuple[float, float]:
    assert law is not None
    x = np.arange(-int(law.bound), int(law.bound) + 1)
    mean = law.pmf(x) @ x
    return float(mean), float(law.pmf(x) @ (x - mean) ** 2)


def of_unknown_origin(ptable: PTable) -> PTable:
    return replace(ptable, settings=None)


def test_maximum_entropy_noise_keeps_its_variance_and_its_form() -> None:
    x = np.arange(-6, 7)
    expected = MaxEntropy(variance=3, bound=6).pmf(x)
    for source in (MaxEntropy(variance=3, bound=5), PTable.max_entropy(variance=3, bound=5, threshold=1)):
        found = rival(source, 6)
        assert found is not None
        assert found.pmf(x) == pytest.approx(expected, rel=1e-9)


@each("bound", [3, 4, 6, 9])
def test_a_row_of_unknown_origin_is_continued_as_it_falls(bound: int) -> None:
    # A Gaussian form continues as a Gaussian form, and of one variance and bound there is one.
    found = rival(of_unknown_origin(PTable.max_entropy(variance=2, bound=5)), bound)
    x = np.arange(-bound, bound + 1)
    assert found is not None
    assert found.pmf(x) == pytest.approx(MaxEntropy(variance=2, bound=bound).pmf(x), rel=1e-6)


@pytest.mark.parametrize("bound", [4, 6, 7])
def test_a_solved_table_keeps_its_constraints(bound: int) -> None:
    found = rival(PTable.max_entropy(**STAY), bound)
    assert isinstance(found, PTableRow)
    assert moments(found) == pytest.approx((0, 2), abs=1e-9)
    assert found.pmf(0) == pytest.approx(0.6, rel=1e-9)
    # Maximum entropy under these constraints: the logarithm is quadratic away from 0, its third difference is 0.
    assert np.diff(np.log(found.pmf(np.arange(1, bound + 1))), 3) == pytest.approx(0, abs=1e-6)
    assert set(found.values) == set(range(-bound, bound + 1))


def test_every_change_of_a_solved_table_keeps_its_floor() -> None:
    found = rival(PTable.max_entropy(variance=1, bound=5, floor=1e-3), 6)
    assert found is not None
    assert found.pmf([-6, 6]) == pytest.approx(1e-3)


@pytest.mark.parametrize(
    "row",
    [
        PTableRow(5, (-2, -1, 0, 1, 2, 3), (0.1, 0.2, 0.2, 0.3, 0.15, 0.05)),
        PTableRow(5, (-3, -1, 0, 2), (0.1, 0.4, 0.2, 0.3)),
        PTableRow(1, (-1, 1), (0.5, 0.5)),
    ],
)
def test_any_row_keeps_mean_and_variance_and_gains_what_lies_beyond(row: PTableRow) -> None:
    found = rival(PTable((row,)), row.bound + 1)
    assert isinstance(found, PTableRow)
    assert moments(found) == pytest.approx(moments(row), rel=1e-9)
    assert found.bound == row.bound + 1
    # An exponential of a quadratic function is all by which it departs from the row it continues.
    tilt = np.log(found.pmf(row.values) / np.array(row.probabilities))
    quadratic = np.polynomial.polynomial.Polynomial.fit(row.values, tilt, min(2, len(row.values) - 1))
    assert quadratic(np.array(row.values)) == pytest.approx(tilt, abs=1e-7)


def test_a_table_by_count_and_what_an_attacker_knows_have_the_same_rival() -> None:
    ptable = PTable.max_entropy(**STAY)
    expected = rival(ptable, 6)
    x = np.arange(-6, 7)
    assert expected is not None
    for source in (transition_matrix(ptable), noise_from_record(Record(programme="eu2021:LU", parameters=STAY))):
        found = rival(source, 6)
        assert found is not None
        assert found.pmf(x) == pytest.approx(expected.pmf(x), rel=1e-12)


def test_rows_that_take_turns_have_the_rival_of_their_mean() -> None:
    wide = TruncatedLaplace(epsilon=0.5, bound=4)
    x = tuple(range(-4, 5))
    rows = tuple(PTableRow(count, x, tuple(wide.pmf(x).tolist())) for count in range(3))
    for source in (PTable(rows, repeat=2), transition_matrix(PTable(rows, repeat=2)), wide):
        found = rival(source, 5)
        assert found is not None
        assert moments(found) == pytest.approx(moments(wide), abs=1e-9)


@each(
    ("source", "bound"),
    [
        # No law within ±1 has variance 3; no solved table with a stay of 0.6 has variance 2 within ±2.
        (PTable.max_entropy(variance=3, bound=5), 1),
        (PTable.max_entropy(**STAY), 2),
        # Rounding has no noise to widen.
        (PTable((PTableRow(0, (2,), (1.0,)),)), 3),
        (transition_matrix(None), 1),
        (TwoSidedGeometric(epsilon=0.5), 6),
    ],
)
def test_noise_that_no_such_bound_allows_has_no_rival(source: PTable, bound: int) -> None:
    assert rival(source, bound) is None
