"""Declared parameters: one declaration feeds the check, the help and the error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise.parameters import (
    Domain,
    non_negative,
    non_negative_whole,
    parameter,
    parameters,
    positive,
    positive_whole,
    share,
)
from tests.each import each
from tests.noise.laws import LAWS

NO_NUMBERS: list[Any] = [math.nan, math.inf, -math.inf, True, False, None, "1", 1j, [1], np.nan, np.bool_(True)]


@dataclass(frozen=True)
class Example:
    """Two parameters and an ordinary field."""

    width: float = parameter("w", domain=positive, typical=(0.25, 8.0), power=1, meaning="width of it all")
    note: str = ""
    times: int = parameter("t", domain=positive_whole, typical=(1, 3), power=2, meaning="repetitions", default=2)


@each(
    ("domain", "inside", "outside"),
    [
        (
            positive,
            [1e-30, 0.5, 1, 10**12, Fraction(1, 3), np.float64(2.5), np.int32(4)],
            [0, 0.0, -0.0, -1e-300, -1, 1e-31, 1.1e12],
        ),
        (non_negative, [0, 0.0, 1.5, np.float32(0.5)], [-1e-300, -1]),
        (positive_whole, [1, 10**30, np.int64(3), np.uint8(3)], [0, -1, 1.0, 1.5, np.float64(2), Fraction(2)]),
        (non_negative_whole, [0, 7, np.int8(0)], [-1, 0.0, 2.0]),
        (share, [0, 0.0, 0.5, 1 - 2**-53, Fraction(99, 100)], [1, 1.0, -1e-9, 2]),
    ],
    ids=lambda value: value.words if isinstance(value, Domain) else "",
)
def test_domains(domain: Domain, inside: list[Any], outside: list[Any]) -> None:
    assert [value for value in inside if not domain.contains(value)] == []
    assert [value for value in [*outside, *NO_NUMBERS] if domain.contains(value)] == []


def test_parameters_are_the_declared_fields_in_order() -> None:
    assert list(parameters(Example)) == ["width", "times"]


def test_default_is_the_declared_one() -> None:
    assert Example(width=1).times == 2
    with pytest.raises(TypeError, match="width"):
        Example()


def test_help_is_one_line_with_symbol_meaning_domain_and_typical_range() -> None:
    declared = parameters(Example)
    assert declared["width"].help() == "w, width of it all; a positive number (1e-30 to 1e12), typically 0.25 to 8"
    assert declared["times"].help() == "t, repetitions; a positive whole number, typically 1 to 3"


def test_check_names_owner_parameter_domain_value_and_typical_range() -> None:
    declared = parameters(Example)["width"]
    declared.check("Example", "width", 1)
    with pytest.raises(ParameterError) as refusal:
        declared.check("Example", "width", -2)
    assert (
        str(refusal.value)
        == "Example: width must be a positive number (1e-30 to 1e12), not -2. Typical values: 0.25 to 8."
    )
    assert refusal.value.parameter == "width"


@each("kind", LAWS.values(), ids=LAWS)
def test_typical_ranges_lie_inside_the_domain(kind: type) -> None:
    for declared in parameters(kind).values():
        low, high = declared.typical
        assert low < high
        assert declared.domain.contains(low)
        assert declared.domain.contains(high)
