"""What a report is made of: the results of the functions behind the other commands, for the same release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.design.experiments import attack
from discreet.noise.ptable import PTable
from discreet.noise.ranges import published_range
from discreet.report.gather import MEASURES, TOLD_MEASURES, VILLAGE, gather
from discreet.risk.assess import assess
from discreet.utility.measured import utility_of

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.report.gather import Gathered


def test_results_are_those_of_the_commands(gathered: Gathered, town_folder: Path) -> None:
    release = town_folder / "out"
    assert gathered.assessment
    assert gathered.attacks
    assert gathered.assessment.results == assess(release, measures=MEASURES).results
    assert gathered.utility.results == utility_of(release).results
    assert [each.result() for each in gathered.attacks.outcomes] == list(attack(release).results)
    assert gathered.absent == {}
    assert gathered.mildest is None


def test_the_village_is_that_of_the_ptable(gathered: Gathered) -> None:
    wanted = published_range(PTable.max_entropy(variance=3, bound=5), VILLAGE)
    assert (gathered.village.usual.low, gathered.village.usual.high) == (wanted.low, wanted.high)


def test_the_design_is_of_the_programme_that_was_published(gathered: Gathered) -> None:
    assert gathered.design
    assert gathered.design.programme == gathered.release.programme
    assert gathered.design.confidence == gathered.confidence


def test_everybody_gets_what_follows_from_what_is_told(told: Gathered) -> None:
    assert told.assessment
    assert tuple(told.assessment.by_measure) == TOLD_MEASURES
    assert told.mildest
    typical = told.release.description["noise"]["typical_noise"]
    # Risk is that of the least noise that is told so, and never below that of the largest.
    assert told.assessment.case.record.variance == pytest.approx((typical - 0.05) ** 2)
    assert told.mildest.case.record.variance == pytest.approx((typical + 0.05) ** 2)
    assert not any((told.utility.cells, told.utility.small_areas, told.attacks, told.design, told.record))
    assert set(told.absent) == {"design", "attacks", "truth"}


def test_what_the_caller_asks_for_is_passed_on(town_folder: Path) -> None:
    found = gather(
        town_folder / "out",
        confidence=0.9,
        seed=3,
        budget=20.0,
        areas="AREA",
        about="Nobody in it is real.",
        commands=("discreet synth",),
    )
    assert found.attacks
    assert found.assessment
    assert found.design
    assert (found.attacks.seed, found.attacks.budget) == (3, 20.0)
    assert found.assessment.case.confidence == found.design.confidence == 0.9
    assert found.utility.areas.topic == "AREA"
    assert found.about == "Nobody in it is real."
    assert found.commands == (
        "discreet synth",
        "discreet protect --again out.curator --secret-file SECRET --out again",
        "discreet verify out --data DATA --secret-file SECRET",
        "discreet report out --confidence 0.9 --budget 20s --seed 3 --areas AREA --out report.html",
    )
    assert str(town_folder) not in " ".join(found.commands)
