"""The success of attacks, achieved and predicted."""

from __future__ import annotations

from discreet.attacks.scoring import ClassScore, Rate
from discreet.reports.release_charts import Achieved, achieved_chart


def score(cells: int, right: int, predicted: float | None, naive: int | None) -> ClassScore:
    return ClassScore("all", Rate(right, cells, cells, cells), None, 0.5, naive, 0, predicted)


FOUND = (
    Achieved("margins", "small counts", score(50, 10, 0.25, None)),
    Achieved("projection", "counts", score(1000, 400, None, 100)),
)


def test_the_most_successful_attack_comes_first() -> None:
    chart = achieved_chart(FOUND)
    assert [(bar.name, bar.value, bar.other) for bar in chart.bars] == [
        ("projection (n = 1,000 counts)", 0.4, None),
        ("margins (n = 50 small counts)", 0.2, 0.25),
    ]
    assert chart.title == "The attack projection recovers 40.0 % of 1,000 counts exactly; without an attack 10.0 %"
    assert chart.other_label == "predicted"


def test_a_rate_of_few_cases_has_an_interval() -> None:
    few, many = (bar.text for bar in achieved_chart(FOUND).bars[::-1])
    assert few == "11-33 %"
    assert many == "40.0 %"
    assert FOUND[0].rate == "20.0 % (95 % interval 11.2 % to 33.0 %)"
    assert FOUND[1].rate == "40.0 %"


def test_without_predictions_there_are_no_dots() -> None:
    assert achieved_chart(FOUND[1:]).other_label == ""
