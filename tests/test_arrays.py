"""Whole numbers at the door: taken in any shape and type, refused when they are not whole."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.arrays import whole
from discreet.errors import ParameterError
from tests.each import each


@each(
    "values",
    [
        [1, -2, 3],
        (1, -2, 3),
        [1.0, -2.0, 3.0],
        np.array([1, -2, 3], dtype=np.int8),
        np.array([1, -2, 3], dtype=np.float32),
        np.array([1, -2, 3], dtype=object),
        [Fraction(1), Fraction(-2), Fraction(3)],
    ],
    ids=lambda values: type(values).__name__ + str(getattr(values, "dtype", "")),
)
def test_whole_numbers_of_any_type_become_int64(values: Any) -> None:  # noqa: ANN401 - any array-like
    found = whole(values, "counts")
    assert found.dtype == np.int64
    assert found.tolist() == [1, -2, 3]


def test_shape_is_kept() -> None:
    assert whole(7, "x").shape == ()
    assert whole([[1], [2]], "x").shape == (2, 1)
    assert whole([], "x").shape == (0,)


def test_int64_is_passed_on_without_a_copy() -> None:
    values = np.arange(5)
    assert whole(values, "x") is values


def test_the_ends_of_int64_are_taken() -> None:
    ends = [-(2**63), 2**63 - 1]
    assert whole(ends, "x").tolist() == ends
    assert whole(np.array([2**63 - 1], dtype=np.uint64), "x").tolist() == [2**63 - 1]


@each(
    "values",
    [
        [1.5],
        [np.nan],
        [np.inf],
        [2.0**64],
        [2**63],
        [2**70],
        [1, None],
        ["1"],
        [1j],
        [Fraction(1, 2)],
        [{}],
    ],
    ids=repr,
)
def test_what_is_no_whole_number_is_refused_by_name(values: list[Any]) -> None:
    with pytest.raises(ParameterError, match="counts must be whole numbers") as refusal:
        whole(values, "counts")
    assert refusal.value.parameter == "counts"
