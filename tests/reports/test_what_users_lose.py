"""What users lose, drawn from what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accuracy.additivity import Additivity, TableGaps
from discreet.accuracy.area_counts import AreaCounts
from discreet.accuracy.cell_errors import by_size
from discreet.accuracy.count_pairs import pair_times
from discreet.accuracy.small_areas import small_areas
from discreet.accuracy.true_count_intervals import interval_result, likely_intervals, small_counts
from discreet.noise.by_count import transition_matrix
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.reports.release_charts import (
    MOST_PUBLISHED,
    MOST_TABLES,
    by_size_chart,
    gaps_chart,
    intervals_chart,
    small_areas_chart,
)

LAW = transition_matrix(PTable.max_entropy(variance=3, bound=5))


def test_errors_by_size_are_those_of_the_classes() -> None:
    found = by_size(pair_times([1, 1, 10, 10, 300], [2, 1, 13, 12, 300]))
    chart = by_size_chart(found)
    assert chart
    assert [(column.name, column.value) for column in chart.columns] == [("1-2", 0.5), ("10-49", 0.5), ("250+", 0.0)]
    assert chart.title == "Counts of 1 to 2 are more than 20 % off in 50.0 % of cells, counts of 250 or more in 0.0 %"


def test_rates_of_few_cells_have_an_interval() -> None:
    chart = by_size_chart(by_size(pair_times([1, 1] + [10] * 200, [2, 1] + [13] * 200)))
    assert chart
    assert [column.text for column in chart.columns] == ["9-91 %", "100.0 %"]
    assert "(n = 2, 200)" in chart.across


def test_without_large_errors_there_is_no_chart() -> None:
    assert by_size_chart(by_size(pair_times([10, 300], [10, 301]))) is None


def test_empty_cells_alone_have_no_errors_by_size() -> None:
    assert by_size_chart(by_size(pair_times([0, 0], [1, 0]))) is None


def test_shares_of_small_areas_are_those_expected() -> None:
    total = np.array([5, 15, 30, 700])
    areas = AreaCounts(("a", "b", "c", "d"), None, None, total, ("a", "b", "c", "d"), source="areas")
    found = small_areas(areas, LAW)
    chart = small_areas_chart(found)
    assert chart
    lines = [line for line in found.single[0].bins if line.number and line.last]
    assert [column.value for column in chart.columns] == pytest.approx([line.expected / line.number for line in lines])
    assert [column.name for column in chart.columns] == ["1-20", "21-40"]


def test_tables_with_most_totals_apart_come_first() -> None:
    tables = [TableGaps(str(n), 100, n, 1.5, 3, "") for n in range(20)]
    chart = gaps_chart(Additivity((*tables, TableGaps("none", 0, 0, 0.0, 0, ""))))
    assert chart
    assert [bar.value for bar in chart.bars] == pytest.approx([n / 100 for n in range(19, 19 - MOST_TABLES, -1)])
    assert "19.0 % in table 19" in chart.title
    assert gaps_chart(Additivity((TableGaps("none", 0, 0, 0.0, 0, ""),))) is None


@pytest.mark.parametrize("law", [LAW, transition_matrix(TwoSidedGeometric(epsilon=0.7))])
def test_intervals_are_those_of_every_published_count(law: object) -> None:
    found = transition_matrix(law)  # type: ignore[arg-type]
    chart = intervals_chart(small_counts(found, most=50), interval_result(found, 12))
    published = [each.published for each in chart.ranges if each.published >= 0]
    assert published == list(range(MOST_PUBLISHED + 1))
    wanted = likely_intervals(found, published)
    assert [(each.low, each.high) for each in chart.ranges if each.published >= 0] == list(
        zip(wanted.lower.tolist(), wanted.upper.tolist(), strict=True)
    )
    assert [each.published for each in chart.ranges if each.is_marked] == [12]
    assert chart.title.startswith("A published 12 has a true count of")
