"""Putting a finished folder in the place of another, so that at no moment neither is there."""

from __future__ import annotations

import ctypes
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
    if _in_one_step(new, old):
        return
    aside = new.with_name(f"{new.name}.old")
    old.rename(aside)
    try:
        new.rename(old)
        aside.rename(new)
    except OSError:
        if old.exists():
            old.rename(new)
        aside.rename(old)
        raise


def _in_one_step(new: Path, old: Path) -> bool:
    """Say whether it was done; where it was not, three renames do it or say what is wrong."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    found: int = rename(AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(old), RENAME_EXCHANGE)
    return found == 0
