"""`discreet design`: an answer first, then the evidence; files on request; mistakes told before any work."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discreet.calibration import noise_design
from discreet.calibration.noise_design import design
from tests.charts.pictures import all_alike
from tests.cli import town

if TYPE_CHECKING:
    from tests.cli.town import Command

DESIGN = ("design", "town.toml", "--details")
DATA = ("--data", "town.csv", "--id", "PERSON_ID")


@pytest.fixture
def discreet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    town.make(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return town.command(tmp_path, monkeypatch, capsys)


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where anything is designed."""

    def designed(*_: object, **__: object) -> None:
        raise AssertionError("something was designed")

    monkeypatch.setattr(noise_design, "design", designed)


def test_the_answer_comes_first_and_the_next_step_last(discreet: Command, tmp_path: Path) -> None:
    done = discreet(*DESIGN)
    found = design(tmp_path / "town.toml")
    assert done.code == 0
    assert found.recommended
    lines = done.out.splitlines()
    assert lines[0] == f"✓ {found.answer}"
    assert lines[-1].strip().endswith("--out release")
    assert f"--variance {found.recommended.variance:g} --bound {found.recommended.bound}" in done.out
    for head in ("Risk:", "Data users:", "Privacy guarantees:", "Effect of publishing less"):
        assert head in done.out
    assert f"{found.recommended.bound:>5} " in next(line for line in lines if line.endswith("<- recommended"))


def test_every_assumption_of_a_risk_is_printed(discreet: Command, tmp_path: Path) -> None:
    text = " ".join(discreet(*DESIGN).out.split())
    found = design(tmp_path / "town.toml").recommendation
    assert found
    for result in found.risk:
        for assumption in result.assumptions:
            assert assumption in text


def test_numbers_are_those_of_the_library(discreet: Command, tmp_path: Path) -> None:
    told = json.loads(discreet(*DESIGN, "--attacker", "paper", "--rule", "flat", "--json").out)
    found = design(tmp_path / "town.toml", attacker="paper", rule="flat")
    assert told["results"] == json.loads(json.dumps([each.to_json() for each in found.results]))
    assert told["recommended"] == {"variance": found.settings["variance"], "bound": found.settings["bound"]}
    assert told["settings"]["attacker"] == "paper"
    assert told["out_settings"] is None


def test_the_settings_feed_protect(discreet: Command, tmp_path: Path) -> None:
    done = discreet(*DESIGN, "--out-settings", "design.toml")
    assert done.code == 0
    assert "Next: discreet protect DATA --settings design.toml" in done.out
    written = tomllib.loads((tmp_path / "design.toml").read_text())
    found = design(tmp_path / "town.toml")
    assert written == {"programme": "town.toml", "unit": "persons", **found.settings}
    files = ("--settings", "design.toml", "--id", "PERSON_ID", "--secret-file", "office.secret")
    made = discreet("protect", "town.csv", *files, "--out", "release", "--quiet", "--json")
    assert made.code == 0, made.err
    record = json.loads((tmp_path / "release.curator/record.json").read_text())
    assert record["parameters"]["variance"] == written["variance"]
    assert record["parameters"]["bound"] == written["bound"]


def test_no_settings_are_written_where_nothing_is_left(discreet: Command, tmp_path: Path) -> None:
    done = discreet(*DESIGN, "--max-bound", "1", "--out-settings", "design.toml")
    assert done.code == 2
    assert done.out.startswith("✗ No setting satisfies all constraints for Town: ")
    assert "Options, one of:" in done.out
    assert done.err.endswith("design.toml was not written: no setting satisfies all constraints. Relax one.\n")
    assert not (tmp_path / "design.toml").exists()


