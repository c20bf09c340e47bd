"""Locks that the system lets go however a process ends: in a folder, and of a run that may have been killed.

Windows has none of this kind: there nobody waits, and what a killed run leaves is removed by hand.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until nobody else is at work here; no file is left behind, for the folder itself is locked."""
    descriptor = _opened(folder)
    try:
        if descriptor is not None:
            _lock(descriptor, wait=True)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _opened(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError:
        # A folder that may be written but not listed, and Windows. What follows says what is wrong, if anything is.
        return None


def hold(path: Path) -> int:
    """Make the file that stands for a run and lock it until its descriptor is closed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    _lock(descriptor, wait=False)
    return descriptor


@contextmanager
def taken_over(path: Path) -> Iterator[bool]:
    """Say whether the run that a file stands for has ended, and keep others from taking it over meanwhile."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        yield _lock(descriptor, wait=False)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Say whether the lock was had."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        # Somebody else has it, or a file system that locks no folders (NFS).
        return False
    return True
