"""The exact variance of chosen cells."""

from __future__ import annotations

import pytest

from discreet.risk.assess import assess


@pytest.mark.slow
def test_an_eu_topic_whose_categories_end_early_is_known_less_than_the_surrogate_says() -> None:
    found = assess("eu2021:LU", variance=3, bound=5, exact="SEX", measures=["projection"])
    (result,) = found.results
    closed = next(row for row in found.averaging() if row["statistic"] == "SEX")["optimal"]
    assert result.value > closed
    assert result.worst in {"SEX=1 of SEX", "SEX=2 of SEX"}
    assert any("only child" in text for text in result.assumptions)


def test_nothing_is_solved_unless_asked_for() -> None:
    assert assess("eu2021:LU", variance=3, bound=5, measures=["projection"]).results == ()


@pytest.mark.slow
def test_the_figure_in_the_limits_page_is_measured() -> None:
    (result,) = assess("eu2021:LU", variance=3, bound=5, exact="total", measures=["projection"]).results
    assert result.value == pytest.approx(0.0504, abs=5e-5)
