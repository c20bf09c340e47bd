"""Ranges: true counts behind published ones."""

from __future__ import annotations

from tests.charts.samples import RANGES, data_of


def test_bars_reach_from_the_smallest_to_the_largest_true_count() -> None:
    (bars,) = data_of(RANGES.spec(), "bar")
    assert [(bar["published"], bar["low"], bar["high"]) for bar in bars] == [
        (n, max(n - 2, 0), n + 2) for n in range(8)
    ]
    assert [bar["published"] for bar in bars if bar["colour"] != bars[0]["colour"]] == [3]


def test_words_tell_every_range() -> None:
    assert "3: 1 to 5" in RANGES.alternative
