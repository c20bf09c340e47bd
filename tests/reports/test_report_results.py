"""What a report is made of: the results of the functions behind the other commands, for the same release."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import pytest

from discreet.accuracy.release_utility import utility
from discreet.attacks.attack_run import attack
from discreet.errors import ParameterError, ReleaseError
from discreet.mechanisms.coordinates import Coordinates
from discreet.noise.ptable import PTable
from discreet.noise.published_counts import published_range
from discreet.protection.pipeline import protect
from discreet.reports.report_results import MEASURES, TOLD_MEASURES, VILLAGE, gather
from discreet.reports.verdicts import decision_of
from discreet.risk.assessment import assess
from discreet.verdicts import Policy
from tests.cli import town

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.engine import Engine
    from discreet.reports.report_results import ReportResults


def test_results_are_those_of_the_commands(gathered: ReportResults, town_folder: Path) -> None:
    release = town_folder / "out"
    assert gathered.risk.assessment
    assert gathered.risk.attacks
    case = gathered.risk.assessment.case
    assert gathered.risk.assessment.results == assess(release, measures=MEASURES, unit=case.counted).results
    assert gathered.utility.measured.results == utility(release).results
    assert [each.result() for each in gathered.risk.attacks.outcomes] == list(attack(release).results)
    assert gathered.absent == {}
    assert gathered.risk.mildest is None


def test_everything_that_tables_count_is_assessed_and_the_most_exposed_is_first(
    gathered: ReportResults, told: ReportResults, curators_page: str
) -> None:
    for found in (gathered, told):
        rights = {
            each.case.counted: next(row.value for row in each.results if row.name == "averaging_success")
            for each in found.risk.assessments
        }
        assert set(rights) == {table.unit for table in found.published.release.programme.tables}
        assert list(rights.values()) == sorted(rights.values(), reverse=True)
        risk = found.risk.worst("averaging_success")
        assert risk
        assert risk.value == max(rights.values())
    # One unit: all its universes are in one figure, and nothing is left to be named beside it.
    assert "which are most exposed" not in curators_page


def test_tables_of_all_universes_are_one_figure(tmp_path: Path, engine: Engine) -> None:
    town.make(tmp_path)
    # All persons have two tables of one topic, women one of two topics, with the finer ages: more to add up.
    wide = """
    [[tables]]
    id = "3"
    columns = ["AREA"]
    [[tables]]
    id = "4"
    columns = ["SEX"]
    [[tables]]
    id = "5"
    columns = ["AREA", "AGE"]
    universe = "SEX = F"
    """
    (tmp_path / "town.toml").write_text(town.PROGRAMME.partition("[[tables]]")[0] + textwrap.dedent(wide))
    mechanism = Coordinates(PTable.max_entropy(variance=3, bound=5), secret=town.SECRET.encode())
    protect(tmp_path / "town.csv", tmp_path / "town.toml", mechanism, engine=engine, out=tmp_path / "out")
    found = gather(tmp_path / "out", public=True)
    assert next(iter(found.published.release.programme.populations)) == "persons"
    assert [each.case.counted for each in found.risk.assessments] == ["persons"]
    assert decision_of(found).checks[0].sentence.startswith("Combining all 3 tables recovers counts of ")
    whole = found.risk.worst("averaging_success")
    apart = [
        assess(found.risk.assessments[0].case.record, measures=["averaging"], population=name).results[0].value
        for name in found.published.release.programme.populations
    ]
    assert whole is not None
    assert whole.value > max(apart)


def test_the_village_is_that_of_the_ptable(gathered: ReportResults) -> None:
    wanted = published_range(PTable.max_entropy(variance=3, bound=5), VILLAGE)
    assert (gathered.utility.village.usual.low, gathered.utility.village.usual.high) == (wanted.low, wanted.high)


def test_the_design_is_of_the_programme_that_was_published(gathered: ReportResults) -> None:
    assert gathered.risk.design
    assert gathered.risk.design.question.programme == gathered.published.release.programme
    assert gathered.risk.design.question.policy == gathered.risk.policy


def test_everybody_gets_what_follows_from_what_is_told(told: ReportResults) -> None:
    assert told.risk.assessment
    assert tuple(told.risk.assessment.by_measure) == TOLD_MEASURES
    assert told.risk.mildest
    typical = told.published.release.description["noise"]["typical_noise"]
    # Risk is that of the least noise that is told so, and never below that of the largest.
    assert told.risk.assessment.case.record.variance == pytest.approx((typical - 0.05) ** 2)
    assert told.risk.mildest.case.record.variance == pytest.approx((typical + 0.05) ** 2)
    assert not any(
        (
            told.utility.measured.cells,
            told.utility.measured.small_areas,
            told.risk.attacks,
            told.risk.design,
            told.published.record,
        )
    )
    assert set(told.absent) == {"design", "attacks", "truth"}


def test_what_the_caller_asks_for_is_passed_on(town_folder: Path) -> None:
    found = gather(
        town_folder / "out",
        targets={"averaging": 0.9, "singletons": 0.2},
        seed=3,
        budget=2000,
        areas="AREA",
        about="Nobody in it is real.",
        commands=("discreet synth",),
    )
    assert found.risk.attacks
    assert found.risk.assessment
    assert found.risk.design
    assert (found.risk.attacks.seed, found.risk.attacks.budget) == (3, 2000)
    assert found.risk.assessment.case.policy == found.risk.design.question.policy == Policy({"averaging": 0.9})
    assert found.utility.measured.areas
    assert found.utility.measured.areas.topic == "AREA"
    assert found.about == "Nobody in it is real."
    targets = "--target averaging=0.9 --target singletons=0.2"
    assert found.commands == (
        "discreet synth",
        "discreet protect --again out.curator --secret-file SECRET --out again",
        "discreet verify out --data DATA --secret-file SECRET",
        f"discreet report out {targets} --budget 2000 --seed 3 --areas AREA --out report.html",
    )
    assert str(town_folder) not in " ".join(found.commands)


def test_true_counts_may_lie_elsewhere(gathered: ReportResults, town_folder: Path, tmp_path: Path) -> None:
    for name in ("out", "out.curator"):
        shutil.copytree(town_folder / name, tmp_path / name)
    (tmp_path / "out.curator" / "exact").rename(tmp_path / "elsewhere")
    assert gather(tmp_path / "out").risk.attacks is None
    found = gather(tmp_path / "out", truth=tmp_path / "elsewhere")
    assert found.risk.attacks
    assert gathered.risk.attacks
    assert found.risk.attacks.results == gathered.risk.attacks.results
    assert found.utility.measured.results == gathered.utility.measured.results
    assert found.commands[-1] == "discreet report out --truth TRUTH --out report.html"


def test_a_wrong_folder_of_true_counts_is_refused_before_the_long_work(
    town_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def long_work(*_: object, **__: object) -> None:
        pytest.fail("The assessment began before the true counts were read.")

    monkeypatch.setattr("discreet.reports.report_results.assess", long_work)
    with pytest.raises(ReleaseError, match="has no file"):
        gather(town_folder / "out", truth=tmp_path)


def test_a_page_for_everybody_takes_no_true_counts(town_folder: Path) -> None:
    with pytest.raises(ParameterError, match="made without true counts"):
        gather(town_folder / "out", public=True, truth=town_folder / "out.curator" / "exact")
