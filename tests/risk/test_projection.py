"""The exact variance of chosen statistics."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError
from discreet.risk.assessment import assess
from tests.programme.small import programme

TOWN = programme([("A", "S"), ("S", "B")], {"A": [2, 6], "B": [3], "S": [2]})


@pytest.mark.slow
def test_an_eu_topic_whose_categories_end_early_is_known_less_than_the_closed_form_says() -> None:
    found = assess("eu2021:LU", variance=3, bound=5, exact=["SEX", "total"], measures=["projection", "averaging"])
    sex, total, averaging, needed = found.results
    closed = next(row for row in found.averaging() if row["statistic"] == "SEX")["optimal"]
    assert sex.value > closed
    assert sex.worst in {"SEX=1 of SEX", "SEX=2 of SEX"}
    # The figure in the page of limits.
    assert total.value == pytest.approx(0.0504, abs=5e-5)
    # The most exposed count of Luxembourg by exact solutions, where the closed form says V = 10.2.
    assert needed.value == pytest.approx(5.92, abs=0.01)
    assert averaging.worst == "AGE.L"


def test_every_statistic_asked_for_is_solved() -> None:
    found = assess(TOWN, variance=3, bound=5, exact=["S1", "B1 S1"], measures=["projection"])
    assert [result.worst for result in found.results] == ["S1=1 of S1", "B1=1 S1=1 of B1 S1"]
    for result in found.results:
        # Blocks are equal here: the closed form is exact.
        row = next(row for row in found.averaging() if row["statistic"] == (result.worst or "").partition(" of ")[2])
        assert result.value == pytest.approx(row["optimal"], rel=1e-9)
        assert row["exact"] == result.value


def test_nothing_is_solved_unless_asked_for() -> None:
    assert assess(TOWN, variance=3, bound=5, measures=["projection"]).results == ()


def test_the_closed_form_solves_nothing() -> None:
    with pytest.raises(ParameterError, match="closed-form"):
        assess(TOWN, variance=3, bound=5, exact="S1", measures=["projection"], closed_form=True)
