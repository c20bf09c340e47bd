"""`discreet demo` goes the whole way and leaves a page about it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.cli.demo import Country, Places, commands, demo, tell
from discreet.release.release import open_release

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def discreet(process: Run) -> Run:
    """Return the command in a process of its own: here that is what is looked at."""
    return process


MADE = {"index.html", "people.parquet", "office.secret", "release", "release.curator"}


def checksums(release: Path) -> list[str]:
    return [file["sha256"] for file in open_release(release).description["files"]]


def test_it_makes_a_country_a_release_and_a_page_and_makes_them_again_when_asked(discreet: Run, tmp_path: Path) -> None:
    done = discreet("demo", "--out", "d")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "d").iterdir()} == MADE
    page = (tmp_path / "d/index.html").read_text(encoding="utf-8")
    lines = done.stdout.splitlines()
    assert [line[:6] for line in lines if " of 5  " in line] == [f"{step} of 5" for step in range(1, 6)]
    assert "30,000 made-up persons" in done.stdout
    # It ends with three sentences, which the page has too, and the path of the page.
    *_, first, second, third, empty, last = lines
    assert empty == ""
    assert last == "Open d/index.html in a browser."
    for sentence in (first, second, third):
        assert sentence in page

    before = checksums(tmp_path / "d/release")
    refused = discreet("demo", "--out", "d")
    assert refused.returncode == 2
    assert "d/index.html exists already and was left as it is" in refused.stderr
    assert refused.stdout == ""
    assert (tmp_path / "d/index.html").read_text(encoding="utf-8") == page

    again = discreet("demo", "--out", "d", "--replace")
    assert again.returncode == 0, again.stderr
    assert "office.secret, kept from the last time" in again.stdout
    assert checksums(tmp_path / "d/release") == before
    assert (tmp_path / "d/index.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("there", ["index.html", "people.parquet", "office.secret", "release/a", "release.curator/a"])
def test_it_keeps_what_is_there(discreet: Run, tmp_path: Path, there: str) -> None:
    path, kept = tmp_path / "d" / there, Path(there).parts[0]
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    refused = discreet("demo", "--out", "d")
    assert refused.returncode == 2
    assert kept in refused.stderr
    assert refused.stdout == ""
    assert path.read_text() == "mine"
    assert [path.name for path in (tmp_path / "d").iterdir()] == [kept]


def test_a_folder_that_cannot_be_made_is_one_message(discreet: Run, tmp_path: Path) -> None:
    (tmp_path / "d").write_text("a file")
    refused = discreet("demo", "--out", "d/e")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: d/e cannot be written: ")


def test_the_commands_on_the_page_make_the_same_release(discreet: Run, tmp_path: Path) -> None:
    country, places = Country(persons=2000), Places(tmp_path / "d")
    places.prepare(replace=False)
    told = tell(country, places, replace=False)
    assert told.commands == commands(country, places)
    assert told.example.total.true == 12
    assert told.made.persons == told.release.record.records == 2000
    shutil.copy(places.secret, tmp_path)
    made, secret, *others = [command.split()[1:] for command in told.commands]
    assert secret[:2] == ["keys", "new"]
    for command in (made, *others):
        done = discreet(*command)
        assert done.returncode == 0, done.stderr
    assert checksums(tmp_path / "release") == checksums(places.release)


def test_its_help_says_what_it_makes() -> None:
    assert demo.__doc__ is not None
    assert demo.__doc__.startswith("Make up a small country, protect its census, assess the release, and write a page")
