"""A file is there whole or not at all, with the mode it should have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.whole_file import check_writable, open_whole, write_whole

if TYPE_CHECKING:
    from pathlib import Path


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_file_has_the_mode_of_any_new_file_and_a_private_one_is_its_owners(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_whole(tmp_path / "new", b"content")
    with open_whole(tmp_path / "private", private=True) as file:
        file.write(b"content")
    assert mode(tmp_path / "new") == mode(tmp_path / "usual")
    assert mode(tmp_path / "private") == 0o600
    assert (tmp_path / "private").read_bytes() == b"content"


def test_what_is_replaced_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    old, link = tmp_path / "old", tmp_path / "link"
    old.write_bytes(b"old")
    old.chmod(0o640)
    link.symlink_to(old)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert (old.read_bytes(), mode(old)) == (b"new", 0o640)


def test_an_error_half_way_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail() -> None:
        with open_whole(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_said_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    with pytest.raises(FileExistsAlreadyError, match="add --replace"):
        check_writable(tmp_path / "there", replace=False)
    with pytest.raises(FileWriteError, match="its folder does not exist"):
        check_writable(tmp_path / "no" / "file", replace=True)
    with pytest.raises(FileWriteError, match="it is a folder or a device"):
        write_whole(tmp_path, b"")
    with pytest.raises(FileWriteError, match="cannot be written"), open_whole(tmp_path / "no" / "file"):
        pass
