"""The data behind the picture of one count."""

from __future__ import annotations

import pytest

from discreet.charts.village import count_rows, village_chart, village_picture
from discreet.noise.ptable import PTable

PTABLE = PTable.max_entropy(variance=3, bound=5)


def test_bars_are_the_row_of_the_ptable() -> None:
    chart = village_chart(PTABLE, 12)
    assert chart.published == tuple(range(7, 18))
    assert chart.probability == pytest.approx(PTABLE.rows[-1].probabilities)
    assert (chart.low, chart.high) == (9, 15)
    assert chart.within == pytest.approx(sum(PTABLE.rows[-1].probabilities[2:-2]))
    assert chart.title == "A village of 12 people is published as 9 to 15 in at least 19 of 20 cases (0.959)"


def test_the_picture_says_every_chance() -> None:
    chart, picture = village_chart(PTABLE, 12), village_picture(PTABLE, 12)
    for value, probability in zip(chart.published, chart.probability, strict=True):
        assert f"{value}: {probability:.1%}" in picture.alternative
    assert "&lt;1</text>" in picture.svg


def test_small_counts_stay_or_vanish_as_their_rows_say() -> None:
    one, two, twelve = count_rows(PTABLE, (1, 2, 12))
    assert one.vanishes == pytest.approx(PTABLE.rows[1].probabilities[0])
    assert one.stays == pytest.approx(PTABLE.rows[1].probabilities[1])
    assert two.vanishes == pytest.approx(PTABLE.rows[2].probabilities[0])
    assert twelve.vanishes == 0
    assert (one.usual.low, one.usual.high) == (0, 4)
