"""Private folders for data that does not fit into memory, in a given location and removed even after a kill.

The operating system releases a lock however a run ends. A folder whose lock is free belongs to a dead run, and the
next run in the same location removes it. Windows has no such locks: there it must be removed by hand.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Self

from discreet.errors import EngineError

PREFIX = "discreet-spill-"
MADE = re.compile(rf"{PREFIX}[a-z0-9_]{{8}}")
"""The name of a folder that a run created."""
VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Environment variables with the folder for temporary files, in the order in which Python reads them."""
LOCK = "in-use"
STEP = "creating its folder for temporary files"
TRIALS = 10


class SpillFolder:
    """A private folder (mode 0700), locked while it is in use.

    Args:
        place: the parent folder; by default the one from the environment, or the system's.

    Attributes:
        name: the path of the folder.
    """

    def __init__(self, place: Path | None = None) -> None:
        parent = _parent_folder(place)
        try:
            _remove_dead(parent)
            self.name, descriptor = _create(parent)
        except OSError as error:
            raise _refused(parent, error) from None
        # Runs at the end of the process at the latest.
        self._end = weakref.finalize(self, _remove, self.name, descriptor)

    def cleanup(self) -> None:
        """Remove the folder and its contents; a second call has no effect."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.cleanup()


def _parent_folder(place: Path | None) -> Path:
    """Return the parent folder; unlike Python, do not fall back to another folder if this one is full."""
    named = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)
    if place is None and named is None:
        return Path("/tmp" if os.name == "posix" else tempfile.gettempdir())  # noqa: S108 - the folder itself is private
    return Path(place or str(named)).absolute()


def _create(parent: Path) -> tuple[str, int]:
    """Create a folder and lock a file in it; retry if another run mistook the folder for a dead one."""
    for _ in range(TRIALS):
        name = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        with suppress(FileNotFoundError):
            descriptor = os.open(Path(name) / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                # A full disk allows a folder but no file: writing a byte detects it at once.
                os.write(descriptor, bytes(1))
                if _lock(descriptor) is not False and _is_still(Path(name) / LOCK, descriptor):
                    return name, descriptor
            except OSError:
                _remove(name, descriptor)
                raise
            os.close(descriptor)
    raise FileNotFoundError(errno.ENOENT, "other runs remove it at once")


def _remove(name: str, descriptor: int) -> None:
    if os.name != "posix":
        # Windows cannot remove open files.
        os.close(descriptor)
    shutil.rmtree(name, ignore_errors=True)
    if os.name == "posix":
        os.close(descriptor)


def _remove_dead(parent: Path) -> None:
    """Remove the folders of dead runs of this user; none if the parent cannot be listed."""
    with suppress(PermissionError):
        for path in [path for path in parent.iterdir() if MADE.fullmatch(path.name)]:
            with suppress(OSError):
                _remove_if_dead(path)


def _remove_if_dead(path: Path) -> None:
    found = path.lstat()
    # A link, a folder of another user, or one that others can read: not created by a run of this user.
    if os.name != "posix" or (found.st_mode, found.st_uid) != (stat.S_IFDIR | 0o700, os.getuid()):
        return
    if not (path / LOCK).exists():
        # The run was killed before it created its first file.
        path.rmdir()
        return
    descriptor = os.open(path / LOCK, os.O_RDWR)
    try:
        if _lock(descriptor):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Return whether the path still refers to the open file."""
    return os.path.samestat(path.stat(), os.fstat(descriptor))


def _lock(descriptor: int) -> bool | None:
    """Return whether the lock was obtained: False if another run has it, None if the system has no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _refused(parent: Path, error: OSError) -> EngineError:
    why = "does not exist or is not writable"
    if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.EACCES}:
        why = f"cannot be used: {error.strerror or 'the write failed'}"
    what = f"The engine stopped at {STEP}: {parent} {why}."
    return EngineError(f"{what} Set TMPDIR to another folder.", step=STEP)
