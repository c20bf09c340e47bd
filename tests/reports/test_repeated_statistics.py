"""How many statistics come back how often."""

from __future__ import annotations

from discreet.programme.programme_files import load_programme
from discreet.programme.summary import SharedStatistic, shared_statistics
from discreet.reports.release_charts import repeated_chart

PROGRAMME = load_programme("eu2021:MT")


def test_classes_double_and_hold_every_statistic_once() -> None:
    shared = [
        SharedStatistic(name, tables, 1) for name, tables in (("SEX", 7), ("AGE.M", 3), ("AGE.L", 2), ("POB.L", 1))
    ]
    chart = repeated_chart(shared, PROGRAMME)
    assert [(bar.name, bar.value) for bar in chart.bars] == [
        ("in one table", 1),
        ("in 2 tables", 1),
        ("in 3 to 4 tables", 1),
        ("in 5 to 7 tables", 1),
    ]
    assert chart.title == "3 of 4 statistics are in two or more tables; sex is in 7"


def test_all_statistics_of_a_programme_are_counted() -> None:
    shared = shared_statistics(PROGRAMME)
    assert sum(bar.value for bar in repeated_chart(shared, PROGRAMME).bars) == len(shared)
