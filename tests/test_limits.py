"""Limits on what is read: pipes never hang, and size, depth and digits are refused one beyond the limit, not at it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from discreet.errors import UnreadableFileError
from discreet.limits import (
    MAX_DEPTH,
    MAX_DIGITS,
    bounded_json,
    bounded_toml,
    bounded_xml,
    bounded_yaml,
    read_bounded,
    read_bounded_json,
    read_named,
    unzipped,
)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_what_is_within_the_limits_is_read(tmp_path: Path) -> None:
    content = {"é": [1, -2, 0.5, 1e-7, 10**MAX_DIGITS // 10, True, None, {"a": []}]}
    (tmp_path / "x.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    assert read_bounded_json(tmp_path / "x.json") == content


@pytest.mark.parametrize("depth", [1, MAX_DEPTH])
def test_the_depth_that_is_allowed_is_read(depth: int, tmp_path: Path) -> None:
    assert bounded_json(nested(depth), tmp_path) == json.loads(nested(depth))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (nested(MAX_DEPTH + 1), "levels of nested objects or lists"),
        (nested(200_000), "levels of nested objects or lists"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "levels of nested objects or lists"),
        ("1" + "0" * MAX_DIGITS, f"more than {MAX_DIGITS} digits"),
        ("9" * 5_000, f"more than {MAX_DIGITS} digits"),
        ("-" + "9" * 5_000, f"more than {MAX_DIGITS} digits"),
        ("0." + "1" * 5_000, f"more than {MAX_DIGITS} digits"),
        ("1e400", "too large"),
        ("-1e400", "too large"),
        ("[1, 2", "is not JSON"),
        ("", "is not JSON"),
        (b"\xff", "is not text in UTF-8"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "bytes",
)
def test_what_is_beyond_a_limit_is_refused(text: str | bytes, what: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=what) as caught:
        bounded_json(text, tmp_path / "x.json")
    assert caught.value.path == tmp_path / "x.json"
    assert len(str(caught.value)) < len(str(tmp_path)) + 200


def test_a_file_is_read_up_to_its_limit_and_not_beyond(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert read_bounded(tmp_path / "x", 5) == b"12345"
    with pytest.raises(UnreadableFileError, match="more than 4 bytes"):
        read_bounded(tmp_path / "x", 4)


def test_a_file_that_claims_no_size_is_read_no_further_than_its_limit(tmp_path: Path) -> None:
    """Files of the kernel are regular and have 0 bytes."""
    place = tmp_path / "x"
    place.symlink_to("/proc/self/maps")
    if not place.exists():
        pytest.skip("this system has no /proc")
    with pytest.raises(UnreadableFileError, match="more than 5 bytes"):
        read_bounded(place, 5)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_pipe_and_a_device_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(UnreadableFileError, match="is not a regular file"):
            read_bounded(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_pipe_that_takes_the_name_of_a_file_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "x"
    place.write_bytes(b"1")
    opened = os.open

    def swapped(path: Path, flags: int) -> int:
        place.unlink()
        os.mkfifo(place)
        return opened(path, flags)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(UnreadableFileError, match="is not a regular file"):
        read_bounded(place)


def test_a_missing_file_and_a_folder_are_the_systems_errors(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_bounded(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bounded_json(tmp_path / "nothing.json")


# --- Other texts ---


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a = " + nested(MAX_DEPTH), "levels of nested objects or lists"),
        ("a = " + nested(5_000), "levels of nested objects or lists"),
        (".".join(["a"] * 5_000) + " = 1", "levels of nested objects or lists"),
        ("a = 1" + "0" * MAX_DIGITS, f"more than {MAX_DIGITS} digits"),
        ("a = [{b = -1" + "0" * 400 + "}]", f"more than {MAX_DIGITS} digits"),
        ("a = " + "9" * 5_000, f"more than {MAX_DIGITS} digits"),
        ("a = 0x" + "f" * 5_000, f"more than {MAX_DIGITS} digits"),
        ("a = 1e400", "too large"),
    ],
)
def test_toml_beyond_the_limits_is_refused(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=what):
        bounded_toml(text, tmp_path)


def test_toml_within_the_limits_is_read(tmp_path: Path) -> None:
    text = f"a = {nested(MAX_DEPTH - 1)}\nb = {'9' * MAX_DIGITS}\nc = inf\nd = 1e300"
    assert bounded_toml(text, tmp_path) == tomllib.loads(text)


YAML_BEYOND = [
    (nested(MAX_DEPTH + 1), "levels of nested objects or lists"),
    (nested(30_000), "levels of nested objects or lists"),
    ("- " * 30_000, "levels of nested objects or lists"),
    ("{a: " * 30_000, "levels of nested objects or lists"),
    ("a: 0x" + "f" * 5_000, f"more than {MAX_DIGITS} digits"),
    ("a: &b [1]\nc: [*b, *b]", "anchor"),
    ("a: !!timestamp x", "tag"),
    ("a: !!bool x", "tag"),
    ("a: !!python/name:os.system", "tag"),
]


@pytest.mark.parametrize(("text", "what"), YAML_BEYOND, ids=range(len(YAML_BEYOND)))
def test_yaml_beyond_the_limits_is_refused(text: str, what: str, tmp_path: Path) -> None:
    """The process that read 30,000 brackets ended in a segmentation fault."""
    script = "import sys; from pathlib import Path; from discreet.limits import bounded_yaml as read; "
    script += "read(sys.stdin.read(), Path('x.yaml'))"
    if what == "levels of nested objects or lists":
        ended = subprocess.run([sys.executable, "-c", script], input=text, text=True, capture_output=True, check=False)
        assert ended.returncode == 1, "the process was ended by a signal"
        assert "UnreadableFileError" in ended.stderr
    with pytest.raises(UnreadableFileError, match=what):
        bounded_yaml(text, tmp_path)


def test_yaml_within_the_limits_is_read(tmp_path: Path) -> None:
    assert bounded_yaml("a: [1, {b: 2.5}]\nc: x", tmp_path) == {"a": [1, {"b": 2.5}], "c": "x"}
    assert bounded_yaml(nested(MAX_DEPTH), tmp_path) == json.loads(nested(MAX_DEPTH))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"<a>" * (MAX_DEPTH + 1), "levels of nested objects or lists"),
        (b"<a>" * 200_000 + b"</a>" * 200_000, "levels of nested objects or lists"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "encoding"),
        (b'<?xml version="1.0" encoding="shift_jis"?><a/>', "encoding"),
        (
            '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'.encode("utf-16"),
            "document",
        ),
    ],
    ids=["101", "200000", "unknown", "multi-byte", "entities"],
)
def test_xml_beyond_the_limits_is_refused(content: bytes, what: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=what):
        bounded_xml(content, tmp_path)


def test_xml_within_the_limits_is_read(tmp_path: Path) -> None:
    depth = MAX_DEPTH - 1
    found = bounded_xml(b"<r>" + b"<a>" * depth + b"</a>" * depth + b"<b>text</b><c/></r>", tmp_path)
    assert ([child.tag for child in found], found[1].text, len(list(found.iter()))) == (
        ["a", "b", "c"],
        "text",
        MAX_DEPTH + 2,
    )


def test_a_file_that_is_named_is_read_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(10))
    assert read_named(tmp_path / "x", 10) == bytes(10)
    for path in (tmp_path / "x", Path("/dev/zero")):
        with pytest.raises(UnreadableFileError, match="more than 9 bytes"):
            read_named(path, 9)


def test_a_packed_file_is_unpacked_to_its_limit(tmp_path: Path) -> None:
    packed = gzip.compress(bytes(10**7))
    assert len(unzipped(packed, tmp_path)) == 10**7
    with pytest.raises(UnreadableFileError, match="more than 9,999,999 bytes"):
        unzipped(packed, tmp_path, 10**7 - 1)
