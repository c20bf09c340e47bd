from __future__ import annotations

import pytest

from discreet.accuracy.area_counts import load_areas
from discreet.accuracy.small_areas import small_areas
from discreet.calibration.constraints import (
    Constraint,
    acceptable_bound,
    averaging_variance,
    bound_disclosure_limit,
    variance_limit,
)
from discreet.calibration.exposed_statistics import Exposure
from discreet.calibration.feasible_region import FeasibleRegion
from discreet.calibration.recommendation import (
    Setting,
    best_setting,
    expected_utility,
    privacy_guarantees,
    risks,
)
from discreet.calibration.sentences import reasons
from discreet.noise.ptable import PTable
from discreet.programme.lattice import lattice
from discreet.risk.assessment import assess
from discreet.risk.averaging import variance_needed
from discreet.risk.bound_disclosure import disclosure_at
from discreet.risk.residual_bound import noise_terms, rivals
from tests.programme.small import programme

ONE_SIGMA = 0.6827
EXPOSED = {"optimal": Exposure("AGE", 0.05), "paper": Exposure("total", 0.0867)}


def plane(ratio: float = 0.0867, tuples: int = 28_000_000, largest: int = 10) -> FeasibleRegion:
    hidden = bound_disclosure_limit({2: tuples}, ONE_SIGMA, "paper")
    made = (averaging_variance(ratio, "AGE", ONE_SIGMA), hidden, variance_limit(), acceptable_bound(largest))
    return FeasibleRegion(made, largest)


def test_the_smallest_bound_is_recommended_with_the_least_variance_in_tenths() -> None:
    assert best_setting(plane()) == Setting(2.9, 7)


def test_a_variance_is_not_rounded_beyond_what_is_allowed() -> None:
    narrow = plane(tuples=0)
    needed = variance_needed(0.0867, ONE_SIGMA)
    assert best_setting(narrow) == Setting(2.9, 3)
    tight = plane(ratio=0.25 / 3.99, tuples=0, largest=3)
    assert best_setting(tight) == Setting(4.0, 3)
    tighter = FeasibleRegion((averaging_variance(0.25 / 3.91, "AGE", ONE_SIGMA), _at_most(3.95)), 3)
    found = best_setting(tighter)
    assert found is not None
    assert 0 <= found.variance - variance_needed(0.25 / 3.91, ONE_SIGMA) < 0.001
    assert needed < 2.9


def _at_most(limit: float) -> Constraint:
    return Constraint("a test", "variance", "at most", lambda _: limit, "V <= v", "a test")


def test_where_nothing_is_left_nothing_is_recommended() -> None:
    assert best_setting(plane(largest=5)) is None


def test_the_reasons_tell_the_limits_on_both_sides() -> None:
    found = reasons(Setting(2.9, 7), plane())
    below = "At bound 6, averaging needs a variance of at least 2.88, and bound disclosure allows at most 2.84."
    assert found == (
        f"7 is the smallest bound for which the constraints are compatible. {below}",
        "The variance is the minimum that averaging needs at this bound (2.88); bound disclosure allows up to 4.13.",
    )
    assert "A bound cannot be smaller than 1." in reasons(Setting(0.5, 1), plane(ratio=0.9, tuples=0))[0]


def test_risks_are_told_of_both_attackers() -> None:
    terms = noise_terms(programme([["A", "B"]], {"A": [2], "B": [30]}))
    sets = {who: {2: 28_000_000} for who in EXPOSED}
    found = {each.name: each for each in risks(Setting(2.9, 7), EXPOSED, sets, ONE_SIGMA, terms)}
    assert found["success_of_optimal_attacker"].value == EXPOSED["optimal"].success(2.9)
    assert found["success_of_paper_attacker"].value == EXPOSED["paper"].success(2.9)
    gap = disclosure_at(2.9, 7, tuples=28_000_000, confidence=ONE_SIGMA)
    assert found["bound_found_by_paper_attacker"].value == gap.reached
    assert found["bound_found_by_optimal_attacker"].value == terms.success(*rivals(2.9, 7))
    assert found["bound_revealed_if_counts_known"].value == terms.limit(*rivals(2.9, 7))
    assert all(each.assumptions for each in found.values())
    none: dict[str, dict[int, int]] = {who: {} for who in EXPOSED}
    less = [each.name for each in risks(Setting(2.9, 7), EXPOSED, none, ONE_SIGMA, terms)]
    assert less == [name for name in found if name != "bound_found_by_paper_attacker"]


def test_epsilon_and_delta_are_those_of_assess() -> None:
    small = programme([["A", "B"]], {"A": [2], "B": [3]})
    found = {
        each.name: each.value
        for each in privacy_guarantees(Setting(2.0, 5), small, int(lattice(small).published.sum()))
    }
    record = Setting(2.0, 5).record(small)
    told = {each.name: each.value for each in assess(record, measures=["epsilon_delta", "composition"]).results}
    assert found == told
    assert {"delta_at_epsilon_1", "delta_floor"} <= found.keys()


def test_what_users_get_depends_on_the_setting() -> None:
    small, large = (
        {each.name: each.value for each in expected_utility(Setting(*it), None)} for it in ((1.0, 3), (9.0, 9))
    )
    assert small["typical_noise"] == pytest.approx(1.0)
    assert large["typical_noise"] == pytest.approx(3.0)
    assert small["reliable_from"] < large["reliable_from"]


@pytest.mark.slow
def test_the_municipalities_of_a_member_state_are_told() -> None:
    found = {each.name: each for each in expected_utility(Setting(2.0, 5), "MT")}
    areas = load_areas("lau:2016:MT")
    told = small_areas(areas, PTable.max_entropy(variance=2, bound=5), sample=False)
    assert found["municipal_counts_off_by_20_percent"].value == next(
        each.value for each in told.results if each.name == "counts_off_by_20_percent"
    )
    assert found["municipal_areas_off_by_20_percent"].assumptions
