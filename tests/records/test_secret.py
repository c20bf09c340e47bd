"""The office's secret: made, kept, read and refused, and never shown."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import FileWriteError, SecretError
from discreet.noise.key_lookup import SHORTEST_SECRET, KeyMixer
from discreet.records.record_keys import RecordKeys
from discreet.records.secret import (
    LONGEST_SECRET,
    VARIABLE,
    check_secret,
    new_secret,
    read_secret,
    secret_warnings,
    write_secret,
)
from tests.release.crashes import Disk

if TYPE_CHECKING:
    from pathlib import Path

CANARY = b"canary: a secret of the office, quite long"
posix = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


@pytest.fixture(autouse=True)
def _no_secret_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def saved(folder: Path, content: bytes) -> Path:
    path = folder / "office.secret"
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_secret_is_256_bits_in_hexadecimal() -> None:
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(len(bytes.fromhex(secret.decode())) == 32 for secret in made)
    # Among 25,600 fair bits the ones stay within five standard deviations of half.
    ones = sum(int(secret, 16).bit_count() for secret in made)
    assert abs(ones - 12_800) < 5 * (25_600 / 4) ** 0.5


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    made, path = new_secret(), tmp_path / "office.secret"
    write_secret(path, made)
    assert path.read_bytes() == made + b"\n"
    assert read_secret(path) == made
    assert [each.name for each in tmp_path.iterdir()] == ["office.secret"]


@posix
def test_a_written_secret_is_for_its_owner_only_whatever_the_mask(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        write_secret(tmp_path / "office.secret", new_secret())
    finally:
        os.umask(mask)
    assert mode(tmp_path / "office.secret") == 0o600
    assert secret_warnings(None, tmp_path / "office.secret") == []


@pytest.mark.parametrize("kind", ["file", "folder", "broken link"])
def test_what_exists_is_never_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "office.secret"
    if kind == "file":
        path.write_bytes(CANARY)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(SecretError, match=r"exists already and was not changed: .* Choose another name\.$"):
        write_secret(path, new_secret())
    assert [each.name for each in tmp_path.iterdir()] == ["office.secret"]
    assert kind != "file" or path.read_bytes() == CANARY


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_file_that_appears_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    path = tmp_path / "office.secret"
    link = os.link

    def late(source: Path, target: Path) -> None:
        path.write_bytes(CANARY)
        if not links:
            raise PermissionError
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(SecretError, match="exists already"):
        write_secret(path, new_secret())
    assert path.read_bytes() == CANARY
    assert [each.name for each in tmp_path.iterdir()] == ["office.secret"]


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    made = new_secret()
    write_secret(tmp_path / "office.secret", made)
    assert read_secret(tmp_path / "office.secret") == made
    assert [each.name for each in tmp_path.iterdir()] == ["office.secret"]


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileWriteError, match="No space left on device"):
        write_secret(tmp_path / "office.secret", new_secret())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("links", [True, False])
def test_a_written_secret_outlasts_a_power_cut(tmp_path: Path, links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_source: Path, _target: Path) -> None:
        raise PermissionError

    folder, secret = tmp_path / "disk", new_secret()
    folder.mkdir()
    disk = Disk(folder)
    disk.install(monkeypatch, one_step=True)
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    write_secret(folder / "office.secret", secret)
    disk.left(tmp_path / "left", early=False)
    disk.close()
    # The model of the disk keeps names and bytes, not modes.
    (tmp_path / "left" / "office.secret").chmod(0o600)
    assert read_secret(tmp_path / "left" / "office.secret") == secret


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError, match="its folder does not exist"):
        write_secret(tmp_path / "nowhere" / "office.secret", new_secret())


def test_a_weak_secret_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match="too short"):
        write_secret(tmp_path / "office.secret", b"short")
    assert list(tmp_path.iterdir()) == []


@given(st.binary(min_size=SHORTEST_SECRET, max_size=60), st.text(" \t\r\n"), st.text(" \t\r\n"))
def test_whitespace_around_does_not_belong_to_a_secret(
    tmp_path_factory: pytest.TempPathFactory, core: bytes, before: str, after: str
) -> None:
    core = b"x" + core + b"x"
    path = saved(tmp_path_factory.mktemp("secret"), before.encode() + core + after.encode())
    assert read_secret(path) == core


def test_bytes_of_any_kind_are_a_secret(tmp_path: Path) -> None:
    assert read_secret(saved(tmp_path, bytes(range(256)))) == bytes(range(256))


@pytest.mark.parametrize("length", [SHORTEST_SECRET, LONGEST_SECRET])
def test_the_limits_belong_to_the_allowed(tmp_path: Path, length: int) -> None:
    assert read_secret(saved(tmp_path, b"x" * length + b"\r\n")) == b"x" * length


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "contains no secret: it is empty."),
        (b" \n\t ", "contains no secret: it is empty."),
        (b"canary\n", "is too short for a secret: it must have 16 to 4096 bytes."),
        (b"c" * (SHORTEST_SECRET - 1) + b"\n" * 20, "is too short"),
        (b"canary" * 1000, "is too long for a secret: it must have 16 to 4096 bytes."),
        (b"c" * (LONGEST_SECRET + 1), "is too long"),
        (CANARY + b" " * 10_000 + b"x", "is too long"),
    ],
)
def test_a_content_that_is_no_secret_is_refused_and_not_shown(tmp_path: Path, content: bytes, message: str) -> None:
    path = saved(tmp_path, content)
    with pytest.raises(SecretError) as caught:
        read_secret(path)
    assert f"{path} {message}" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_folder_is_no_secret(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match=r"is a folder, not the file of a secret\. Check the path"):
        read_secret(tmp_path)


def test_a_missing_file_is_said_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(SecretError) as caught:
        read_secret(tmp_path / "nowhere")
    start = f"{tmp_path / 'nowhere'} cannot be read as the file of a secret: No such file or directory."
    assert str(caught.value) == f"{start} Check the path, or create a secret with `discreet keys new FILE`."


def test_an_unreadable_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, CANARY)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    # The superuser can read every file, whatever its mode.
    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(SecretError, match="cannot be read as the file of a secret: Permission denied"):
        read_secret(path)


def test_without_a_file_the_variable_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert read_secret(None) is None
    monkeypatch.setenv(VARIABLE, f" {CANARY.decode()}\n")
    assert read_secret(None) == CANARY
    named = saved(tmp_path, b"another secret, in a file")
    assert read_secret(named) == b"another secret, in a file"


@pytest.mark.parametrize(("text", "message"), [("", "contains no secret"), ("canary", "is too short")])
def test_a_variable_that_is_no_secret_is_refused(monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(SecretError, match=f"The environment variable DISCREET_SECRET {message}") as caught:
        read_secret(None)
    assert "canary" not in str(caught.value)


def test_text_is_no_secret() -> None:
    with pytest.raises(SecretError, match=r"The secret is not bytes\. Pass the secret as read_secret returns it\."):
        check_secret("a text that is long enough", "The secret")  # type: ignore[arg-type]


def test_whoever_takes_a_secret_has_the_same_shortest(tmp_path: Path) -> None:
    shortest = read_secret(saved(tmp_path, b"x" * SHORTEST_SECRET))
    assert shortest
    KeyMixer(shortest)
    RecordKeys(shortest)


@posix
@pytest.mark.parametrize("bits", [0o644, 0o604, 0o601, 0o666])
def test_a_secret_that_everybody_can_use_is_refused_with_the_fix(tmp_path: Path, bits: int) -> None:
    path = saved(tmp_path, CANARY)
    path.chmod(bits)
    with pytest.raises(SecretError) as refusal:
        read_secret(path)
    assert f"Run: chmod 600 {path}" in str(refusal.value)
    assert CANARY.decode() not in str(refusal.value)
    path.chmod(0o600)
    assert read_secret(path) == CANARY


@posix
@pytest.mark.parametrize("bits", [0o640, 0o620])
def test_a_secret_that_its_group_can_use_is_read_with_a_warning(tmp_path: Path, bits: int) -> None:
    path = saved(tmp_path, CANARY)
    path.chmod(bits)
    secret = read_secret(path)
    assert secret == CANARY
    assert secret_warnings(secret, path) == [
        f"{path} contains the secret, but its group has access to it. Run: chmod 600 {path}"
    ]


@pytest.mark.parametrize(
    ("secret", "weak"),
    [
        (b"a" * 64, True),
        (b"0123456789abcde" * 3, True),
        (b"0123456789abcdef", False),
        (b"ab" * 32, True),
        (b" \n" + b"abcdefghijklmnop" + b"\n", False),
        (b"abcdefghijklmno" + b" ", True),
        # Thirty-two different bytes in hexadecimal, of fifteen different digits.
        (b"".join(b"%02x" % byte for byte in range(16, 64) if b"f" not in b"%02x" % byte), False),
        (bytes(range(16)), False),
    ],
)
def test_a_secret_of_few_distinct_bytes_is_warned_of(secret: bytes, weak: bool) -> None:
    assert [("fewer than 16 distinct bytes" in text) for text in secret_warnings(secret, None)] == [True] * weak


def test_new_secrets_need_no_warning() -> None:
    assert not any(secret_warnings(new_secret(), None) for _ in range(200))


@posix
@pytest.mark.parametrize("bits", [0o600, 0o400])
def test_a_private_secret_needs_no_warning(tmp_path: Path, bits: int) -> None:
    path = saved(tmp_path, CANARY)
    path.chmod(bits)
    assert secret_warnings(CANARY, path) == []


@posix
def test_a_pipe_needs_no_warning(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o666)
    (tmp_path / "pipe").chmod(0o666)
    assert secret_warnings(None, tmp_path / "pipe") == []
    assert secret_warnings(None, tmp_path / "nowhere") == []
