"""The data behind the picture of redundancy."""

from __future__ import annotations

from discreet.charts.redundancy import redundancy_chart, redundancy_picture
from discreet.programme.load import load_programme
from discreet.programme.summary import SharedStatistic, shared_statistics

LU = load_programme("eu2021:LU")


def test_statistics_are_counted_by_their_tables() -> None:
    shared = [SharedStatistic("total" if n == 9 else "SEX", n, 1) for n in (9, 8, 5, 4, 3, 2, 2, 1, 1, 1)]
    chart = redundancy_chart(shared, LU)
    assert chart.classes == ("1", "2", "3 to 4", "5 to 8", "9")
    assert chart.statistics == (3, 2, 2, 2, 1)
    assert chart.title == "7 of 10 statistics are in two tables or more, and the total is in 9"


def test_nothing_comes_back() -> None:
    chart = redundancy_chart([SharedStatistic("SEX", 1, 2)], LU)
    assert (chart.classes, chart.statistics) == (("1",), (1,))


def test_every_statistic_of_a_programme_is_in_one_class() -> None:
    shared = shared_statistics(LU)
    chart, picture = redundancy_chart(shared, LU), redundancy_picture(shared, LU)
    assert sum(chart.statistics) == len(shared)
    assert chart.title == picture.title
    for tables, number in zip(chart.classes, chart.statistics, strict=True):
        assert f">{tables}</text>" in picture.svg
        assert f">{number:,}</text>" in picture.svg
    assert "1 table: 1,649; 2 tables: 220;" in picture.alternative
