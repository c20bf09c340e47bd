"""The data behind the picture of averaging risk."""

from __future__ import annotations

import pytest

from discreet.charts.averaging import LONGEST, MOST_BARS, averaging_chart, averaging_picture, exposed
from discreet.programme.words import statistic_words
from discreet.risk.assess import Assessment, assess


@pytest.fixture(scope="module")
def assessment() -> Assessment:
    return assess("eu2021:LU", variance=2, bound=5, measures=["averaging"])


def test_bars_are_the_most_exposed_statistics(assessment: Assessment) -> None:
    chart, rows = averaging_chart(assessment), assessment.averaging()[:MOST_BARS]
    assert chart.statistics == tuple(statistic_words(assessment.case.programme, row["statistic"]) for row in rows)
    assert chart.optimal == pytest.approx([row["alpha"] for row in rows])
    assert all(best >= paper for best, paper in zip(chart.optimal, chart.paper, strict=True))
    assert chart.statistics[0] in chart.title


def test_the_error_is_that_of_the_best_combination(assessment: Assessment) -> None:
    for row, expected in zip(exposed(assessment, 5), assessment.averaging(), strict=False):
        assert row.error**2 == pytest.approx(2 * expected["optimal"])
        assert row.ways == expected["t"]


def test_the_picture_shows_names_and_shares(assessment: Assessment) -> None:
    chart, picture = averaging_chart(assessment), averaging_picture(assessment)
    assert picture.title == chart.title
    for name, share in zip(chart.statistics, chart.optimal, strict=True):
        assert f">{name}</text>" in picture.svg or f">{name[: LONGEST - 2]} ..</text>" in picture.svg
        assert f"{name}: {share:.0%}" in picture.alternative
    assert "to be held to 68%" in picture.svg
