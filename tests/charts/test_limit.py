from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.charts.samples import LIMIT as CURVE
from tests.charts.samples import ONE_LIMIT as LINE

if TYPE_CHECKING:
    from discreet.charts.constraint_charts import LimitChart


def test_the_alternative_states_the_limits() -> None:
    assert CURVE.alternative == (
        "Constraint V <= E (E + 1) / 3 on the variance V: at most 0.667 at bound 1 to 4 at bound 3."
    )
    assert LINE.alternative.endswith("on the epsilon: at least 0.25.")


@pytest.mark.parametrize("chart", [CURVE, LINE])
def test_the_specification_holds_the_data_and_the_formula(chart: LimitChart) -> None:
    import altair as alt

    spec = chart.spec()
    alt.LayerChart.from_dict({key: value for key, value in spec.items() if key != "autosize"})
    text = str(spec)
    assert chart.formula in text
    for _, limit in chart.limits:
        assert repr(limit) in text
    assert spec["description"] == chart.alternative


def first_layer(chart: LimitChart) -> list[dict[str, float]]:
    spec = chart.spec()
    found: list[dict[str, float]] = spec["datasets"][spec["layer"][0]["data"]["name"]]
    return found


def test_the_area_is_on_the_side_that_is_allowed() -> None:
    assert {row["end"] for row in first_layer(CURVE)} == {0.0}
    above = first_layer(LINE)
    assert above[0]["end"] == LINE.top > above[0]["value"]
