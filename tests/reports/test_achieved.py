"""What attacks achieved, beside what was predicted."""

from __future__ import annotations

from discreet.reports.release_charts import Achieved, achieved_chart

FOUND = (
    Achieved("margins", "small counts", 100, 0.2, 0.25, None),
    Achieved("projection", "counts", 1000, 0.4, None, 0.1),
)


def test_that_which_names_most_comes_first() -> None:
    chart = achieved_chart(FOUND)
    assert [(bar.name, bar.value, bar.other) for bar in chart.bars] == [
        ("projection (1,000 counts)", 0.4, None),
        ("margins (100 small counts)", 0.2, 0.25),
    ]
    assert chart.title == "The attack projection names 40% of 1,000 counts exactly; without any attack it is 10%"
    assert chart.other_label == "predicted"


def test_without_predictions_there_are_no_dots() -> None:
    assert achieved_chart(FOUND[1:]).other_label == ""
