"""Columns: in their order, with their values; of many only the highest has it written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.charts.bar_charts import DENSE, ChartColumn
from tests.charts.samples import COLUMNS, data_of, labels_of

MANY = replace(COLUMNS, columns=tuple(ChartColumn(str(n), n / 100, f"{n}%") for n in range(DENSE + 5)))


def test_columns_stand_in_their_order() -> None:
    layer = COLUMNS.spec()["layer"][0]
    assert [row["value"] for row in data_of(COLUMNS.spec(), "bar")[0]] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert layer["encoding"]["x"]["sort"] == [column.name for column in COLUMNS.columns]


def test_of_many_the_highest_alone_has_its_value_written() -> None:
    few, many = (labels_of(chart.spec()) for chart in (COLUMNS, MANY))
    assert few == {column.text for column in COLUMNS.columns}
    assert many == {f"{DENSE + 4}%"}


def test_the_alternative_states_the_ends() -> None:
    assert COLUMNS.alternative == "Column chart of shares (6 columns): 0% for 0-9 to 50% for 50-59."
