"""Putting a finished folder in the place of another, so that at no moment neither is there."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

AT_FDCWD = -100
RENAME_EXCHANGE = 2
"""From linux/fs.h: the two names change places in one step."""


def exchange(new: Path, old: Path) -> None:
    """Let two folders change places: in one step where the system can, else by three renames.

    Between the first two of three renames nothing stands in the old place for a moment.
    """
    if not _in_one_step(new, old):
        aside = new.with_name(f"{new.name}.old")
        old.rename(aside)
        new.rename(old)
        aside.rename(new)


def _in_one_step(new: Path, old: Path) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if rename(AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(old), RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}:
        # A file system that does not know how.
        return False
    raise OSError(number, os.strerror(number), str(old))
