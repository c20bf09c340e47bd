"""Writing a report: whole, where it may be, and before any work it is known whether it can be."""

from __future__ import annotations

import shutil
import stat
from typing import TYPE_CHECKING, Any

import pytest

import discreet
from discreet.errors import FileExistsAlreadyError, FileWriteError, InputError, ParameterError, ReleaseError
from discreet.reports import release_report
from discreet.reports.html_page import SECTIONS
from discreet.reports.release_report import report

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where anything is gathered: what cannot be written is refused before."""

    def gather(*_: object, **__: object) -> None:
        pytest.fail("work was begun")

    monkeypatch.setattr(release_report, "gather", gather)


@pytest.mark.slow
def test_it_is_there_with_its_figures(town_folder: Path, tmp_path: Path) -> None:
    stages: set[str] = set()
    made = discreet.report(
        town_folder / "out",
        tmp_path / "page.html",
        figures=tmp_path / "figures",
        progress=lambda stage, *_: stages.add(stage),
    )
    assert made.path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "figures").stat().st_mode) == 0o700
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == sorted(
        f"{chart.name}.{form}" for chart in made.charts for form in ("png", "svg")
    )
    assert all(path.stat().st_size > 5000 for path in made.figures)
    assert made.sections == tuple(SECTIONS.values())
    assert made.missing == ()
    assert {"assessing", "attacking", "comparing"} <= stages
    assert str(made).splitlines() == [made.decision.headline, made.decision.reason, f"Report: {made.path}"]


def test_that_for_everybody_can_be_read_by_everybody(town_folder: Path, tmp_path: Path) -> None:
    made = report(town_folder / "out", tmp_path / "page.html", public=True)
    assert stat.S_IMODE(made.path.stat().st_mode) & 0o044
    assert len(made.missing) == 1


def test_without_true_counts_the_report_says_so(town_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(town_folder / "out", tmp_path / "out")
    shutil.copytree(town_folder / "out.curator", tmp_path / "out.curator")
    shutil.rmtree(tmp_path / "out.curator" / "exact")
    made = report(tmp_path / "out", tmp_path / "page.html")
    assert made.found.risk.attacks is None
    assert made.found.utility.measured.cells is None
    page = made.path.read_text(encoding="utf-8")
    assert page.count("protect --keep-exact") >= 2
    assert {chart.name for chart in made.charts}.isdisjoint({"attacks", "errors-by-size", "small-areas"})


def test_without_a_record_the_public_one_is_named(town_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(town_folder / "out", tmp_path / "out")
    with pytest.raises(ReleaseError, match=r"no record of its noise.*--public"):
        report(tmp_path / "out", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.usefixtures("_no_work")
def test_what_cannot_be_written_is_refused_before_any_work(town_folder: Path, tmp_path: Path) -> None:
    release, page = town_folder / "out", tmp_path / "page.html"
    with pytest.raises(ParameterError, match=r"ends in \.html, not 'page\.pdf'"):
        report(release, tmp_path / "page.pdf")
    with pytest.raises(FileWriteError, match="folder does not exist"):
        report(release, tmp_path / "nowhere" / "page.html")
    page.write_text("mine")
    with pytest.raises(FileExistsAlreadyError):
        report(release, page)
    assert page.read_text() == "mine"


@pytest.mark.usefixtures("_no_work")
def test_nothing_is_written_into_the_release(town_folder: Path) -> None:
    release = town_folder / "out"
    with pytest.raises(FileWriteError, match="part of the release"):
        report(release, release / "page.html", public=True)
    with pytest.raises(FileWriteError, match="part of the release"):
        report(release, town_folder / "page.html", figures=release / "figures")


@pytest.mark.usefixtures("_no_work")
def test_figures_need_a_folder_that_is_free(town_folder: Path, tmp_path: Path) -> None:
    release, page = town_folder / "out", tmp_path / "page.html"
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.png").write_text("mine")
    with pytest.raises(FileWriteError, match="a file, not a folder"):
        report(release, page, figures=tmp_path / "file")
    with pytest.raises(FileExistsAlreadyError):
        report(release, page, figures=tmp_path / "full")
    with pytest.raises(FileWriteError, match="does not exist"):
        report(release, page, figures=tmp_path / "no" / "figures")


@pytest.mark.parametrize("targets", [{"averaging": 1.5}, {"delta": 0.1}, {"nothing": 1}, ["averaging"]])
def test_targets_that_cannot_be_judged_are_refused(town_folder: Path, tmp_path: Path, targets: Any) -> None:  # noqa: ANN401
    with pytest.raises(InputError):
        report(town_folder / "out", tmp_path / "page.html", targets=targets)
    assert not (tmp_path / "page.html").exists()
