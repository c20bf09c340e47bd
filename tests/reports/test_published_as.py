"""The dot plot of one count: 20 equally likely releases."""

from __future__ import annotations

import pytest

from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.published_counts import published_counts
from discreet.reports.release_charts import dot_plot

PTABLE = PTable.max_entropy(variance=3, bound=5)


@pytest.mark.parametrize("law", [PTABLE, TwoSidedGeometric(epsilon=0.5), PTable.max_entropy(variance=1, bound=3)])
def test_dots_are_the_quantiles_of_the_distribution(law: object) -> None:
    found = published_counts(transition_matrix(law), 12)  # type: ignore[arg-type]
    chart = dot_plot(found)
    assert len(chart.values) == 20
    assert list(chart.values) == sorted(chart.values)
    for value, chance in zip(found.published, found.chances, strict=True):
        # A value of probability p has 20 p dots, up to rounding.
        assert abs(chart.values.count(value) - 20 * chance) <= 1
    low, high = chart.usual
    assert sum(low <= value <= high for value in chart.values) >= 19


def test_the_title_states_the_usual_range() -> None:
    chart = dot_plot(published_counts(transition_matrix(PTABLE), 12))
    assert chart.title == "A count of 12 is published as 9 to 15 in at least 19 of 20 cases"
    assert chart.usual == (9, 15)


def test_without_noise_all_dots_are_the_count() -> None:
    chart = dot_plot(published_counts(transition_matrix(None), 12))
    assert set(chart.values) == {12}
    assert chart.title.startswith("A count of 12 is published as 12 in")
