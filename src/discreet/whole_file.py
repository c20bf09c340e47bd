"""Writing a file whole or not at all, so that it outlasts a power cut, and never into a published folder."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from discreet.errors import FileExistsAlreadyError, FileWriteError

if TYPE_CHECKING:
    from collections.abc import Iterator


PUBLISHED = ("release.json", "tables")
"""The file and the folder by which a published folder is recognised."""
NO_SYNC = (errno.EBADF, errno.EINVAL, errno.ENOTSUP)
"""Errors of file systems that cannot sync a folder."""


def check_writable(path: Path, *, replace: bool) -> None:
    """Refuse before any work what writing would refuse after it: a missing folder, a device, a file that is there.

    A place in a published folder is refused, too.
    """
    try:
        check_unpublished(path)
        if path.is_dir() or (path.exists() and not path.is_file()):
            raise FileWriteError.to(path, "it is a folder or a device, not a file", "Choose another name.")
        if path.exists() and not replace:
            raise FileExistsAlreadyError(path)
        if not path.absolute().parent.is_dir():
            raise FileWriteError.to(path, "its folder does not exist", "Make the folder, or choose another.")
    except OSError as error:
        raise FileWriteError.to(path, error.strerror or "the path is not usable", "Choose another name.") from error


def check_unpublished(path: Path) -> None:
    """Refuse a path in the public folder of a release, which is published as a whole with all that is in it."""
    description, tables = PUBLISHED
    # As it is spelt, and where links lead to: a copy of the release may follow them. These functions raise no errors.
    spelt, real = os.path.abspath(path), os.path.realpath(path)  # noqa: PTH100
    for folder in (*Path(spelt).parents, *Path(real).parents):
        if os.path.isfile(folder / description) and os.path.isdir(folder / tables):  # noqa: PTH112, PTH113
            what = f"it would become part of the release {folder.name}, which is published as a whole"
            raise FileWriteError.to(path, what, "Choose a place outside it.")


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file whole or not at all; see `open_whole`."""
    check_writable(path, replace=True)
    with open_whole(path, private=private) as file:
        file.write(data)


@contextmanager
def open_whole(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file beside a path and move it there when it is complete: a killed run leaves the old file or the new one.

    The file and the entry of its folder are on disk when this returns. A symbolic link stays one: the file it points to
    is replaced. A private file stays its owner's alone (mode 600).
    """
    target = path.resolve()
    try:
        # A temporary file is private from its first moment.
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            if not private:
                # A finished one has the mode of what it replaces, or of any new file.
                Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            sync(Path(name))
            Path(name).replace(target)
            sync(target.parent)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        todo = "Check the folder and the space left."
        raise FileWriteError.to(path, error.strerror or "the write failed", todo) from error


def sync(path: Path) -> None:
    """Return when a file, or the list of entries of a folder, is on disk and outlasts a power cut."""
    is_folder = path.is_dir()
    if is_folder and os.name == "nt":
        # Windows opens no folders; its file systems write their entries down in order.
        return
    try:
        # Windows syncs only what may be written.
        descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    except PermissionError:
        if os.name == "nt":
            raise
        # Writable and yet not readable. The slow way: everything that the system has not written yet.
        os.sync()
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if not is_folder or error.errno not in NO_SYNC:
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Sync every file below a folder, then every folder from the innermost to this one."""
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync(Path(parent, name))
        sync(Path(parent))


def _umask() -> int:
    """Return the bits that new files do not get; the system tells it only by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
