"""Private folders for what does not fit into memory: exactly where asked, and removed even after a kill.

The system releases a lock however a run ends. A folder whose lock is free belongs to a dead run, and the next run in
the same place removes it. Windows has no such locks: there it is removed by hand.
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
"""The name of a folder that a run made."""
VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Where the environment names the folder for temporary files, as Python looks for it."""
LOCK = "in-use"
STEP = "making its folder for temporary files"
TRIALS = 10


class SpillFolder:
    """A private folder (mode 0700), locked as long as it is in use.

    Args:
        place: the folder in which to make it; the one that the environment names if left out, or the system's.

    Attributes:
        name: its path.
    """

    def __init__(self, place: Path | None = None) -> None:
        parent = _asked(place)
        try:
            _remove_dead(parent)
            self.name, descriptor = _made(parent)
        except OSError as error:
            raise _refused(parent, error) from None
        # At the end of the process at the latest.
        self._end = weakref.finalize(self, _remove, self.name, descriptor)

    def cleanup(self) -> None:
        """Remove the folder with all it holds; a second time does nothing."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.cleanup()


def _asked(place: Path | None) -> Path:
    """Return where the folder must lie: Python itself would turn to another place where this one is full."""
    named = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)
    if place is None and named is None:
        return Path("/tmp" if os.name == "posix" else tempfile.gettempdir())  # noqa: S108 - the folder itself is private
    return Path(place or str(named)).absolute()


def _made(parent: Path) -> tuple[str, int]:
    """Make a folder and lock the file in it; one that another run took for dead in between is made again."""
    for _ in range(TRIALS):
        name = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        with suppress(FileNotFoundError):
            descriptor = os.open(Path(name) / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                # A folder can be made where no file finds room: a full disk is refused at once.
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
        # Windows removes no file that is open.
        os.close(descriptor)
    shutil.rmtree(name, ignore_errors=True)
    if os.name == "posix":
        os.close(descriptor)


def _remove_dead(parent: Path) -> None:
    """Remove the folders of our own runs that have ended; of a place that cannot be listed, none."""
    with suppress(PermissionError):
        for path in [path for path in parent.iterdir() if MADE.fullmatch(path.name)]:
            with suppress(OSError):
                _remove_if_dead(path)


def _remove_if_dead(path: Path) -> None:
    found = path.lstat()
    # A link, a folder of another user, or one that others may read: no run of ours made it.
    if os.name != "posix" or (found.st_mode, found.st_uid) != (stat.S_IFDIR | 0o700, os.getuid()):
        return
    if not (path / LOCK).exists():
        # Killed before its first file.
        path.rmdir()
        return
    descriptor = os.open(path / LOCK, os.O_RDWR)
    try:
        if _lock(descriptor):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Return whether the path still leads to the file that is open."""
    return os.path.samestat(path.stat(), os.fstat(descriptor))


def _lock(descriptor: int) -> bool | None:
    """Return whether the lock was obtained: False where another run has it, None where there are no locks."""
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
    why = "is not there or cannot be written"
    if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.EACCES}:
        why = f"cannot be used: {error.strerror or 'the write failed'}"
    what = f"The engine stopped at {STEP}: {parent} {why}."
    return EngineError(f"{what} Set TMPDIR to another folder.", step=STEP)
