from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.calibration.constraints import ATTACKERS, averaging_variance, bound_disclosure_limit, variance_limit
from discreet.calibration.feasible_region import CONFIDENCES, FeasibleRegion, by_confidence

if TYPE_CHECKING:
    from collections.abc import Callable


def plane_at(ratio: float, sets: dict[int, int], attacker: str) -> Callable[[float], FeasibleRegion]:
    def made(confidence: float) -> FeasibleRegion:
        hidden = (bound_disclosure_limit(sets, confidence, attacker),) if sets else ()
        return FeasibleRegion((averaging_variance(ratio, "total", confidence), *hidden, variance_limit()), 1)

    return made


@settings(max_examples=10)
@given(st.floats(0.02, 0.5), st.integers(1, 10**7), st.sampled_from(ATTACKERS))
def test_every_confidence_has_its_variance_and_the_first_bound_that_hides_with_it(
    ratio: float, tuples: int, attacker: str
) -> None:
    found = by_confidence(plane_at(ratio, {2: tuples}, attacker), CONFIDENCES)
    assert [at.confidence for at in found] == list(CONFIDENCES)
    for at in found:
        assert at.variance == averaging_variance(ratio, "total", at.confidence).limit(1)
        hidden = bound_disclosure_limit({2: tuples}, at.confidence, attacker)
        assert at.bound is not None
        assert hidden.allows(at.variance, at.bound)
        assert at.bound == 1 or not hidden.allows(at.variance, at.bound - 1)


def test_who_may_be_right_more_often_needs_less_noise() -> None:
    found = by_confidence(plane_at(0.05, {2: 1000}, "optimal"), CONFIDENCES)
    assert [at.variance for at in found] == sorted((at.variance for at in found), reverse=True)


def test_without_tuples_only_the_room_of_the_bound_matters() -> None:
    (at,) = by_confidence(plane_at(0.05, {}, "optimal"), [0.6827])
    assert at.bound == 4
    assert 4 < at.variance <= 20 / 3


def test_there_may_be_no_bound() -> None:
    (at,) = by_confidence(plane_at(1e-6, {2: 10**9}, "paper"), [0.6827])
    assert at.bound is None
