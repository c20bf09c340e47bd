"""`discreet assess` from the outside."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from discreet.cli.assess import SHORT
from discreet.noise.formats.ptable_files import write_ptable
from discreet.noise.ptable import PTable
from discreet.release.record import Record
from discreet.risk.measures import MEASURES
from tests.cli import town
from tests.quick import one_in

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]
TOWN = """
[topics.SEX]
categories = ["F", "M"]
[topics.AGE]
categories = ["young", "old"]
[[tables]]
id = "1"
columns = ["SEX", "AGE"]
"""


@pytest.mark.parametrize("chosen", [("--measures", "averaging"), pytest.param((), marks=pytest.mark.slow)])
def test_the_answer_names_what_is_most_at_risk_first(discreet: Run, chosen: tuple[str, ...]) -> None:
    done = discreet("assess", "eu2021:LU", "--closed-form", "--variance", "3", "--bound", "5", "--details", *chosen)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith("Luxembourg, EU census 2021: 103 tables of persons")
    averaging = next(line for line in lines if line.startswith("✗ Averaging"))
    assert averaging.split()[2:4] == ["93.5", "%"]
    text = " ".join(done.stdout.split())
    assert "averaging The optimal linear attack recovers counts of AGE.L CAS.L:1 exactly in 93.5% of cases" in text
    assert "(Assumptions: closed form for equal blocks:" in text
    if not chosen:
        assert NOT_SHOWN in text


NOT_SHOWN = "Not taken: composition, projection, reconstruction (--measures all, or --json)."


def test_people_get_the_shorter_measures_and_machines_all(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "town.toml").write_text(TOWN)
    base = ("assess", "town.toml", "--variance", "2", "--bound", "5")
    done = discreet(*base, "--details")
    assert done.returncode == 0, done.stderr
    shown, _, _ = done.stdout.partition("\n\n")[2].partition("Most exposed statistics")
    assert [line.split()[0] for line in shown.splitlines() if line[:1].strip()] == list(SHORT)
    assert NOT_SHOWN in " ".join(done.stdout.split())
    assert json.loads(discreet(*base, "--json").stdout)["settings"]["measures"] == list(MEASURES.all())


@pytest.mark.parametrize("chosen", [("--measures", "averaging"), pytest.param((), marks=pytest.mark.slow)])
def test_json_has_every_statistic_sorted_by_optimal(discreet: Run, chosen: tuple[str, ...]) -> None:
    flags = ("--variance", "3", "--bound", "5", "--rule", "flat", "--json", *chosen)
    answer = json.loads(discreet("assess", "eu2021:DE", *flags).stdout)
    assert answer["rule"] == "flat"
    assert answer["spsn"] is True
    assert answer["statistics"] == {"unique": 1244, "published": 3432}
    ratios = [row["optimal"] for row in answer["averaging"]]
    assert ratios == pytest.approx(sorted(ratios), rel=1e-7)
    assert len(ratios) == 1244
    total = next(row for row in answer["averaging"] if row["statistic"] == "total")
    assert total["t"] == 1244
    assert "AGE.M SEX" in [row["statistic"] for row in answer["averaging"]]


def test_the_footnote_of_the_paper_from_a_users_programme(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "town.toml").write_text(TOWN)
    answer = json.loads(discreet("assess", "town.toml", "--variance", "2", "--bound", "5", "--json").stdout)
    total = next(row for row in answer["averaging"] if row["statistic"] == "total")
    assert (total["t"], total["k"], total["plain"]) == (4, 9, 9 / 16)


def test_no_spsn_known_and_exact(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "town.toml").write_text(TOWN)
    base = ("assess", "town.toml", "--variance", "2", "--bound", "5", "--json")
    assert json.loads(discreet(*base, "--no-spsn").stdout)["spsn"] is False
    known = json.loads(discreet(*base, "--known", "total").stdout)["averaging"]
    assert next(row for row in known if row["statistic"] == "total")["optimal"] == 0
    exact = json.loads(discreet(*base, "--exact", "SEX", "--measures", "projection").stdout)["results"]
    assert exact[0]["value"] == pytest.approx((2 / 3) ** 2)


def test_a_ptable_from_a_file_is_assessed_as_its_settings_are(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "town.toml").write_text(TOWN)
    write_ptable(PTable.max_entropy(variance=2, bound=5), tmp_path / "table.txt", "sas")
    asked = ("assess", "town.toml", "--measures", "averaging,bound", "--json")
    one = json.loads(discreet(*asked, "--ptable", "table.txt").stdout)["results"]
    other = json.loads(discreet(*asked, "--variance", "2", "--bound", "5").stdout)["results"]
    assert [each["name"] for each in one] == [each["name"] for each in other]
    # Eight decimals are kept.
    assert [each["value"] for each in one] == pytest.approx([each["value"] for each in other], rel=1e-4)
    done = discreet(*asked, "--ptable", "table.txt", "--bound", "5")
    assert done.returncode == 2
    assert "--ptable is the whole noise. Leave --bound out." in done.stdout + done.stderr


def test_a_record_says_its_noise_itself(discreet: Run, tmp_path: Path) -> None:
    record = Record(programme="eu2021:LU", mechanism="fresh", law="geometric", parameters={"epsilon": 0.3}, spsn=False)
    (tmp_path / "record.json").write_text(record.to_json())
    answer = json.loads(discreet("assess", "record.json", "--closed-form", "--json").stdout)
    assert answer["settings"]["law"] == "geometric"
    assert answer["spsn"] is False
    assert (
        json.loads(discreet("assess", "eu2021:LU", "--closed-form", "--epsilon", "0.3", "--no-spsn", "--json").stdout)[
            "results"
        ]
        == answer["results"]
    )
    done = discreet("assess", "record.json", "--variance", "3", "--bound", "5")
    assert done.returncode == 2
    assert "A record defines the noise" in done.stderr


LU = ("eu2021:LU", "--variance", "3", "--bound", "5")
SMALL = ("small.toml", "--variance", "3", "--bound", "5")


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [("--measures", "averaging"), pytest.param((), marks=pytest.mark.slow)])
def test_countries_with_one_category_levels_can_be_counted_as_the_paper_did(
    discreet: Run, chosen: tuple[str, ...]
) -> None:
    done = discreet("assess", *LU, "--closed-form", "--keep-single", "--json", *chosen)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["statistics"]["unique"] == 7171


def test_what_is_left_out_or_does_not_apply_is_said(discreet: Run, tmp_path: Path) -> None:
    done = discreet("assess", "eu2021:LU", "--closed-form", "--law", "laplace", "--scale", "2", "--details")
    assert "does not apply: the noise has no bound" in done.stdout
    assert "Tables excluded from these figures: 7 of occupied" in done.stdout
    (tmp_path / "wide.toml").write_text('[topics.A]\nsize = 21\n[[tables]]\nid = "1"\ncolumns = ["A"]\n')
    done = discreet("assess", "wide.toml", "--variance", "3", "--bound", "5", "--measures", "margins", "--details")
    text = " ".join(done.stdout.split())
    assert "no level next to the total has 2 to 4 categories" in text
    assert "1 table of persons" in text


@pytest.mark.parametrize("law", [("laplace", "--scale"), ("gaussian", "--sigma"), ("discrete-gaussian", "--sigma")])
def test_every_law_can_be_assessed(discreet: Run, law: tuple[str, str]) -> None:
    done = discreet("assess", "eu2021:LU", "--closed-form", "--law", law[0], law[1], "2", "--measures", "averaging")
    assert done.returncode == 0, done.stderr


MISTAKES = {
    "no noise": (["eu2021:LU"], "--variance"),
    "no bound": (["eu2021:LU", "--variance", "3"], "--bound is missing. Example: --variance 3 --bound 5"),
    "both kinds": (["eu2021:LU", "--variance", "3", "--epsilon", "1"], "Give one kind"),
    "country": (["eu2021:LX", "--variance", "3", "--bound", "5"], "no country for eu2021 'LX'"),
    "programme": (["eu2020:LU", "--variance", "3", "--bound", "5"], "Did you mean eu2021"),
    "no file": (["town.toml", "--variance", "3", "--bound", "5"], "town.toml: cannot be read"),
    "no record": (["record.json"], "record.json cannot be read"),
    "rule": ([*LU, "--rule", "level"], "no rule 'level'. Did you mean levels"),
    "measure": ([*LU, "--measures", "averagin"], "Did you mean averaging"),
    "law": ([*LU, "--law", "gauss"], "Did you mean gaussian"),
    "population": ([*LU, "--population", "family"], "Did you mean families"),
    "known": ([*SMALL, "--known", "SEXX"], "no statistic 'SEXX'. Did you mean SEX"),
    "target": ([*LU, "--target", "averaging=1.5"], "The target averaging is 1.5; it must be from 0.01 to"),
    "variance": (["eu2021:LU", "--variance", "0", "--bound", "5"], "variance must be a positive number"),
    "vintage": (["eu2021:LU:lau1999", "--variance", "3", "--bound", "5"], "lau must be one of 2020, 2019, 2018, 2010"),
    "no total": (["grid2021:DE:100", *LU[1:], "--exact", "total"], "no statistic 'total'"),
    "unused variance": (
        ["eu2021:LU", "--law", "uniform", "--bound", "5", "--variance", "3"],
        "parameter of the noise distribution uniform",
    ),
    "unused threshold": (
        ["eu2021:LU", "--epsilon", "1", "--threshold", "2"],
        "parameter of the noise distribution geometric 'threshold'",
    ),
    "no scale": (["eu2021:LU", "--law", "laplace"], "The noise distribution laplace needs --scale. Example: --scale 2"),
    "projection of nothing": ([*LU, "--measures", "projection"], "The measure projection needs --exact STAT"),
    "records 0": ([*SMALL, "--records", "0"], "records must be a whole number from 3 on"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_exit_code_2(discreet: Run, tmp_path: Path, name: str) -> None:
    arguments, message = MISTAKES[name]
    (tmp_path / "small.toml").write_text(TOWN)
    done = discreet("assess", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


# --- Releases ---


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> town.Command:
    """Return the command in a folder with a release of a small town."""
    town.make(tmp_path)
    run = town.command(tmp_path, monkeypatch, capsys)
    flags = ("--id", "PERSON_ID", "--secret-file", "office.secret", "--variance", "3", "--bound", "5")
    done = run("protect", "town.csv", "--programme", "town.toml", "--tables", "1.1,2", *flags, "--out", "out")
    assert done.code == 0, done.err
    return run


def test_a_release_its_record_and_its_programme_agree(office: town.Command, tmp_path: Path) -> None:
    answers = [
        json.loads(office("assess", source, "--json", *more).out)
        for source, more in (("out", ()), ("out.curator/record.json", ()), ("out/", ()))
    ]
    for answer in answers:
        assert answer.pop("settings").pop("source")
    assert answers[0] == answers[2]
    # Which counts are large is seen in the release alone.
    release, record = (
        [result for result in answer["results"] if not result["name"].startswith("bound_revealed")]
        for answer in answers[:2]
    )
    assert release == record
    # The two tables that were published, and no other of the programme.
    (tmp_path / "two.toml").write_text("".join(town.PROGRAMME.partition('[[tables]]\nid = "1.2"')[0]) + TABLE_2)
    meant = json.loads(office("assess", "two.toml", "--variance", "3", "--bound", "5", "--json").out)
    assert meant["averaging"] == answers[0]["averaging"]
    assert meant["statistics"] == {"unique": 8, "published": 10}


TABLE_2 = '[[tables]]\nid = "2"\ncolumns = ["AREA", "SEX"]\n'


def test_a_release_can_be_assessed_from_within_or_after_a_move(
    office: town.Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = office("assess", "out").out
    monkeypatch.chdir(tmp_path / "out")
    assert office("assess", ".").out == expected
    monkeypatch.chdir(tmp_path)
    (tmp_path / "archive").mkdir()
    for name in ("out", "out.curator"):
        (tmp_path / name).rename(tmp_path / "archive" / name)
    # The programme is in the record: its file is not needed any more.
    (tmp_path / "town.toml").unlink()
    assert office("assess", "archive/out").out == expected


def test_who_has_the_release_alone_cannot_assess_it(office: town.Command, tmp_path: Path) -> None:
    (tmp_path / "out.curator" / "record.json").rename(tmp_path / "elsewhere.json")
    done = office("assess", "out")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: out has no out.curator/record.json next to it. Only the curator who made a release can assess it.\n"
    )
    assert office("assess", "elsewhere.json").code == 0


def test_a_folder_that_is_no_release_is_refused(office: town.Command, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for folder, more in (("photos", ()), ("photos", ("--variance", "3", "--bound", "5")), ("out.curator", ())):
        done = office("assess", folder, *more)
        assert (done.code, done.out) == (2, "")
        assert f"error: {folder} contains no release.json. Specify the folder of a release" in done.err


@pytest.mark.parametrize(
    "flags",
    one_in(3, [("--variance", "3"), ("--bound", "5"), ("--threshold", "1"), ("--epsilon", "1"), ("--scale", "1"),
     ("--sigma", "1"), ("--law", "laplace"), ("--spsn",), ("--no-spsn",)]),
)  # fmt: skip
def test_a_release_says_its_noise_itself(office: town.Command, flags: tuple[str, ...]) -> None:
    for source in ("out", "out.curator/record.json"):
        done = office("assess", source, *flags)
        assert (done.code, done.out) == (2, "")
        name = flags[0].removeprefix("--").removeprefix("no-")
        assert f"defines the noise; {name} cannot be given too. Leave them out." in done.err


def test_an_exact_release_is_refused_with_the_reason(office: town.Command) -> None:
    flags = ("--mechanism", "exact", "--out", "truth")
    assert office("protect", "town.csv", "--programme", "town.toml", *flags).code == 0
    for source in ("truth", "truth.curator/record.json"):
        done = office("assess", source)
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "error: This release contains true counts without noise, so there is no noise to assess. "
            "Do not publish it. Assess a release with noise.\n"
        )
