"""The map of redundancy: for two topics the statistic that comes back most often."""

from __future__ import annotations

from discreet.charts.topic_matrix import MOST, crossed_chart
from discreet.programme.programme_files import load_programme
from discreet.programme.summary import SharedStatistic, shared_statistics, topic_words

PROGRAMME = load_programme("eu2021:MT")
SHARED = shared_statistics(PROGRAMME)


def topics(statistic: str) -> set[str]:
    return {part.partition(".")[0].partition(":")[0] for part in statistic.split()}


def test_every_field_is_the_largest_of_its_topics() -> None:
    chart = crossed_chart(SHARED, PROGRAMME)
    assert chart
    assert len(chart.topics) == MOST
    codes = {topic_words(topic): name for name, topic in PROGRAMME.topics.items()}
    assert len(set(chart.topics) & set(codes)) > MOST / 2
    for each in chart.crossings:
        wanted = {codes.get(each.row, each.row), codes.get(each.column, each.column)}
        assert each.tables == max(s.tables for s in SHARED if s.name != "total" and topics(s.name) == wanted)


def test_topics_in_most_tables_come_first_and_the_map_is_symmetric() -> None:
    chart = crossed_chart(SHARED, PROGRAMME)
    assert chart
    fields = {(each.row, each.column): each.tables for each in chart.crossings}
    alone = [fields[topic, topic] for topic in chart.topics]
    assert alone == sorted(alone, reverse=True)
    assert all(fields[column, row] == tables for (row, column), tables in fields.items())


def test_the_message_is_the_crossing_that_comes_back_most_often() -> None:
    chart = crossed_chart(SHARED, PROGRAMME)
    assert chart
    most = max((each for each in chart.crossings if each.row != each.column), key=lambda each: each.tables)
    assert chart.title == f"The most repeated crossing of two topics, {most.statistic}, is in {most.tables} tables"


def test_without_topics_there_is_no_map() -> None:
    assert crossed_chart([SharedStatistic("total", 3, 1)], PROGRAMME) is None


def test_without_crossings_there_is_no_map() -> None:
    assert crossed_chart([SharedStatistic("total", 3, 1), SharedStatistic("SEX", 2, 2)], PROGRAMME) is None


def test_crossings_that_are_in_one_table_do_not_come_back() -> None:
    shared = [
        SharedStatistic("total", 2, 1),
        SharedStatistic("SEX", 2, 2),
        SharedStatistic("AGE.M SEX", 1, 6),
        SharedStatistic("AGE.M", 1, 3),
    ]
    chart = crossed_chart(shared, PROGRAMME)
    assert chart
    assert chart.title == "Every statistic of two topics is in one table only"
