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
OWN_KEYS = ["out", "public", "sentences", "charts", "sections", "figures"]
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


def test_the_curator_is_told_three_things_and_where_the_page_is(run: Command, office: Path) -> None:
    done = run(*REPORT)
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    assert text.startswith("An attacker who combines ")
    assert "report.html holds the report, one file that needs nothing else, for the curator alone." in text
    assert "discreet report --public" in text
    assert (office / "report.html").stat().st_size > 500_000


@pytest.mark.slow
def test_json_has_the_numbers_of_the_summary(run: Command, office: Path) -> None:
    done = run(*REPORT, "--json")
    assert done.code == 0
    content = read(done.out)
    averaging, certain, bound, areas = (each["name"] for each in content["results"])
    assert (averaging, certain, areas) == ("averaging_success", "certain_counts", "small_areas_off")
    # The prediction, or what attacks found out about this release, whose secret is new in every run.
    assert bound in {"bound_revealed", "bound_found"}
    assert content["sections"] == list(SECTIONS.values())
    assert content["out"] == "report.html"
    assert content["settings"] == {
        "release": "out", "public": False, "truth": "out.curator/exact", "confidence": 0.6827, "budget": 100_000,
        "areas": "AREA", "seed": 0,
    }  # fmt: skip
    assert len(content["sentences"]) == 3
    assert content["figures"] == []
    page = (office / "report.html").read_text(encoding="utf-8")
    assert all(f'data-chart="{chart["name"]}"' in page for chart in content["charts"])


def test_everybody_gets_a_page_of_their_own(run: Command, office: Path) -> None:
    shutil.rmtree(office / "out.curator")
    done = run(*REPORT, "--public")
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    assert "for everybody." in text
    assert "Note: What attacks achieve" in text


@pytest.mark.slow
def test_its_figures_are_files_too(run: Command, office: Path) -> None:
    shutil.rmtree(office / "out.curator")
    content = read(run(*REPORT, "--public", "--figures", "figures", "--json").out)
    assert content["public"] is True
    assert len(content["figures"]) == 2 * len(content["charts"]) == len(list((office / "figures").iterdir()))
    assert [each["name"] for each in content["results"]] == ["averaging_success"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "out"), "error: --out is missing: the page to write. Example: --out report.html"),
        (("report", "out", "--out", "report.txt"), "give a name that ends in .html"),
        (("report", "out", "--out", "out/report.html"), "it would become part of the release"),
        (("report", "out", "--out", "no/report.html"), "its folder does not exist"),
        (("report", "nothing", "--out", "report.html"), "holds no release.json"),
        ((*REPORT, "--confidence", "2"), "confidence must be between 0 and"),
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
    assert "Give --public" in done.err
