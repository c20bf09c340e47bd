"""The exact variance of chosen statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from discreet.errors import InputError, ParameterError
from discreet.risk.assessment import assess
from tests.programme.small import programme
from tests.tabulation.small_data import by, topic
from tests.tabulation.small_data import programme as coded_programme

if TYPE_CHECKING:
    from discreet.programme.model import Programme

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


def several() -> Programme:
    """Return a table of everybody, and the same of those who have the first sex."""
    area, sex = topic("A", "a1 a2 a3"), topic("S", "s1 s2")
    whole = coded_programme([area, sex], [by(area), by(sex)])
    (first,) = whole.tables
    return replace(whole, tables=(first, replace(first, id="part", universe="S = s1")))


def test_a_statistic_of_several_populations_is_solved_in_each() -> None:
    asked = assess(several(), variance=3, bound=5, exact="A:1", measures=["projection"])
    populations = [(result.worst or "").partition(" of A:1 of ")[2] for result in asked.results]
    assert len(populations) == 2
    for population, result in zip(populations, asked.results, strict=True):
        alone = assess(several(), variance=3, bound=5, exact=f"A:1 of {population}", measures=["projection"])
        assert alone.results == (result,)


def test_a_statistic_that_is_public_has_nothing_to_solve() -> None:
    with pytest.raises(ParameterError, match="total has no cell to solve"):
        assess(TOWN, variance=3, bound=5, exact="total", known="total", measures=["projection"])


@pytest.mark.parametrize("wrong", [{"records": 0}, {"known": "AGEE"}, {"exact": "AGEE"}])
def test_a_mistake_is_refused_before_any_measure_is_taken(
    wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.risk.measures.averaging_of", lambda *_, **__: pytest.fail("work was begun"))
    monkeypatch.setattr("discreet.risk.measures.most_exposed", lambda *_, **__: pytest.fail("work was begun"))
    with pytest.raises(InputError):
        assess(TOWN, variance=3, bound=5, **wrong)
