"""`discreet demo`: a census from records to a report, and a census without feasible noise."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from discreet.accuracy import release_utility
from discreet.calibration.noise_design import design
from discreet.calibration.recommendation import Setting
from discreet.cli import demo
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import choose_tables
from discreet.release.release import open_release
from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.calibration.noise_design import NoiseDesign
    from discreet.programme.model import Programme
    from tests.cli.town import Command

MADE = {"index.html", "people.parquet", "census.toml", "luxembourg.svg", "office.secret", "release", "release.curator"}


@pytest.fixture(scope="module", autouse=True)
def _short_work() -> Iterator[None]:
    """Shorten simulations, and design for a small infeasible programme instead of a country."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_utility, "TABLES", 30)
        patch.setattr(demo, "design", quick_design)
        yield


def quick_design(programme: Programme | str, **how: Any) -> NoiseDesign:  # noqa: ANN401 - passed on
    """Return a design; of the country with the closed form, which is infeasible too."""
    return design(programme, closed_form=isinstance(programme, str), **how)


@pytest.fixture
def discreet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.setenv("COLUMNS", "120")
    return town.command(tmp_path, monkeypatch, capsys)


def checksums(release: Path) -> list[str]:
    return [file["sha256"] for file in open_release(release).description["files"]]


@pytest.mark.slow
def test_a_feasible_census_is_published_and_an_infeasible_one_explained(discreet: Command, tmp_path: Path) -> None:
    done = discreet("demo", "--out", "d")
    assert done.code == 0, done.err
    places = demo.DemoFolders(tmp_path / "d")
    assert {path.name for path in places.folder.iterdir()} == MADE
    lines = done.out.splitlines()
    assert [line[:6] for line in lines if " of 6  " in line] == [f"{step} of 6" for step in range(1, 7)]
    page = places.page.read_text(encoding="utf-8")
    assert "Office for National Statistics, Open Government Licence" in page
    # The noise is the recommended one, so that the noise targets are met.
    record = open_release(places.release).record
    programme = choose_tables(load_programme(places.programme), demo.TABLES, None)
    found = design(programme, targets=demo.MARGIN, cuts=0)
    assert found.recommended == (record.parameters["variance"], record.parameters["bound"])
    assert "Meets the targets set" in done.out
    assert "Do not publish yet" not in page
    assert "It is the recommended noise with a target of 55 % for bound disclosure" in page
    # No setting is feasible for the country; the output states what to relax.
    text = " ".join(done.out.split())
    assert "No setting satisfies all constraints for Luxembourg" in text
    assert "--max-bound" in text
    assert places.chart.read_text(encoding="utf-8").startswith("<svg")

    refused = discreet("demo", "--out", "d")
    assert refused.code == 2
    assert "d/index.html" in refused.err
    assert refused.out == ""
    assert places.page.read_text(encoding="utf-8") == page


@pytest.mark.slow
def test_the_commands_on_the_page_make_the_same_release(discreet: Command, tmp_path: Path) -> None:
    assert discreet("demo", "--out", "d").code == 0
    places = demo.DemoFolders(tmp_path / "d")
    record = open_release(places.release).record
    setting = Setting(record.parameters["variance"], record.parameters["bound"])
    new, protect = (command.split()[1:] for command in demo.commands(setting, places))
    assert new[:2] == ["keys", "new"]
    page = places.page.read_text(encoding="utf-8")
    assert all(f"<span>{word}</span>" in page for word in protect)
    for path in (places.secret, places.people, places.programme):
        shutil.copy(path, tmp_path)
    done = discreet(*protect)
    assert done.code == 0, done.err
    assert checksums(tmp_path / "release") == checksums(places.release)
    again = discreet("demo", "--out", "d", "--replace")
    assert again.code == 0, again.err
    assert "office.secret: kept" in again.out
    assert checksums(places.release) == checksums(tmp_path / "release")


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
