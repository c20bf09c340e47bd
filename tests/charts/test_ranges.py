"""Ranges: true counts behind published ones."""

from __future__ import annotations

from tests.charts.samples import DOTS, RANGES, data_of


def test_bars_reach_from_the_smallest_to_the_largest_true_count() -> None:
    (bars,) = data_of(RANGES.spec(), "bar")
    assert [(bar["published"], bar["low"], bar["high"]) for bar in bars] == [
        (n, max(n - 2, 0), n + 2) for n in range(8)
    ]
    assert [bar["published"] for bar in bars if bar["colour"] != bars[0]["colour"]] == [3]


def test_the_alternative_states_the_marked_range() -> None:
    assert "a published 3 has a true count from 1 to 5" in RANGES.alternative


def test_every_possible_release_is_one_dot() -> None:
    (dots,) = data_of(DOTS.spec(), "point")
    assert [dot["published"] for dot in dots] == list(DOTS.values)
    assert len({(dot["published"], dot["height"]) for dot in dots}) == len(DOTS.values) == 20
    usual = {dot["published"] for dot in dots if dot["colour"] == dots[-1]["colour"]}
    assert usual == {2, 3, 4}
