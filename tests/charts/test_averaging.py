"""The data behind the picture of averaging risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.charts.averaging import MOST_BARS, averaging_chart, draw_averaging
from discreet.risk.assess import assess

if TYPE_CHECKING:
    from pathlib import Path


def test_bars_are_the_most_exposed_statistics(tmp_path: Path) -> None:
    assessment = assess("eu2021:LU", variance=2, bound=5, measures=["averaging"])
    chart = averaging_chart(assessment)
    rows = assessment.averaging()[:MOST_BARS]
    assert chart.statistics == tuple(row["statistic"] for row in rows)
    assert chart.optimal == pytest.approx([row["alpha"] for row in rows])
    assert all(best >= paper for best, paper in zip(chart.optimal, chart.paper, strict=True))
    draw_averaging(assessment, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