def test_nothing_left_is_an_answer(discreet: Command) -> None:
    done = discreet(*DESIGN, "--max-bound", "1", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["feasible"] is False
    assert told["recommended"] is None
    assert {each["constraint"] for each in told["relaxations"]} >= {"acceptable bound", "averaging"}


def test_it_is_tried_on_data(discreet: Command) -> None:
    done = discreet(*DESIGN, *DATA)
    assert done.code == 0, done.err
    assert "Trial release of the data, with the mechanism cell-key:" in done.out
    assert "recovered exactly" in done.out


def test_no_true_count_is_printed(discreet: Command) -> None:
    done = discreet(*DESIGN, *DATA, "--json")
    assert f'"value": {town.PERSONS}' not in done.out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ("--target", "averaging=1.5"),
            "The target averaging is 1.5; it must be from 0.01 to 0.999999.",
        ),
        (
            ("--target", "bound=0"),
            "The target bound is 0; it must be from 0.01 to",
        ),
        (("--max-bound", "0"), "design: max-bound must be from 1 to 50, not 0."),
        (("--attacker", "papre"), "paper"),
        (("--rule", "level"), "levels"),
        (("--known", "SEXX"), "SEX"),
        (("--population", "person"), "persons"),
        (("--areas", "ARE"), "AREA"),
        (("--cuts", "-1"), "design: cuts must be from 0 to 60, not -1."),
    ],
)
def test_a_mistake_is_one_message(discreet: Command, flags: tuple[str, ...], message: str) -> None:
    done = discreet(*DESIGN, *flags)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--out-settings", "missing/design.toml"), "its folder does not exist"),
        (("--out-settings", "town.toml"), "town.toml"),
        (("--plot", "plane.jpg"), "--plot writes PNG or SVG; plane.jpg has another ending"),
        (("--id", "PERSON_ID"), "--id is about records, and none are given. Add --data."),
        (("--count", "N"), "--count is about records, and none are given. Add --data."),
        (("--missing", "drop"), "--missing is about records, and none are given. Add --data."),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_what_cannot_be_written_is_refused_before_any_work(
    discreet: Command, flags: tuple[str, ...], message: str
) -> None:
    done = discreet(*DESIGN, *flags)
    assert done.code == 2
    assert message in done.err


def test_files_that_exist_are_replaced_on_request(discreet: Command, tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text("old")
    assert discreet(*DESIGN, "--out-settings", "design.toml").code == 2
    assert (tmp_path / "design.toml").read_text() == "old"
    assert discreet(*DESIGN, "--out-settings", "design.toml", "--replace").code == 0
    assert "variance" in (tmp_path / "design.toml").read_text()


def test_the_picture_is_drawn(discreet: Command, tmp_path: Path) -> None:
    done = discreet(*DESIGN, "--plot", "plane.png")
    assert done.code == 0
    assert (tmp_path / "plane.png").read_bytes().startswith(b"\x89PNG")
    assert "Charts: plane.png" in done.out


@pytest.mark.slow
def test_every_chart_is_drawn_for_papers(discreet: Command, tmp_path: Path) -> None:
    with all_alike():
        done = discreet(*DESIGN, "--figures", "figures", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {f"figures/{name}" for name in names} == set(told["figures"])
    wanted = {"plane", "epsilon-line", "frontier", *(_picture(each) for each in told["constraints"])}
    assert names == {f"{name}.{ending}" for name in wanted for ending in ("png", "svg")}
    assert discreet(*DESIGN, "--figures", "figures").code == 2


def _picture(constraint: dict[str, str]) -> str:
    return f"constraint-{constraint['name'].replace(' ', '-')}-{constraint['about']}"


def test_settings_that_lie_elsewhere_lead_to_the_programme(
    discreet: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    assert discreet(*DESIGN, "--out-settings", "sub/design.toml").code == 0
    written = tomllib.loads((tmp_path / "sub/design.toml").read_text())
    monkeypatch.chdir(tmp_path / "sub")
    assert Path(written["programme"]).samefile(tmp_path / "town.toml")


def test_the_settings_tell_what_was_asked_for(discreet: Command, tmp_path: Path) -> None:
    flags = ("--known", "SEX", "--target", "averaging=0.7", "--out-settings", "design.toml")
    assert discreet(*DESIGN, *flags).code == 0
    text = " ".join((tmp_path / "design.toml").read_text().replace("# ", "").split())
    assert "averaging 70.0 % (chosen)" in text
    assert "known SEX" in text


@pytest.mark.parametrize("known", ["total", "SEX"])
def test_a_statistic_that_is_known_may_be_cut(discreet: Command, known: str) -> None:
    done = discreet(*DESIGN, "--known", known, "--cuts", "20")
    assert done.code == 0, done.err


def test_a_bound_that_may_be_known_is_limited_by_its_room_alone(discreet: Command) -> None:
    told = json.loads(discreet(*DESIGN, "--no-hide-bound", "--json").out)
    assert {row["high_by"] for row in told["region"]} == {"room"}
    assert any(each["name"].startswith("bound_found") for each in told["results"])
