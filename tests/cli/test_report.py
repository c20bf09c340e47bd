"""`discreet report`: a page for the curator and one for everybody, as text and as JSON; a mistake is one line."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from discreet.accuracy import release_utility
from discreet.reports.html_page import SECTIONS
from tests.cli import town

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discreet.engines.engine import Engine
    from tests.cli.town import Command

REPORT = ("report", "out", "--out", "report.html", "--quiet")
OWN_KEYS = ["out", "public", "decision", "targets", "charts", "sections", "figures"]
"""As in docs/interfaces.md."""
KEYS = ["schema", "command", "settings", "results", "warnings"]


@pytest.fixture(scope="module", autouse=True)
def _few_tables() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_utility, "TABLES", 50)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Path:
    folder = tmp_path_factory.mktemp("town")
    town.publish(folder, engine)
    return folder


@pytest.fixture
def office(made: Path, tmp_path: Path) -> Path:
    for name in ("out", "out.curator"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def run(office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.setenv("COLUMNS", "100")
    return town.command(office, monkeypatch, capsys)


def read(out: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(out)
    assert list(content) == [*KEYS, *OWN_KEYS]
    return content


def test_the_curator_gets_the_verdict_and_the_path_of_the_page(run: Command, office: Path) -> None:
    done = run(*(flag for flag in REPORT if flag != "--quiet"), "--target", "averaging=0.2")
    assert done.code == 0
    assert len(done.out.splitlines()) <= 24
    text = " ".join(done.out.split())
    assert text.startswith("✗ Do not publish yet")
    assert "Report: report.html (confidential; do not publish)" in text
    assert "--public" in text
    assert (office / "report.html").stat().st_size > 500_000


@pytest.mark.slow
def test_json_has_the_numbers_of_the_summary(run: Command, office: Path) -> None:
    done = run(*REPORT, "--json")
    assert done.code == 0
    content = read(done.out)
    names = ["averaging", "singletons", "bound", "margins", "small-areas", "additivity"]
    checks = content["decision"]["checks"]
    assert [each["name"] for each in checks] == names
    # The town has no singleton cells.
    assert [each["name"] for each in checks if each["value"] is None] == ["singletons"]
    assert {each["name"]: each["value"] for each in content["results"]} == {
        each["name"]: each["value"] for each in checks if each["value"] is not None
    }
    assert content["targets"]["averaging"] == {"target": 0.6827, "origin": "default"}
    assert content["targets"]["singletons"] == {"target": None, "origin": "none"}
    assert content["sections"] == list(SECTIONS.values())
    assert content["out"] == "report.html"
    assert content["settings"] == {
        "release": "out", "public": False, "truth": "out.curator/exact", "budget": 100_000,
        "areas": "AREA", "seed": 0,
    }  # fmt: skip
    assert content["figures"] == []
    page = (office / "report.html").read_text(encoding="utf-8")
    assert content["decision"]["headline"] in page
    assert all(f'data-chart="{chart["name"]}"' in page for chart in content["charts"])


def test_everybody_gets_a_page_of_their_own(run: Command, office: Path) -> None:
    shutil.rmtree(office / "out.curator")
    done = run(*(flag for flag in REPORT if flag != "--quiet"), "--public")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "Report: report.html (public)" in text


def test_quiet_prints_nothing(run: Command, office: Path) -> None:
    done = run(*REPORT, "--public")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (office / "report.html").exists()


@pytest.mark.slow
def test_its_figures_are_files_too(run: Command, office: Path) -> None:
    shutil.rmtree(office / "out.curator")
    content = read(run(*REPORT, "--public", "--figures", "figures", "--json").out)
    assert content["public"] is True
    assert len(content["figures"]) == 2 * len(content["charts"]) == len(list((office / "figures").iterdir()))
    assert [each["name"] for each in content["results"]] == ["averaging", "additivity"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "out"), "error: --out is missing: the page to write. Example: --out report.html"),
        (("report", "out", "--out", "report.txt"), "use a name that ends in .html"),
        (("report", "out", "--out", "out/report.html"), "it would become part of the release"),
        (("report", "out", "--out", "no/report.html"), "its folder does not exist"),
        (("report", "nothing", "--out", "report.html"), "contains no release.json"),
        ((*REPORT, "--target", "averaging=2"), "The target averaging is 2"),
        ((*REPORT, "--target", "averaging"), "NAME=VALUE"),
        ((*REPORT, "--target", "delta=0.1"), "does not judge the target delta"),
        ((*REPORT, "--budget", "soon"), "--budget is 'soon'"),
        ((*REPORT, "--areas", "MOON"), "MOON"),
    ],
)
def test_a_mistake_is_one_message(run: Command, office: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert said in done.err
    assert "Traceback" not in done.err
    assert not (office / "report.html").exists()


def test_a_page_that_is_there_is_kept_unless_told_otherwise(run: Command, office: Path) -> None:
    (office / "report.html").write_text("mine")
    done = run(*REPORT)
    assert done.code == 2
    assert "report.html" in done.err
    assert "--replace" in done.err
    assert (office / "report.html").read_text() == "mine"
    assert run(*REPORT, "--public", "--replace").code == 0


def test_without_a_record_the_page_for_everybody_is_named(run: Command, office: Path) -> None:
    shutil.rmtree(office / "out.curator")
    done = run(*REPORT)
    assert done.code == 2
    assert "Use --public" in done.err
