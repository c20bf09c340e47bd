from __future__ import annotations

import math

import pytest

from discreet.design.constraints import (
    acceptable_bound,
    accurate_areas,
    averaging_epsilon,
    averaging_variance,
    hidden_bound,
    room,
)
from discreet.design.curation import Cut
from discreet.design.exposure import Exposure
from discreet.design.region import Allowed, Plane, allowed
from discreet.design.relaxation import of_line, of_plane

ONE_SIGMA = 0.6827
EXPOSED = Exposure("AGE.M", 0.0867)


def plane(largest: int, confidence: float = ONE_SIGMA, tuples: int = 28_000_000) -> Plane:
    averaging = averaging_variance(EXPOSED.ratio, EXPOSED.statistic, confidence)
    hidden = hidden_bound({2: tuples}, ONE_SIGMA, "paper")
    return Plane((averaging, hidden, room(), acceptable_bound(largest)), largest)


def relaxed(largest: int, cuts: tuple[Cut, ...] = ()) -> dict[str, tuple[str, float]]:
    found = of_plane(plane(largest), EXPOSED, ONE_SIGMA, cuts)
    return {each.constraint: (each.sentence, each.value) for each in found}


def test_each_relaxation_leaves_something_and_a_little_less_does_not() -> None:
    found = relaxed(5)
    wider = int(found["acceptable bound"][1])
    assert plane(wider).feasible
    assert not plane(wider - 1).feasible
    share = found["averaging"][1]
    assert plane(5, share + 1e-6).feasible
    assert not plane(5, share - 1e-3).feasible


def test_the_share_that_is_told_is_not_below_what_is_needed() -> None:
    sentence, share = relaxed(5)["averaging"]
    told = float(sentence.split("right in ")[1].split("%")[0]) / 100
    assert 0 <= told - share < 0.001 + 1e-9


def test_a_bound_that_need_not_be_hidden_needs_room_only() -> None:
    sentence, variance = relaxed(5)["hidden bound"]
    assert "a bound of 3 then has room for a variance of 2.88" in sentence
    assert 2 < variance <= 4
    assert "tell true counts for certain" in sentence


def test_a_bound_without_room_is_no_way_out() -> None:
    assert "hidden bound" not in relaxed(2)


def test_cuts_that_lead_to_something_are_told_in_their_order() -> None:
    cuts = tuple(Cut("table", name, f"leave out table {name}", 1.7, "total", 0.14, 100) for name in ("9.2", "3.1"))
    sentence, cells = relaxed(5, cuts)["programme"]
    assert sentence == (
        "Publish less: leave out table 9.2; leave out table 3.1. A variance of 1.7 is then enough."
    )  # fmt: skip
    assert cells == 100
    assert "programme" not in relaxed(5)


@pytest.mark.parametrize("areas", [37_000, 5_000_000])
def test_the_line_is_relaxed_on_either_side(areas: int) -> None:
    exposed = Exposure("total", 0.0118)

    def line(within: float = 20, confidence: float = ONE_SIGMA) -> Allowed:
        averaging = averaging_epsilon(exposed.ratio, exposed.statistic, confidence)
        return allowed((averaging, accurate_areas(areas, ONE_SIGMA, within)), "epsilon")

    found = {each.constraint: each.value for each in of_line(line(), areas, 20, exposed, ONE_SIGMA)}
    off, share = found["accurate areas"], found["averaging"]
    assert line(within=off).feasible
    assert not line(within=off - 1).feasible
    assert line(confidence=share + 1e-6).feasible
    assert not line(confidence=share - 1e-3).feasible
    assert off == math.floor(off)
