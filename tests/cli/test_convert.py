"""`discreet convert`: one line on what was written; a mistake is one message, exit code 2 and no file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli import town
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.town import Command


@pytest.fixture
def discreet(
    tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Return the command, in a folder with a release."""
    town.copy(published, tmp_path)
    return town.command(tmp_path, monkeypatch, capsys)


def test_it_says_what_was_written(discreet: Command, tmp_path: Path) -> None:
    done = discreet("convert", "out", "tables", "--to", "px")
    assert (done.code, done.out, done.err) == (0, "tables: 3 tables as px.\n", "")
    assert len(list((tmp_path / "tables").glob("*.px"))) == 3


def test_options_are_handed_on(discreet: Command, tmp_path: Path) -> None:
    arguments = ("--to", "csv", "--tables", "1.1", "--labels", "--zeros", "--intervals")
    assert discreet("convert", "out", "tables", *arguments).code == 0
    (path,) = (tmp_path / "tables").iterdir()
    head = path.read_text(encoding="utf-8").splitlines()[0]
    assert "_label" in head
    assert head.endswith('"value","lower","upper"')


@each(
    ("arguments", "message"),
    [
        (("none", "new", "--to", "csv"), "none contains no release.json"),
        (("out", "new", "--to", "cvs"), "cvs"),
        (("out", "new", "--to", "xlsx"), "new is written as one file. Choose a name that ends with .xlsx."),
        (("out", "out", "--to", "csv"), "out"),
        (("out", "new", "--to", "csv", "--tables", "7"), "7"),
        (("out", "new", "--to", "csv", "--language", "fr"), "fr"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, discreet: Command, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = discreet("convert", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.strip().splitlines()) <= 3
    assert sorted(tmp_path.rglob("*")) == before
