"""Bars: their lengths, the values beside them, and what they are held against."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from matplotlib.patches import Rectangle

from discreet.charts.bars import Bar
from tests.charts.samples import BARS, data_of


def test_bars_are_as_long_as_their_values() -> None:
    (data,) = data_of(BARS.spec(), "bar")
    assert [(row["name"], row["value"], row["told"]) for row in data] == [
        ("a < b", 0.9, "90%"),
        ("c", 0.25, "25%"),
    ]
    (axes,) = BARS.figure().axes
    assert [bar.get_bbox().width for bar in axes.patches if isinstance(bar, Rectangle)] == pytest.approx([0.9, 0.25])


def test_there_is_room_for_the_value_of_the_longest() -> None:
    assert BARS.top > 0.9
    assert replace(BARS, longest=1.5).top == 1.5
    assert replace(BARS, bars=(Bar("none", 0.0, "0%"),)).top > 0


def test_words_tell_values_other_values_and_the_limit() -> None:
    assert BARS.alternative == (
        "Bars: shares. a < b: 90%, predicted 50%; c: 25%. A line stands at 68%: to be held to 68%."
    )


def test_dots_are_drawn_where_there_is_another_value() -> None:
    assert "predicted" in json.dumps(BARS.spec())
    assert "predicted" not in json.dumps(replace(BARS, other_label="", bars=(Bar("a", 0.5, "50%"),)).spec())
