"""A file is there whole or not at all, with the mode it should have."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.whole_file import check_unpublished, check_writable, open_whole, sync, write_whole
from tests.release.crashes import Disk

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


@pytest.mark.skipif(os.name != "posix", reason="takes the function of the system itself")
def test_the_system_syncs_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import posix

    synced = list[int]()

    def fsync(descriptor: int) -> None:
        posix.fsync(descriptor)
        synced.append(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(tmp_path / "file", b"content")
    assert synced == [(tmp_path / "file").stat().st_ino, tmp_path.stat().st_ino]


@pytest.mark.parametrize("early", [True, False])
def test_a_power_cut_leaves_the_old_file_or_the_new_one_and_success_means_the_new_one(
    tmp_path: Path, early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seen = tmp_path / "disk", list[bytes]()
    folder.mkdir()
    disk = Disk(folder)
    disk.install(monkeypatch, one_step=True)

    def cut() -> None:
        copy = tmp_path / f"cut-{len(seen)}"
        with monkeypatch.context() as patch:
            patch.setattr(disk, "cut", lambda: None)
            disk.left(copy, early=early)
        seen.append((copy / "file").read_bytes())

    write_whole(folder / "file", b"old")
    monkeypatch.setattr(disk, "cut", cut)
    write_whole(folder / "file", b"new")
    cut()
    disk.close()
    assert seen[0] == b"old"
    assert set(seen) == {b"old", b"new"}
    assert seen[-1] == b"new"


def test_a_disk_that_cannot_keep_a_file_is_reported_and_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    write_whole(tmp_path / "file", b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileWriteError, match="Input/output error"):
        write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_folder_that_cannot_be_synced_by_itself_is_no_reason_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(number: int) -> None:
        def refused(*_given: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync" if number == errno.EINVAL else "open", refused)

    refuse(errno.EINVAL)
    sync(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="Invalid argument"):
        sync(tmp_path / "file")
    monkeypatch.undo()
    everything = list[bool]()
    monkeypatch.setattr(os, "sync", lambda: everything.append(True))
    refuse(errno.EACCES)
    sync(tmp_path)
    assert everything == [True]


@pytest.mark.parametrize(
    "place",
    [
        "release/file",
        "release/tables/file",
        "release/new/file",
        "link/file",
        "linked-file",
        "release/outside/file",
        "elsewhere/../release/file",
    ],
)
def test_nothing_is_written_into_a_published_folder(tmp_path: Path, place: str) -> None:
    (tmp_path / "release" / "tables").mkdir(parents=True)
    (tmp_path / "release" / "release.json").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "release" / "outside").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to("release")
    (tmp_path / "linked-file").symlink_to("release/file")
    for check in (check_unpublished, lambda path: write_whole(path, b"content")):
        with pytest.raises(FileWriteError, match=r"it would become part of the release (release|link), which is"):
            check(tmp_path / place)
    assert not list(tmp_path.rglob("file"))


@pytest.mark.parametrize(
    "place", ["file", "release.curator/file", "release/../file", "half/file", "other/file", "loop"]
)
def test_places_beside_a_published_folder_are_free(tmp_path: Path, place: str) -> None:
    for name in ("release/tables", "release.curator", "half/tables", "other"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("release", "other"):
        (tmp_path / name / "release.json").touch()
    (tmp_path / "loop").symlink_to("loop")
    check_unpublished(tmp_path / place)
