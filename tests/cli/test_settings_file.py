"""Flags from a TOML file: names and types are checked, and what was given goes before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from discreet.cli.protect import KINDS
from discreet.cli.settings_file import with_settings
from discreet.errors import SettingsFileError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

NOTHING: dict[str, Any] = dict.fromkeys(KINDS)


def read(tmp_path: Path, text: str, **given: object) -> dict[str, Any]:
    (tmp_path / "run.toml").write_text(text)
    return with_settings(tmp_path / "run.toml", NOTHING | given, KINDS)


def test_without_a_file_flags_are_as_given() -> None:
    given = NOTHING | {"bound": 5}
    assert with_settings(None, given, KINDS) == given


@pytest.mark.parametrize("name", ["key-mode", "key_mode"])
def test_names_are_those_of_the_flags_with_dashes_or_underscores(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, f'{name} = "plain"\n')["key_mode"] == "plain"


def test_what_was_given_goes_before(tmp_path: Path) -> None:
    found = read(tmp_path, "variance = 3\nbound = 5\nthreshold = 2\n", variance=2.0, threshold=0)
    assert (found["variance"], found["bound"], found["threshold"]) == (2.0, 5, 0)


def test_a_whole_number_is_a_number(tmp_path: Path) -> None:
    assert read(tmp_path, "variance = 3\nepsilon = 0.5\n") == NOTHING | {"variance": 3, "epsilon": 0.5}


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeffbound = 5\n")["bound"] == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bound = 5.0\n", r"^run\.toml has a wrong value for bound: it must be a whole number\. Correct it\.$"),
        ("bound = true\n", "for bound: it must be a whole number"),
        ('variance = "3"\n', "for variance: it must be a number"),
        ("variance = false\n", "for variance: it must be a number"),
        ("id = 7\n", "for id: it must be a text"),
        ('tables = ["1", "2"]\n', "for tables: it must be a text"),
        ("keep-exact = 1\n", "for keep-exact: it must be true or false"),
        ("law = 2021-01-01\n", "for law: it must be a text"),
        ("bound\n", r"^run\.toml is not TOML: .*line 1.*\. Correct the line\.$"),
        ("bound = 5\nbound = 6\n", "is not TOML: Cannot overwrite a value"),
    ],
)
def test_wrong_values_are_named_and_not_shown(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsFileError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "variants = 3\n",
            r"^There is no setting in run\.toml 'variants'\. Did you mean variance or regions\? Available: programme,",
        ),
        ('out = "release"\n', "There is no setting in run.toml 'out'"),
        ("[protect]\nbound = 5\n", "There is no setting in run.toml 'protect'"),
        ("versionlabel = 2\n", "Did you mean version-label"),
    ],
)
def test_unknown_names_are_told_with_the_nearest(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        read(tmp_path, text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsFileError, match=r"^no\.toml cannot be read: No such file or directory\. Check the path"
    ):
        with_settings(tmp_path / "no.toml", NOTHING, KINDS)
    (tmp_path / "run.toml").write_bytes(b"id = '\xff'\n")
    with pytest.raises(SettingsFileError, match=r"^run\.toml is not text in UTF-8\. Save it as UTF-8\.$"):
        with_settings(tmp_path / "run.toml", NOTHING, KINDS)
