from __future__ import annotations

import math

import numpy as np

from discreet.calibration.exposed_statistics import Exposure, exposures
from discreet.equations.closed_form import success
from discreet.programme.lattice import lattice
from discreet.risk.averaging import averaging
from tests.programme.small import programme

SMALL = programme([["A", "B"], ["A", "C"]], {"A": [2], "B": [3], "C": [5]})


def test_the_most_exposed_statistic_has_the_smallest_ratio_of_each_attacker() -> None:
    found = averaging(lattice(SMALL))
    told = exposures(found)
    for attacker, ratios in (("optimal", found.optimal), ("paper", found.greedy)):
        assert told[attacker].ratio == ratios.min()
        assert told[attacker].statistic == found.names[int(np.argmin(ratios))]
    assert told["optimal"].ratio <= told["paper"].ratio


def test_what_is_known_anyway_is_not_the_most_exposed() -> None:
    found = averaging(lattice(SMALL), known="total")
    assert found.optimal[found.names.index("total")] == 0
    assert exposures(found)["optimal"].statistic != "total"


def test_where_everything_is_known_there_is_nothing_to_know_better() -> None:
    only = programme([["A"]], {"A": [2]})
    assert exposures(averaging(lattice(only), known="A1"))["optimal"].ratio == math.inf


def test_nobody_is_right_less_often_than_who_takes_counts_as_they_stand() -> None:
    told = Exposure("total", 1.0).result(0.4, "optimal", stays=0.6)
    assert success(0.4, 1.0) < 0.6
    assert told.value == 0.6
    assert Exposure("total", 0.1).result(2.5, "optimal", stays=0.25).value == success(2.5, 0.1)


def test_the_success_is_told_with_its_assumptions() -> None:
    told = Exposure("AGE.M", 0.1).result(2.5, "optimal")
    assert told.value == success(2.5, 0.1)
    assert told.sentence == ("The optimal linear attack recovers counts of AGE.M exactly in 68.3% of cases.")
    assert "counts well above the bound" in told.assumptions
    assert "The paper's averaging attack" in Exposure("AGE.M", 0.1).result(2.5, "paper").sentence
