"""The picture of a village: the law of one count."""

from __future__ import annotations

import pytest

from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.published_counts import published_counts
from discreet.reports.release_charts import village_chart

PTABLE = PTable.max_entropy(variance=3, bound=5)


def test_columns_are_the_row_of_the_ptable() -> None:
    chart = village_chart(published_counts(transition_matrix(PTABLE), 12))
    assert [int(column.name) for column in chart.columns] == list(range(7, 18))
    assert [column.value for column in chart.columns] == pytest.approx(PTABLE.rows[-1].probabilities)
    assert [column.name for column in chart.columns if column.is_marked] == [str(n) for n in range(9, 16)]
    assert chart.title == "A village of 12 people is published as 9 to 15 in at least 19 of 20 cases (0.959)"
    assert chart.columns[0].told == "<1"


def test_a_law_without_a_bound_is_cut_where_it_is_rare() -> None:
    chart = village_chart(published_counts(transition_matrix(TwoSidedGeometric(epsilon=0.5)), 12))
    assert 0.99 < sum(column.value for column in chart.columns) < 1
    assert min(column.value for column in chart.columns) >= 1e-4


def test_without_noise_there_is_one_column() -> None:
    chart = village_chart(published_counts(transition_matrix(None), 12))
    assert [(column.name, column.value) for column in chart.columns] == [("12", 1.0)]
    assert chart.title.startswith("A village of 12 people is published as 12 in")
