from __future__ import annotations

import math

import pytest

from discreet.calibration.constraints import (
    acceptable_bound,
    accurate_areas,
    averaging_epsilon,
    averaging_variance,
    bound_disclosure_limit,
    variance_limit,
)
from discreet.calibration.curation import Curation, Cut
from discreet.calibration.exposed_statistics import Exposure
from discreet.calibration.feasible_region import (
    AllowedRange,
    FeasibleRegion,
    allowed_range,
    epsilon_relaxations,
    plane_relaxations,
)

ONE_SIGMA = 0.6827
RATES = {"averaging": ONE_SIGMA, "bound": ONE_SIGMA}
EXPOSED = Exposure("AGE.M", 0.0867)


def plane(largest: int, confidence: float = ONE_SIGMA, tuples: int = 28_000_000) -> FeasibleRegion:
    averaging = averaging_variance(EXPOSED.ratio, EXPOSED.statistic, confidence)
    hidden = bound_disclosure_limit({2: tuples}, confidence, "paper")
    return FeasibleRegion((averaging, hidden, variance_limit(), acceptable_bound(largest)), largest)


def relaxed(largest: int, cuts: tuple[Cut, ...] = ()) -> dict[str, tuple[str, float]]:
    whole = Cut("", "", "publish everything", 2.88, "AGE.M", 0.0867, 200)
    found = plane_relaxations(plane(largest), lambda alpha: plane(largest, alpha), RATES, Curation(whole, (), cuts))
    return {each.constraint: (each.sentence, each.value) for each in found}


def test_each_relaxation_leaves_something_and_a_little_less_does_not() -> None:
    found = relaxed(5)
    wider = int(found["acceptable bound"][1])
    assert plane(wider).feasible
    assert not plane(wider - 1).feasible
    sentence, share = found["averaging"]
    assert plane(5, share).feasible
    assert not plane(5, share - 1e-3).feasible
    assert f"--target averaging={share:g} " in sentence
    assert f"(--max-bound {wider})" in found["acceptable bound"][0]


def test_no_success_is_told_that_would_not_do() -> None:
    assert "averaging" not in relaxed(1)


def test_a_bound_that_need_not_be_hidden_needs_room_only() -> None:
    sentence, variance = relaxed(5)["bound disclosure"]
    assert "A bound of 3 then allows a variance of 2.88" in sentence
    assert 2 < variance <= 4
    assert "disclose true counts with certainty" in sentence


def test_a_bound_without_room_is_no_way_out() -> None:
    assert "bound disclosure" not in relaxed(2)


def test_cuts_that_lead_to_something_are_told_in_their_order() -> None:
    cuts = tuple(
        Cut("table", name, f"omit table {name}", 1.7, "total", 0.14, 100, feasible=name == "3.1")
        for name in ("9.2", "3.1", "4")
    )
    sentence, cells = relaxed(5, cuts)["programme"]
    assert sentence == (
        "Publish less: omit table 9.2; omit table 3.1. A variance of 1.7 is then sufficient."
    )  # fmt: skip
    assert cells == 100
    assert "programme" not in relaxed(5)


def test_cuts_that_do_not_lead_there_are_told_too() -> None:
    cuts = (Cut("table", "9.2", "omit table 9.2", 2.5, "total", 0.1, 50),)
    sentence, _ = relaxed(5, cuts)["programme"]
    assert sentence == ("Publish far less: after 1 cut, with 25% of the cells kept, a variance of 2.5 is still needed.")


@pytest.mark.parametrize("areas", [37_000, 5_000_000])
def test_the_line_is_relaxed_on_either_side(areas: int) -> None:
    exposed = Exposure("total", 0.0118)

    def line(within: float = 20, confidence: float = ONE_SIGMA) -> AllowedRange:
        averaging = averaging_epsilon(exposed.ratio, exposed.statistic, confidence)
        return allowed_range((averaging, accurate_areas(areas, ONE_SIGMA, within)), "epsilon")

    found = {each.constraint: each.value for each in epsilon_relaxations(line(), areas, 20, exposed, ONE_SIGMA)}
    off, share = found["accurate areas"], found["averaging"]
    assert line(within=off).feasible
    assert not line(within=off - 1).feasible
    assert line(confidence=share + 1e-6).feasible
    assert not line(confidence=share - 1e-3).feasible
    assert off == math.floor(off)
