"""What a programme publishes, population by population: what is known of one of them leaves the others to hide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.calibration.noise_design import design
from discreet.errors import ParameterError, UnknownNameError
from discreet.programme.programme_files import load_programme

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.programme.model import Programme

TOWN = """
name = "Town"
[topics.SEX]
categories = ["F", "M"]
[topics.JOB]
categories = ["a", "b", "c"]
[topics.AREA]
categories = ["n", "s", "e", "w"]
[[tables]]
id = "1"
columns = ["JOB"]
[[tables]]
id = "2"
columns = ["AREA", "JOB"]
universe = "SEX = F"
"""


@pytest.fixture
def town(tmp_path: Path) -> Programme:
    (tmp_path / "town.toml").write_text(TOWN)
    return load_programme(tmp_path / "town.toml")


@pytest.mark.parametrize("cuts", [0, 2])
def test_what_is_known_of_one_population_leaves_the_other(town: Programme, cuts: int) -> None:
    found = design(town, known="JOB", population=None, cuts=cuts)
    assert found.exposure.shared["optimal"].statistic.endswith(" of persons where SEX = F")
    assert any("An attacker who knows true counts observes noise values" in each for each in found.warnings)


def test_a_statistic_of_one_population_alone_may_be_known(town: Programme) -> None:
    # Only women are counted by area; the exposure of the tables of all persons is unchanged.
    found = design(town, known="AREA JOB", cuts=2)
    assert found.exposure.shared["optimal"].statistic.endswith(" of persons")


def test_where_everything_is_known_nothing_is_left_to_hide(town: Programme) -> None:
    with pytest.raises(ParameterError, match="All published statistics follow from the known statistic"):
        design(town, known="JOB", population="persons")


def test_what_nobody_publishes_cannot_be_known(town: Programme) -> None:
    with pytest.raises(UnknownNameError, match="no statistic 'AREA SEX'"):
        design(town, known="AREA SEX")
