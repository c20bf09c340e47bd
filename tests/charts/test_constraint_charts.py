"""The line of epsilon: limits from both sides, and what is left between them."""

from __future__ import annotations

from dataclasses import replace

from discreet.charts.chart import MEETS, MISSES
from discreet.charts.constraint_charts import EpsilonLimit
from tests.charts.samples import LINE, layers


def test_what_is_left_lies_between_the_largest_least_and_the_smallest_most() -> None:
    assert LINE.feasible == (0.1, 0.4)
    more = (*LINE.limits, EpsilonLimit("another", 0.3, is_lower=False), EpsilonLimit("more", 0.05, is_lower=True))
    assert replace(LINE, limits=more).feasible == (0.1, 0.3)


def test_nothing_is_left_where_limits_cross() -> None:
    crossed = replace(LINE, limits=(*LINE.limits, EpsilonLimit("strict", 0.01, is_lower=False)))
    assert crossed.feasible is None
    assert ", infeasible, " in crossed.alternative
    assert all(layer.get("mark", {}).get("type") != "rect" for layer in crossed.spec()["layer"])


def test_the_mark_has_the_colour_of_its_verdict() -> None:
    for epsilon, colour in ((0.2, MEETS), (0.05, MISSES), (0.5, MISSES)):
        spec = replace(LINE, chosen=(epsilon, "this release")).spec()
        (fill,) = [layer["mark"]["fill"] for layer in layers(spec) if layer["mark"]["type"] == "point"]
        assert fill == colour


def test_words_tell_limits_and_place() -> None:
    assert "averaging: at most 0.4; accurate areas: at least 0.1" in LINE.alternative
    assert "this release: 0.2." in LINE.alternative
    assert "this release" not in replace(LINE, chosen=None).alternative
