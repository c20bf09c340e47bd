"""The data behind the picture of the noise that was added."""

from __future__ import annotations

import pytest

from discreet.charts.noise_seen import noise_seen_chart, noise_seen_picture
from discreet.noise.uniform import Uniform
from discreet.utility.noise_seen import NoiseSeen


def test_shares_and_probabilities_stand_side_by_side() -> None:
    law, seen = Uniform(bound=1), NoiseSeen(5, {(5, -1): 1, (5, 0): 2, (5, 1): 1, (2, 1): 7}, 1)
    chart, picture = noise_seen_chart(seen, law), noise_seen_picture(seen, law)
    assert chart.noise == (-1, 0, 1)
    assert chart.share == (0.25, 0.5, 0.25)
    assert chart.probability == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert chart.title == (
        "4 published counts of 5 and more: the variance of their noise is 0.50, and the law says 0.67"
    )
    assert picture.title == chart.title
    assert "+1: 25.0% seen, 33.3% by the law" in picture.alternative
