"""Areas: what is refused and by which name, and sexes that are drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accuracy.area_counts import AreaCounts, AreasError, with_sexes, with_simulated_sexes
from discreet.errors import InputError, ParameterError

CODES, NAMES = ["A1", "A2", "A3"], ["Alt", "Neu", ""]


def made(**changes: object) -> AreaCounts:
    columns: dict[str, Any] = {"female": [3, 0, 5], "male": [4, 0, 6], "names": NAMES, "source": "towns"}
    return with_sexes(**{"codes": CODES, **columns, **changes})


def test_counts_in_three_rows() -> None:
    areas = made()
    assert areas.counts.tolist() == [[3, 0, 5], [4, 0, 6], [7, 0, 11]]
    assert (len(areas), areas.unpopulated, areas.simulated) == (3, 1, False)
    assert (areas.title(0), areas.title(2)) == ("A1 (Alt)", "A3")


def test_totals_alone() -> None:
    areas = AreaCounts(("a", "b"), None, None, np.array([5, 0]))
    assert (areas.sexes, areas.has_sexes, areas.counts.tolist()) == (("total",), False, [[5, 0]])
    assert areas.populated.codes == ("a",)


def test_areas_without_residents_are_legitimate_and_can_be_left_out() -> None:
    there = made().populated
    assert (there.codes, there.names, there.total.tolist()) == (("A1", "A3"), ("Alt", ""), [7, 11])


def test_some_countries() -> None:
    assert made(countries=["X", "Y", "X"]).of_countries(["X"]).codes == ("A1", "A3")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"female": [3, None, 5]},
            r"^towns, record 2: area A2 \(Neu\) has no number of women\. Add it \(0 for an empty area\)",
        ),
        ({"male": [4.0, math.nan, 6.0]}, r"record 2: area A2 \(Neu\) has no number of men"),
        ({"total": [7, 0, None]}, r"record 3: area A3 has no population"),
        ({"female": [3, 0.5, 5]}, r"record 2: area A2 \(Neu\) has a number of women that is not a whole number"),
        ({"female": [3, -8, 5]}, r"record 2: area A2 \(Neu\) has a negative count"),
        ({"total": [7, 0, 12]}, r"record 3: area A3 has women and men that do not sum to its total"),
        ({"codes": ["A1", "A2", "A1"]}, r"record 3: area A1 already occurs in record 1"),
    ],
)
def test_the_first_area_that_is_wrong_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(AreasError, match=message) as error:
        made(**changes)
    assert error.value.record == int(message.partition("record ")[2][0])


def test_no_count_is_shown() -> None:
    with pytest.raises(AreasError) as error:
        made(total=[7, 0, 98765])
    assert "98765" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"female": [0, 0, 0], "male": [0, 0, 0]}, "towns: all areas are empty"),
        ({"female": [1, 2]}, "towns: 3 codes, but 2 values of number of women"),
        ({"names": ["Alt"]}, "3 codes, but 1 values of names"),
        ({"female": ["many", 1, 2]}, "towns: each number of women must be a whole number, not text"),
    ],
)
def test_what_is_wrong_with_all_areas(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(**changes)


def test_simulated_sexes_are_marked_and_come_out_the_same_again() -> None:
    one, two, other = (with_simulated_sexes(CODES, NAMES, [100, 0, 1000], seed) for seed in (7, 7, 8))
    assert one.simulated
    assert "probability 0.5" in one.notes[0]
    assert "seed 7" in one.notes[0]
    assert one.counts[0].tolist() == two.counts[0].tolist() != other.counts[0].tolist()
    assert one.total.tolist() == [100, 0, 1000]


def test_simulated_sexes_have_the_share_that_was_asked_for() -> None:
    total = np.full(10_000, 50)
    codes = [str(n) for n in range(len(total))]
    found = with_simulated_sexes(codes, [], total, female_share=0.4).counts[0].sum()
    error = math.sqrt(total.sum() * 0.4 * 0.6)
    assert abs(found - 0.4 * total.sum()) < 4 * error
    assert abs(found - 0.4 * 1.3 * total.sum()) > 4 * error


def test_simulated_sexes_refuse_the_same() -> None:
    with pytest.raises(AreasError, match=r"record 2: area A2 \(Neu\) has no population"):
        with_simulated_sexes(CODES, NAMES, [1, None, 3])
    with pytest.raises(AreasError, match=r"record 2: area A2 \(Neu\) has a negative count"):
        with_simulated_sexes(CODES, NAMES, [1, -2, 3])
    with pytest.raises(ParameterError, match="female_share must be from 0 to 1, not 2"):
        with_simulated_sexes(CODES, NAMES, [1, 2, 3], female_share=2)


@given(st.lists(st.integers(0, 10**9), min_size=1).filter(any), st.integers(0, 99), st.floats(0, 1))
def test_simulated_sexes_always_add_up(total: list[int], seed: int, share: float) -> None:
    areas = with_simulated_sexes([str(n) for n in range(len(total))], [], total, seed, female_share=share)
    assert areas.counts[:2].sum(axis=0).tolist() == total
    assert areas.counts.min() >= 0
