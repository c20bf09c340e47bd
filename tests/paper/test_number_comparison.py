"""A number agrees within half a unit of the last printed digit, and no further."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.paper.number_comparison import (
    FORMULA,
    NOT_COMPUTED,
    PROGRAMME,
    READING,
    NumberComparison,
    number,
    rounds_to,
)
from discreet.paper.published_numbers import PUBLISHED

EDGES = [
    ("2.8e7", 2.75e7, 2.85e7),
    ("7.1e5", 7.05e5, 7.15e5),
    ("0.0867", 0.08665, 0.08675),
    ("0.0170", 0.01695, 0.01705),
    ("68 %", 67.5, 68.5),
    ("0.27", 0.265, 0.275),
    ("2775", 2774.5, 2775.5),
    ("2 to 3", 1.5, 3.5),
    ("O(10^-7)", 10**-7.5, 10**-6.5),
    ("O(10^3)", 10**2.5, 10**3.5),
]


@pytest.mark.parametrize(("published", "low", "high"), EDGES)
def test_the_edges_of_what_is_printed(published: str, low: float, high: float) -> None:
    hair = 1e-6 * (high - low)
    assert rounds_to(low + hair, published)
    assert rounds_to(high - hair, published)
    assert not rounds_to(low - hair, published)
    assert not rounds_to(high + hair, published)


@given(
    digits=st.integers(1, 9999),
    decimals=st.integers(0, 4),
    power=st.integers(-12, 12),
    share=st.floats(-0.499, 0.499),
    beyond=st.floats(0.501, 50),
)
def test_whatever_rounds_to_the_print_agrees_and_nothing_else(
    digits: int, decimals: int, power: int, share: float, beyond: float
) -> None:
    printed = f"{digits / 10**decimals:.{decimals}f}e{power}"
    unit = 10.0 ** (power - decimals)
    value = digits * unit
    assert rounds_to(value + share * unit, printed)
    assert not rounds_to(value + beyond * unit, printed)
    assert not rounds_to(value - beyond * unit, printed)


def test_a_fraction_is_exact() -> None:
    assert rounds_to(9 / 16, "9/16")
    assert not rounds_to(0.5624, "9/16")


@pytest.mark.parametrize("published", ["-exp(eps E)", "-7, 257, -58, ..", "", "nan"])
def test_what_is_no_number_agrees_with_nothing(published: str) -> None:
    assert not rounds_to(1.0, published)


def test_an_order_of_magnitude_is_of_positive_numbers() -> None:
    assert not rounds_to(0.0, "O(10^0)")
    assert not rounds_to(-1.0, "O(10^0)")


def test_what_cannot_be_computed_does_not_agree() -> None:
    found = number("grid-tuples", None, "why")
    assert found.basis == NOT_COMPUTED
    assert not found.agrees
    assert found.to_json()["ours"] is None


def test_a_variant_stands_behind_the_name() -> None:
    found = number("tuples", 2.8e7, variant="flat")
    assert found.id == "tuples/flat"
    assert (found.where, found.published) == (PUBLISHED["tuples"].where, "2.8e7")
    assert found.agrees


def test_a_reading_is_counted_as_one_whatever_ours_rests_on() -> None:
    for basis in (FORMULA, PROGRAMME):
        found = number("uniform-variance", 10.0, "at E = 5", basis=basis)
        assert (found.published, found.read_as, found.kind) == ("E (E + 1) / 3", "10", READING)
        assert found.agrees
        assert found.note == 'our reading of "maximum variance V = E (E + 1) / 3" as 10: at E = 5'
    assert not number("uniform-variance", 11.0).agrees
    assert number("residents-of-graden", None, "why").kind == NOT_COMPUTED


def test_what_is_printed_in_percent_has_ours_in_percent() -> None:
    assert number("us-share", 11.25).unit == "%"
    assert number("uniform-variance", 10.0).unit == ""


def test_json_has_no_infinity() -> None:
    found = NumberComparison("a", "b", "1", math.inf, "", "bound")
    assert found.to_json() == {"id": "a", "where": "b", "published": "1", "ours": None, "agrees": False, "note": ""}
