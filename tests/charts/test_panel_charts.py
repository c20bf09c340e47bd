"""The data behind the chart of a comparison, and its specification."""

from __future__ import annotations

from discreet.charts.chart import DARK, GREY
from discreet.charts.panel_charts import ComparePanel, compare_chart
from discreet.charts.rendering import png
from tests.charts.samples import layers

MESSAGE = "attacks recover {} of singleton cells"
RISK = ComparePanel("Singletons", "exact recovery rate", (0.551, 0.784), message=MESSAGE, is_risk=True)
ERROR = ComparePanel("Largest error", "persons that a count is off", (5.0, 1234.0), ",.0f")
NAMES = ["cell-key", "geometric"]


# --- Data ---


def test_the_title_is_made_from_the_data() -> None:
    chart = compare_chart("equal-risk", NAMES, [RISK, ERROR])
    assert chart.title == (
        "At equal risk, attacks recover 55.1 % to 78.4 % of singleton cells; largest error 5 (cell-key) to "
        "1,234 (geometric)"
    )
    assert chart.names == ("cell-key", "geometric")
    assert chart.panels == (RISK, ERROR)


def test_the_title_names_who_is_best_and_worst_in_whatever_order() -> None:
    turned = ComparePanel("Largest error", "persons", (9.0, 4.0, 7.0), ",.0f")
    risk = ComparePanel("An attacker is right", "", (0.3, 0.1, 0.2), message="averaging recovers {}", is_risk=True)
    title = compare_chart("equal-variance", ["a", "b", "c"], [risk, turned]).title
    assert title == "At equal variance, averaging recovers 10.0 % to 30.0 %; largest error 4 (b) to 9 (a)"


def test_what_is_equal_is_said_once() -> None:
    same = [ComparePanel("Averaging", "", (0.641, 0.6411)), ComparePanel("Largest error", "", (5.0, 5.0), ".0f")]
    title = compare_chart("equal-risk", NAMES, same).title
    assert title == "At equal risk, 64.1 %; largest error 5"


# --- Specification ---


def test_every_value_has_a_bar_with_its_number() -> None:
    spec = compare_chart("equal-risk", NAMES, [RISK, ERROR]).spec()
    numbers = (["55.1 %", "78.4 %"], ["5", "1,234"])
    for panel, drawn, colour, told in zip((RISK, ERROR), spec["concat"], (DARK, GREY), numbers, strict=True):
        bars = next(layer for layer in layers(drawn) if layer["mark"]["type"] == "bar")
        data = spec["datasets"][bars["data"]["name"]]
        assert [(row["name"], row["value"], row["text"]) for row in data] == list(
            zip(NAMES, panel.values, told, strict=True)
        )
        assert bars["mark"]["color"] == colour
        assert bars["encoding"]["y"]["sort"] == NAMES
        assert drawn["title"] == panel.title
        assert bars["encoding"]["x"]["title"] == panel.label
        assert bars["encoding"]["x"]["scale"]["domain"][1] > max(panel.values)


def test_words_tell_every_value() -> None:
    text = compare_chart("equal-risk", NAMES, [RISK, ERROR]).alternative
    assert text == "Bar charts of 2 figures of cell-key, geometric; singletons between 55.1 % and 78.4 %."


def test_one_mechanism_and_nothing_learnt_can_be_drawn() -> None:
    none = [ComparePanel("An attacker names", "share", (0.0,)), ComparePanel("At worst", "persons", (0.0,), ".0f")]
    assert png(compare_chart("equal-risk", ["cell-key"], none)).startswith(b"\x89PNG")
