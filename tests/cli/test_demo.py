"""`discreet demo` goes the whole way and leaves a page about it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discreet.accuracy import release_utility
from discreet.calibration.noise_design import design
from discreet.cli.demo import Country, DemoFolders, choose, run, said
from discreet.programme.programme_files import load_programme
from discreet.release.release import open_release
from discreet.sources.ons_sample import ons_files as ons
from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.reports.release_report import Report
    from tests.cli.town import Command

MADE = {"index.html", "people.parquet", "office.secret", "release", "release.curator"}


@pytest.fixture(scope="module", autouse=True)
def _short_attacks() -> Iterator[None]:
    """Let simulations be short: here it matters that all is there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_utility, "TABLES", 30)
        yield


@pytest.fixture
def discreet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.setenv("COLUMNS", "120")
    return town.command(tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> tuple[DemoFolders, Report]:
    """Return the demo of a very small country."""
    places = DemoFolders(tmp_path_factory.mktemp("demo") / "d")
    places.prepare(replace=False)
    return places, run("synthetic", places, replace=False, country=Country(persons=2000))


def checksums(release: Path) -> list[str]:
    return [file["sha256"] for file in open_release(release).description["files"]]


@pytest.mark.slow
def test_a_country_a_release_and_a_page_are_made(country: tuple[DemoFolders, Report]) -> None:
    places, report = country
    assert {path.name for path in places.folder.iterdir()} == MADE
    page = places.page.read_text(encoding="utf-8")
    assert "2,000 made-up persons" in page
    assert page.rstrip().endswith("</html>")
    assert len(report.summary.sentences) == 3
    assert report.found.risk.attacks is not None
    assert report.found.utility.measured.results


@pytest.mark.slow
def test_the_noise_is_that_of_the_design(country: tuple[DemoFolders, Report]) -> None:
    _, report = country
    held = design("eu2021:LU", attacker="paper", closed_form=True, cuts=0)
    assert report.found.published.record is not None
    assert held.recommended == (
        report.found.published.record.parameters["variance"],
        report.found.published.record.parameters["bound"],
    )


@pytest.mark.slow
def test_the_commands_on_the_page_make_the_same_release(
    country: tuple[DemoFolders, Report], discreet: Command, tmp_path: Path
) -> None:
    places, report = country
    made, _, secret, protect, *_ = [command.split()[1:] for command in report.found.commands]
    assert secret[:2] == ["keys", "new"]
    shutil.copy(places.secret, tmp_path)
    for command in (made, protect):
        done = discreet(*command)
        assert done.code == 0, done.err
    assert checksums(tmp_path / "release") == checksums(places.release)


FEW = """
[[tables]]
id = "ages"
columns = ["GEO", "SEX", "AGE.L"]
universe = "BASE = 1"
[[tables]]
id = "births"
columns = ["BIRTH", "SEX"]
universe = "BASE = 1"
"""


@pytest.mark.parametrize("tables", ["few", pytest.param("all", marks=pytest.mark.slow)])
def test_real_persons_say_where_they_are_from(
    discreet: Command, tmp_path: Path, tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tables == "few":
        topics, _, _ = ons.programme().read_text(encoding="utf-8").partition("[[tables]]")
        (tmp_path / "few.toml").write_text(topics + FEW, encoding="utf-8")
        monkeypatch.setattr(ons, "programme", lambda: tmp_path / "few.toml")
    done = discreet("demo", "--out", "d", "--data", "ons")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [line[:6] for line in lines if " of 5  " in line] == [f"{step} of 5" for step in range(1, 6)]
    page = (tmp_path / "d/index.html").read_text(encoding="utf-8")
    assert "Office for National Statistics, Open Government Licence" in page
    # It ends with three sentences and the path of the page.
    *_, first, second, third, empty, last = lines
    assert empty == ""
    assert last == "Open d/index.html in a browser."
    for sentence in (first, second, third):
        assert sentence in page.replace("&#39;", "'")

    refused = discreet("demo", "--out", "d", "--data", "ons")
    assert refused.code == 2
    assert "d/index.html exists already and was left as it is" in refused.err
    assert refused.out == ""
    assert (tmp_path / "d/index.html").read_text(encoding="utf-8") == page


@pytest.mark.slow
def test_another_demo_keeps_the_secret_and_the_release(discreet: Command, tmp_path: Path) -> None:
    discreet("demo", "--out", "d", "--data", "ons")
    before = checksums(tmp_path / "d/release")
    again = discreet("demo", "--out", "d", "--data", "ons", "--replace")
    assert again.code == 0, again.err
    assert "office.secret, kept from the last time" in again.out
    assert checksums(tmp_path / "d/release") == before


@pytest.mark.parametrize("there", ["index.html", "people.parquet", "office.secret", "release/a", "release.curator/a"])
def test_it_keeps_what_is_there(discreet: Command, tmp_path: Path, there: str) -> None:
    path, kept = tmp_path / "d" / there, Path(there).parts[0]
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    refused = discreet("demo", "--out", "d")
    assert refused.code == 2
    assert kept in refused.err
    assert refused.out == ""
    assert path.read_text() == "mine"
    assert [path.name for path in (tmp_path / "d").iterdir()] == [kept]


def test_a_folder_that_cannot_be_made_is_one_message(discreet: Command, tmp_path: Path) -> None:
    (tmp_path / "d").write_text("a file")
    refused = discreet("demo", "--out", "d/e")
    assert refused.code == 2
    assert refused.err.startswith("error: d/e cannot be written: ")


def test_persons_that_are_not_known_are_refused(discreet: Command, tmp_path: Path) -> None:
    refused = discreet("demo", "--out", "d", "--data", "osn")
    assert refused.code == 2
    assert "ons" in refused.err
    assert not (tmp_path / "d").exists()


@pytest.mark.slow
def test_the_noise_that_holds_off_everybody_is_taken_where_there_is_one() -> None:
    found, setting = choose(load_programme("eu2021:LU"))
    assert not found.feasible
    assert said(found, setting).startswith("Nothing is left for Luxembourg")
    assert f"averages of the paper: variance {setting.variance:g} and bound {setting.bound}" in said(found, setting)
