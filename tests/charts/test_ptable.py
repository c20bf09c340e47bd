"""The data behind the picture of a p-table."""

from __future__ import annotations

import pytest

from discreet.charts.panel_charts import MOST_PANELS, ptable_chart
from discreet.noise.ptable import PTable
from tests.charts.samples import PTABLE, data_of, layers


def test_there_is_a_panel_for_every_row_with_noise() -> None:
    made = PTable.max_entropy(variance=2, bound=5)
    chart = ptable_chart(made)
    assert chart.title == "Counts change by about ±1.4 and at most by 5; zeros stay 0"
    assert [panel.label.split(":")[0] for panel in chart.panels] == [
        "count 1",
        "count 2",
        "count 3",
        "count 4",
        "count 5 and more",
    ]
    for panel, row in zip(chart.panels, made.rows[1:], strict=True):
        assert panel.noise == row.values
        assert panel.probability == pytest.approx(row.probabilities)


def test_a_large_table_shows_its_first_rows_and_its_last() -> None:
    made = PTable.max_entropy(variance=9, bound=40)
    chart = ptable_chart(made)
    assert len(chart.panels) == MOST_PANELS
    assert chart.panels[-1].label.startswith("count 40 and more")


def test_panels_hold_their_probabilities_on_one_scale() -> None:
    spec = PTABLE.spec()
    assert [panel["title"] for panel in spec["concat"]] == [panel.label for panel in PTABLE.panels]
    for panel, data in zip(PTABLE.panels, data_of(spec, "bar"), strict=True):
        assert [(row["noise"], row["probability"]) for row in data] == list(
            zip(panel.noise, panel.probability, strict=True)
        )
    scales = [(layer["encoding"]["x"]["scale"], layer["encoding"]["y"]["scale"]) for layer in layers(spec)]
    assert all(scale == scales[0] for scale in scales)
