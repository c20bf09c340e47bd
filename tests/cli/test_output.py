"""Sentences are wrapped, tables lined up, paths printed in JSON; the file of a picture is looked at before any work."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discreet.cli import output
from discreet.cli.output import check_picture
from discreet.errors import FileExistsAlreadyError, FileWriteError, ParameterError
from discreet.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    monkeypatch.setenv("COLUMNS", "20")

    def lines() -> list[str]:
        return capsys.readouterr().out.splitlines()

    return lines


def test_a_paragraph_is_as_wide_as_the_terminal_and_breaks_no_flag(printed: Callable[[], list[str]]) -> None:
    output.paragraph("Accept more noise: --no-hide-bound")
    assert printed() == ["Accept more noise:", "--no-hide-bound"]


def test_no_line_is_wider_than_the_widest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    assert output.width() == output.WIDEST


def test_sentences_of_a_section_share_a_label(printed: Callable[[], list[str]]) -> None:
    output.section("bound", ["It is hidden well.", "So is E."], 8)
    assert printed() == ["bound   It is hidden", "        well.", "        So is E."]


def test_a_label_without_indent_has_its_own_width(printed: Callable[[], list[str]]) -> None:
    output.labelled("1  averaging  ", "one two")
    assert printed() == ["1  averaging  one", "              two"]


def test_cells_of_a_table_stand_below_their_heads(printed: Callable[[], list[str]]) -> None:
    output.table([("size", "<6"), ("cells", ">7")], [["1-9", "12"], ["10+", "1,234"]])
    assert printed() == ["size    cells", "1-9        12", "10+     1,234"]


def test_a_row_that_is_too_short_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="argument 2 is"):
        output.table([("size", "<6"), ("cells", ">7")], [["1-9"]])


def test_each_assumption_is_given_once() -> None:
    first, second = (
        Result(name=name, value=1.0, unit="1", sentence=".", assumptions=texts)
        for name, texts in (("a", ("flat prior", "no keys")), ("b", ("no keys", "large counts")))
    )
    assert output.assumptions([first, second]) == "flat prior; no keys; large counts"
    assert output.assumptions([first, second], without=("no",)) == "flat prior; large counts"
    assert not output.assumptions([])


def test_paths_are_text_in_json_and_other_objects_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    output.answer("verify", {"release": Path("out")}, [], ["take care"], files=2)
    assert json.loads(capsys.readouterr().out) == {
        "schema": output.SCHEMA,
        "command": "verify",
        "settings": {"release": "out"},
        "results": [],
        "warnings": ["take care"],
        "files": 2,
    }
    with pytest.raises(TypeError, match="object is not a JSON value"):
        output.answer("verify", {"release": object()}, [], [])


@pytest.mark.parametrize("name", ["c.png", "C.PNG", "a.b.png", "c.svg"])
def test_a_picture_that_is_not_there_may_be_written(tmp_path: Path, name: str) -> None:
    check_picture(tmp_path / name, replace=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["c.pdf", "c", "png", ".png", "c.png.txt"])
def test_another_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ParameterError, match=rf"--plot writes PNG or SVG; {name} has another ending\. Use FILE\.png"
    ) as error:
        check_picture(tmp_path / name, replace=True)
    assert error.value.parameter == "plot"


def test_a_picture_that_exists_is_replaced_only_if_asked(tmp_path: Path) -> None:
    (tmp_path / "c.png").write_bytes(b"older")
    with pytest.raises(FileExistsAlreadyError, match="--replace"):
        check_picture(tmp_path / "c.png", replace=False)
    check_picture(tmp_path / "c.png", replace=True)
    assert (tmp_path / "c.png").read_bytes() == b"older"


def test_a_folder_or_a_missing_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(FileWriteError, match="it is a folder"):
        check_picture(tmp_path / "folder.png", replace=True)
    with pytest.raises(FileWriteError, match="its folder does not exist"):
        check_picture(tmp_path / "none" / "c.png", replace=False)


@pytest.mark.skipif(os.name != "posix", reason="device files of POSIX")
def test_a_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "null.png").symlink_to("/dev/null")
    with pytest.raises(FileWriteError, match="device"):
        check_picture(tmp_path / "null.png", replace=True)
