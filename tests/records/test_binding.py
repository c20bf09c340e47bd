"""Which column holds which topic: the programme's binding, or a message that says how to bind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from discreet.errors import ColumnError
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import choose_tables
from discreet.records.category_coding import columns_of_topics
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from discreet.programme.model import Programme

AGE = topic("AGE", {"Y": "", "O": "", "Y1": "Y", "Y2": "Y"})
SEX = topic("SEX", "F M")
EMP = topic("EMP", "1 2 3")
TOWN = programme([AGE, SEX, EMP], [by(AGE), by(SEX)], [by(SEX)], universes=[None, "EMP = 1"])


def renamed(spec: Programme, **columns: str) -> Programme:
    """Return a programme with [columns]."""
    return replace(spec, topics={name: replace(t, column=columns.get(name)) for name, t in spec.topics.items()})


def refusal(spec: Programme, *columns: str) -> ColumnError:
    with pytest.raises(ColumnError) as caught:
        columns_of_topics(spec, columns, "census.parquet")
    return caught.value


def test_a_topic_has_the_column_of_its_name_unless_the_programme_binds_another() -> None:
    columns = ("ID", "age_group", "SEX", "EMP", "AGE")
    assert columns_of_topics(TOWN, columns, "census.parquet") == {"AGE": "AGE", "SEX": "SEX", "EMP": "EMP"}
    bound = renamed(TOWN, AGE="age_group", EMP="SEX")
    assert columns_of_topics(bound, columns, "census.parquet") == {"AGE": "age_group", "SEX": "SEX", "EMP": "SEX"}


def test_a_topic_that_only_a_universe_names_is_bound_and_one_that_nobody_uses_is_not() -> None:
    assert columns_of_topics(choose_tables(TOWN, ["2"], None), ("SEX", "EMP"), "census.parquet") == {
        "SEX": "SEX",
        "EMP": "EMP",
    }
    assert columns_of_topics(replace(TOWN, tables=TOWN.tables[:1]), ("AGE", "SEX"), "x") == {"AGE": "AGE", "SEX": "SEX"}


def test_a_topic_of_which_only_the_total_is_shown_needs_no_column() -> None:
    spec = programme([AGE, SEX], [replace(by(AGE), levels=()), by(SEX)])
    assert columns_of_topics(spec, ("SEX",), "census.parquet") == {"SEX": "SEX"}


def test_an_absent_column_is_told_with_its_tables_and_what_looks_close() -> None:
    spec = choose_tables(load_programme("eu2021:LU"), None, "persons")
    # YAT and AGE look close too, but belong to topics of their own.
    columns = ["PERSON_ID", "YEAR_ARR", "YAE_21", *(name for name in spec.topics if name != "YAE")]
    using = [t.id for t in spec.tables if "YAE" in {b.topic for b in t.breakdowns}]
    error = refusal(spec, *columns)
    label = spec.topics["YAE"].labels["en"]
    assert label.startswith("Year of arrival")
    assert len(using) > 3
    assert str(error) == (
        f"census.parquet has no column for topic YAE (y{label[1:]}), used by {len(using)} tables "
        f"({', '.join(using[:3])}, ..). Similar columns: YAE_21. Bind it in the programme with [columns] "
        'YAE = "YAE_21", or exclude those tables with --tables.'
    )
    assert (error.topic, error.column) == ("YAE", "YAE")


def test_where_every_column_belongs_to_another_topic_all_are_shown() -> None:
    assert "Similar columns: AGE." in str(refusal(renamed(TOWN, SEX="AGES"), "AGE", "EMP"))


def test_another_spelling_in_large_or_small_letters_goes_before_what_only_looks_close() -> None:
    error = refusal(TOWN, "SEXY", "sex", "AGE", "EMP")
    assert str(error) == (
        "census.parquet has no column for topic SEX, used by 2 tables (1, 2). Similar columns: sex. Bind it in "
        'the programme with [columns] SEX = "sex", or exclude those tables with --tables.'
    )


def test_a_column_that_the_programme_names_wrongly_is_told_by_its_name() -> None:
    error = refusal(renamed(TOWN, EMP="WORK"), "SEX", "AGE", "q1", "q2")
    assert str(error) == (
        "census.parquet has no column called WORK for topic EMP, used by 1 table (2). Available: q1, q2. "
        'Bind it in the programme with [columns] EMP = "its column", or exclude those tables with --tables.'
    )
    assert (error.topic, error.column) == ("EMP", "WORK")


def test_columns_that_may_be_a_record_are_not_shown() -> None:
    # A CSV file without a header line: its first record was taken for names.
    error = refusal(TOWN, "canary", "44", "SEXY")
    assert "canary" not in str(error)
    assert "SEXY" not in str(error)
    assert "Add a header line to the data." in str(error)
