"""A release.json read back: whatever is wrong in it is one clear error that names it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from discreet.errors import ReleaseError
from discreet.release.release import read_description
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path

FILE = {"id": "1", "file": "tables/1.parquet", "rows": 3, "bytes": 100, "sha256": "ab"}
GOOD: dict[str, Any] = {
    "schema": "discreet/1",
    "kind": "release",
    "name": "small town",
    "noise": {"method": "random noise"},
    "format": "parquet",
    "files": [FILE],
    "programme": {},
}


def test_a_good_description_is_returned_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text(json.dumps({**GOOD, "new": "entries of later versions do no harm"}))
    assert read_description(tmp_path)["files"] == [FILE]


@each(
    ("text", "message"),
    [
        (b"", "has a release.json that is not JSON"),
        (b"{", "has a release.json that is not JSON"),
        (b"\xff\xfe\x00", "has a release.json that is not text in UTF-8"),
        (b"[" * 100_000, "has a release.json that has more than 100 levels of nested objects or lists"),
        (b"[]", "has a release.json with another schema than discreet/1 or discreet/2"),
        (b"null", "has a release.json with another schema than discreet/1 or discreet/2"),
        (b'{"schema": "discreet/3", "kind": "release"}', "with another schema than discreet/1 or discreet/2"),
        (json.dumps({**GOOD, "schema": "discreet/2", "counts": 5}).encode(), "counts is not a list"),
        (json.dumps({**GOOD, "schema": "discreet/2"}).encode(), "counts is not a list"),
        (json.dumps({**GOOD, "readme": 5}).encode(), "readme is not text"),
        (b'{"schema": "discreet/1", "kind": "record"}', "with another schema than discreet/1 or discreet/2"),
    ],
)
def test_what_is_no_description_is_refused(text: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "release.json").write_bytes(text)
    with pytest.raises(ReleaseError, match=message) as caught:
        read_description(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path} has")
    assert caught.value.path == tmp_path


@each(
    ("told", "message"),
    [
        ({"typical_noise": "1.4"}, "noise.typical_noise is not a number"),
        ({"typical_noise": True}, "noise.typical_noise is not a number"),
        ({"typical_noise": -1}, "noise.typical_noise is less than 0 or not finite"),
        ({"typical_noise": float("nan")}, "noise.typical_noise is less than 0 or not finite"),
        ({"typical_noise": float("inf")}, "noise.typical_noise is less than 0 or not finite"),
        ({"bound": 10}, "noise.bound is not text"),
        ({"method": None}, "noise.method is not text"),
        ({"smallest_published": 2.5}, "noise.smallest_published is not a whole number"),
        ({"smallest_published": 0}, "noise.smallest_published is less than 1 or not finite"),
        ({"privacy": 3}, "noise.privacy is not an object"),
        ({"privacy": {"epsilon": "1", "delta": 0, "condition": ""}}, "noise.privacy.epsilon is not a number"),
        ({"privacy": {"epsilon": 1}}, "noise.privacy.delta is missing"),
    ],
)
def test_what_is_told_of_the_noise_is_checked(told: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text(json.dumps({**GOOD, "noise": told}))
    with pytest.raises(ReleaseError, match=re.escape(message)):
        read_description(tmp_path)


@each("lacking", ["name", "noise", "format", "files", "programme"])
@each("value", [None, 5, True])
def test_an_entry_that_is_missing_or_of_another_kind_is_named(lacking: str, value: object, tmp_path: Path) -> None:
    content = {name: entry for name, entry in GOOD.items() if name != lacking}
    (tmp_path / "release.json").write_text(json.dumps(content))
    with pytest.raises(
        ReleaseError,
        match=rf"release.json in which {lacking} is missing\. Restore it from a backup, or repeat the release",
    ):
        read_description(tmp_path)
    (tmp_path / "release.json").write_text(json.dumps({**content, lacking: value}))
    with pytest.raises(ReleaseError, match=f"in which {lacking} is not (text|a list|an object)"):
        read_description(tmp_path)


@each(
    ("entry", "message"),
    [
        ("1", r"files\[1\] is not an object"),
        ({name: FILE[name] for name in FILE if name != "sha256"}, r"files\[1\]\.sha256 is missing"),
        ({**FILE, "rows": "3"}, r"files\[1\]\.rows is not a whole number"),
        ({**FILE, "bytes": True}, r"files\[1\]\.bytes is not a whole number"),
        ({**FILE, "file": "../elsewhere/1.parquet"}, r"files\[1\]\.file is not in the release"),
        ({**FILE, "file": "tables/../../1.parquet"}, r"files\[1\]\.file is not in the release"),
        ({**FILE, "file": "/etc/1.parquet"}, r"files\[1\]\.file is not in the release"),
        (FILE, r"files\[1\]\.id is a duplicate"),
    ],
)
def test_an_entry_of_a_file_that_is_wrong_is_named(entry: object, message: str, tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text(json.dumps({**GOOD, "files": [FILE, entry]}))
    with pytest.raises(ReleaseError, match=message):
        read_description(tmp_path)


def test_a_folder_without_a_description_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(ReleaseError, match=r"contains no release.json\. Specify the folder of a release \(tables/"):
            read_description(place)
    (tmp_path / "release.json").mkdir()
    with pytest.raises(ReleaseError, match=r"release.json that cannot be read \(Is a directory\)"):
        read_description(tmp_path)
