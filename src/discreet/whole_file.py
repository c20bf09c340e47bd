"""Atomic writing of files: durable after a power failure, and never into a published folder."""

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
"""The file and the folder that identify a published folder."""
NO_SYNC = (errno.EBADF, errno.EINVAL, errno.ENOTSUP)
"""Error codes of file systems that cannot sync a folder."""


def check_writable(path: Path, *, replace: bool) -> None:
    """Check before the computation that a file can be written after it.

    Raises:
        FileExistsAlreadyError: if the file exists and `replace` is false.
        FileWriteError: if the folder is missing, the path is a folder or a device, or it is in a published folder.
    """
    try:
        check_unpublished(path)
        if path.is_dir() or (path.exists() and not path.is_file()):
            raise FileWriteError.to(path, "it is a folder or a device, not a file", "Choose another name.")
        if path.exists() and not replace:
            raise FileExistsAlreadyError(path)
        if not path.absolute().parent.is_dir():
            raise FileWriteError.to(path, "its folder does not exist", "Create the folder, or choose another.")
    except OSError as error:
        raise FileWriteError.to(path, error.strerror or "the path is not usable", "Choose another name.") from error


def check_unpublished(path: Path) -> None:
    """Refuse a path in the public folder of a release, because the whole folder is published."""
    description, tables = PUBLISHED
    # Check the path as given and with links resolved: a copy of the release may follow links. The functions of os.path
    # raise no errors.
    spelt, real = os.path.abspath(path), os.path.realpath(path)  # noqa: PTH100
    for folder in (*Path(spelt).parents, *Path(real).parents):
        if os.path.isfile(folder / description) and os.path.isdir(folder / tables):  # noqa: PTH112, PTH113
            what = f"it would become part of the release {folder.name}, which is published as a whole"
            raise FileWriteError.to(path, what, "Choose a place outside it.")


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file atomically; see `open_whole`."""
    check_writable(path, replace=True)
    with open_whole(path, private=private) as file:
        file.write(data)


@contextmanager
def open_whole(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file and rename it to the path when it is complete; a killed run leaves the old or the new file.

    The file and its folder entry are on disk when the context ends. A symbolic link is kept: its target is replaced. A
    private file is accessible only to its owner (mode 600).
    """
    target = path.resolve()
    try:
        # mkstemp creates the file with mode 600.
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            if not private:
                # The finished file gets the mode of the file it replaces, or the default mode.
                Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            sync(Path(name))
            Path(name).replace(target)
            sync(target.parent)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        todo = "Check the folder and the free space."
        raise FileWriteError.to(path, error.strerror or "the write failed", todo) from error


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk, so that it survives a power failure."""
    is_folder = path.is_dir()
    if is_folder and os.name == "nt":
        # Windows cannot open folders; its file systems journal folder entries in order.
        return
    try:
        # Windows syncs only files that are opened for writing.
        descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    except PermissionError:
        if os.name == "nt":
            raise
        # The file is writable but not readable. Fall back to flushing all file systems, which is slow.
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
    """Sync every file below a folder, then all folders from the innermost to the outermost."""
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync(Path(parent, name))
        sync(Path(parent))


def _umask() -> int:
    """Return the file mode creation mask; the system returns it only when it is set."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
