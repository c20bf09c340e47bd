"""Areas published without residents, women or men."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accuracy.area_counts import with_sexes
from discreet.accuracy.distortion import Tails
from discreet.accuracy.small_areas import lost
from discreet.noise.by_count import transition_matrix
from discreet.noise.uniform import Uniform

AREAS = with_sexes(["a", "b", "c"], female=[1, 0, 2], male=[1, 3, 9], names=["Alt", "", "Neu"], countries=["X"] * 3)
TAILS = Tails.of(transition_matrix(Uniform(bound=2)))
PUBLISHED = np.array([[0, 0, 0], [2, 0, 8], [-1, 3, 11]])


def test_expected_and_seen_on_a_hand_made_release() -> None:
    women, men, total = (lost(TAILS, AREAS, what, PUBLISHED) for what in ("women", "men", "total"))
    # Uniform noise of five values: a 1 is lost by -1 and -2, a 2 by -2 alone, a 3 never.
    assert (women.areas, men.areas, total.areas) == (2, 3, 3)
    assert women.expected == pytest.approx(2 / 5 + 1 / 5)
    assert women.standard_error == pytest.approx((2 / 5 * 3 / 5 + 1 / 5 * 4 / 5) ** 0.5)
    assert (men.expected, total.expected) == pytest.approx((2 / 5, 1 / 5))
    assert (women.sampled, men.sampled, total.sampled) == (2, 1, 1)


def test_the_largest_is_named() -> None:
    found = lost(TAILS, AREAS, "women", PUBLISHED).largest
    assert found is not None
    assert (found.code, found.name, found.country) == ("c", "Neu", "X")
    assert str(found) == "Neu (c), women 2 -> 0, men 9 -> 8, total 11 -> 11"
    nameless = lost(TAILS, AREAS, "men", PUBLISHED).largest
    assert str(nameless) == "b, women 0 -> 0, men 3 -> 0, total 3 -> 3"


def test_nothing_lost_nothing_named() -> None:
    assert lost(TAILS, AREAS, "total", AREAS.counts).largest is None
    assert lost(TAILS, AREAS, "total", AREAS.counts).sampled == 0
    assert lost(TAILS, AREAS, "total").sampled is None
