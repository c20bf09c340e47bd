"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from discreet.errors import FileExistsAlreadyError, FileWriteError

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_writable(path: Path, *, replace: bool) -> None:
    """Refuse before any work what writing would refuse after it: a missing folder, a device, a file that is there."""
    try:
        if path.is_dir() or (path.exists() and not path.is_file()):
            raise FileWriteError.to(path, "it is a folder or a device, not a file", "Choose another name.")
        if path.exists() and not replace:
            raise FileExistsAlreadyError(path)
        if not path.absolute().parent.is_dir():
            raise FileWriteError.to(path, "its folder does not exist", "Make the folder, or choose another.")
    except OSError as error:
        raise FileWriteError.to(path, error.strerror or "the path is not usable", "Choose another name.") from error


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file whole or not at all; see `open_whole`."""
    check_writable(path, replace=True)
    with open_whole(path, private=private) as file:
        file.write(data)


@contextmanager
def open_whole(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file beside a path and move it there when it is complete: a killed run leaves the old file or the new one.

    A symbolic link stays one: the file it points to is replaced. A private file stays its owner's alone (mode 600).
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
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        todo = "Check the folder and the space left."
        raise FileWriteError.to(path, error.strerror or "the write failed", todo) from error


def _umask() -> int:
    """Return the bits that new files do not get; the system tells it only by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
