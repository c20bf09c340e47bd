"""Bars: their lengths, the values beside them, and what they are held against."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from discreet.charts.bar_charts import ACROSS, Bar, named_lines
from discreet.charts.chart import MEETS, MISSES
from tests.charts.samples import BARS, data_of, layers
from tests.quick import rows_in


def test_bars_are_as_long_as_their_values() -> None:
    (data,) = data_of(BARS.spec(), "bar")
    assert [(row["name"], row["value"], row["text"], row["colour"]) for row in data] == [
        ("a < b", 0.9, "90 %", MISSES),
        ("c", 0.25, "25 %", MEETS),
    ]


def test_there_is_room_for_the_value_of_the_longest() -> None:
    assert BARS.top > 0.9
    assert replace(BARS, longest=1.5).top == 1.5
    assert replace(BARS, bars=(Bar("none", 0.0, "0%"),)).top > 0


def test_the_alternative_states_the_ends_and_the_target() -> None:
    assert BARS.alternative == ("Bar chart of shares (2 bars): 90 % for a < b to 25 % for c; target: at most 68 %.")


def test_tooltips_have_names_of_quantities() -> None:
    titles = {
        each["title"] if isinstance(each, dict) and "title" in each else each["field"]
        for layer in layers(BARS.spec())
        for each in layer["encoding"].get("tooltip", ())
    }
    assert titles == {"name", "share of cells", "predicted"}


def test_dots_are_drawn_where_there_is_another_value() -> None:
    assert "predicted" in json.dumps(BARS.spec())
    assert "predicted" not in json.dumps(replace(BARS, other_label="", bars=(Bar("a", 0.5, "50%"),)).spec())


@pytest.mark.parametrize(
    ("value", "other", "limit", "begins"),
    rows_in(
        3,
        [
            (0.27, 0.3, None, 0.3),
            (0.27, 0.2, None, 0.27),
            (0.62, None, 0.68, 0.68),
            (0.62, 0.7, 0.68, 0.7),
            (0.2, None, 0.68, 0.2),
            (0.9, None, 0.68, 0.9),
        ],
    ),
)
def test_values_are_written_beyond_bar_mark_and_limit(
    value: float, other: float | None, limit: float | None, begins: float
) -> None:
    bar = Bar("a", value, "told", other)
    chart = replace(BARS, bars=(bar,), longest=1.19, limit=None if limit is None else (limit, "limit"))
    assert chart.beside(bar) == begins
    spec = chart.spec()
    (written,) = [data for data in data_of(spec, "text") if "text" in data[0]][:1]
    assert written[0]["value"] == begins


def test_what_marks_mean_stands_over_the_bars_and_not_on_the_axis() -> None:
    assert BARS.key.split("\u2003") == ["○ predicted", "| target: at most 68 %"]
    spec = BARS.spec()
    (place,) = {
        json.dumps(layer["encoding"]["y"])
        for layer in layers(spec)
        if layer["mark"]["type"] == "text" and spec["datasets"][layer["data"]["name"]][0].get("label") == BARS.key
    }
    assert json.loads(place)["value"] < 0
    assert replace(BARS, other_label="", limit=None).key == ""


def test_the_limit_is_a_stroke_across_bars_that_crosses_no_name() -> None:
    (strokes,) = data_of(BARS.spec(), "tick")
    assert [row["value"] for row in strokes] == [0.68] * len(BARS.bars)
    assert not data_of(BARS.spec(), "rule")


def test_names_that_begin_alike_stay_apart() -> None:
    begin = "age (3 groups) by region (2 groups) by general health (4 groups) by economic activity (5 groups) by "
    names = [f"{begin}{end}" for end in ("sex", "occupation (9 groups)", "place of birth by industry (12 groups)")]
    assert len({tuple(named_lines(name, ACROSS)) for name in names}) == len(names)
    for name in names:
        assert len(named_lines(name, ACROSS)) == 2
        assert max(len(line) for line in named_lines(name, ACROSS)) <= ACROSS
    assert named_lines("sex", ACROSS) == ["sex"]
