"""The journal of a run, and its locks against other runs.

The journal lists the finished tables, so that a resumed run need not compute them again. Its first line identifies
the run: a digest of the data, the programme, the noise and everything else that the tables depend on. Every other line
is a finished table. An incomplete line is ignored.

The system releases a lock when the process ends, for whatever reason. A run waits for the lock of a folder, and fails
after a timeout. Windows has no locks of this kind: runs do not wait, and the user must remove the remains of a killed
run.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import FileWriteError, LockedError, UnreadableFileError
from discreet.limits import bounded_json, read_bounded
from discreet.records.secret import keyed_digest
from discreet.release.table_files import TableFile

if TYPE_CHECKING:
    from collections.abc import Iterator

JOURNAL = "journal.jsonl"


def begin(folder: Path, run: str) -> None:
    """Write the first line of the journal."""
    (folder / JOURNAL).write_text(json.dumps({"run": run}) + "\n", encoding="utf-8")


def note(folder: Path, table: TableFile, exact: str | None) -> None:
    """Append a finished table, and the keyed digest of the file of its true counts if they are stored."""
    with (folder / JOURNAL).open("a", encoding="utf-8") as file:
        file.write(json.dumps({**table.to_json(), "content": table.content, "exact": exact}) + "\n")


def finished(folder: Path, run: str) -> Iterator[tuple[TableFile, str | None]]:
    """Yield the finished tables in a folder; none if the journal is of another run."""
    lines = _lines(folder / JOURNAL)
    if next(lines, {}).get("run") != run:
        return
    for line in lines:
        try:
            table = TableFile(
                line["id"], line["file"], line["rows"], line["bytes"], line["sha256"], line.get("content", "")
            )
            exact = line["exact"]
        except KeyError:
            return
        yield table, exact


def count_finished(folder: Path) -> int:
    """Return the number of finished tables in a folder."""
    return max(len(list(_lines(folder / JOURNAL))) - 1, 0)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = read_bounded(path).decode("utf-8")
    except (OSError, UnicodeDecodeError, UnreadableFileError):
        return
    for line in text.splitlines():
        try:
            content = bounded_json(line, path)
        except UnreadableFileError:
            return
        if not isinstance(content, dict):
            return
        yield content


def has_digest(path: Path, noted: str, secret: bytes | None = None) -> bool:
    """Return whether a file exists and has this digest, keyed with the secret if there is one."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return False
    return noted == (keyed_digest(found, secret) if secret else found)


LOCK_TIMEOUT = 30.0
"""Default time in seconds to wait for a lock."""
LOCK_FILE = ".discreet.lock"
"""The file that is locked if the folder itself cannot be locked."""
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.1
"""Minimum and maximum time in seconds between two attempts."""


@contextmanager
def alone(folder: Path, timeout: float = LOCK_TIMEOUT) -> Iterator[None]:
    """Hold the exclusive lock of a folder; raise an error if it is not obtained within the timeout.

    The folder itself is locked, so that no file is left behind. If the file system cannot lock folders (NFS), or the
    folder is writable but not readable, a file in it is locked and removed at the end.
    """
    if not _has_locks():
        yield
        return
    descriptor, path = _wait(folder, timeout)
    try:
        yield
    finally:
        if path != folder:
            path.unlink(missing_ok=True)
        os.close(descriptor)


def hold(path: Path) -> int:
    """Create the lock file of a run and lock it until its descriptor is closed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    return _locked(descriptor) if _has_locks() else descriptor


@contextmanager
def ended_run(path: Path) -> Iterator[bool]:
    """Yield whether the run with this lock file has ended; meanwhile no other run can take over its files."""
    descriptor = None
    with suppress(OSError):
        descriptor = _locked(os.open(path, os.O_RDWR)) if _has_locks() else None
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _has_locks() -> bool:
    try:
        import fcntl  # noqa: F401 - not available on Windows
    except ImportError:
        return False
    return True


def _wait(folder: Path, timeout: float) -> tuple[int, Path]:
    """Wait for the lock, and return the descriptor and the path that were locked."""
    end, pause = time.monotonic() + timeout, FIRST_PAUSE
    while (found := _attempt(folder)) is None:
        if time.monotonic() >= end:
            raise LockedError.by(folder, _holder(folder), timeout)
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    return found


def _attempt(folder: Path) -> tuple[int, Path] | None:
    """Lock a folder, or a file in it; return None if another process holds the lock."""
    path = folder / LOCK_FILE
    try:
        return _locked(os.open(folder, os.O_RDONLY)), folder
    except BlockingIOError:
        return None
    except OSError:
        pass
    try:
        descriptor = _locked(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))
    except BlockingIOError:
        return None
    except OSError as error:
        why = f"it cannot be locked ({error.strerror})"
        raise FileWriteError.to(folder, why, "Choose a folder on a file system with locks.") from error
    if _is_same(path, descriptor):
        return descriptor, path
    # The process that held the lock has removed its file.
    os.close(descriptor)
    return None


def _locked(descriptor: int) -> int:
    """Lock a file and return its descriptor.

    On errors the descriptor is closed. A BlockingIOError means that another process holds the lock.
    """
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_same(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _holder(folder: Path) -> str:
    """Return a description of the process that holds the lock, if the system lists it."""
    with suppress(OSError, ValueError):
        numbers = {_number(path) for path in (folder, folder / LOCK_FILE) if path.exists()}
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            # A line with an arrow describes a waiting process.
            _, kind, _, _, process, locked = line.split()[:6]
            if kind == "FLOCK" and locked in numbers:
                return f"process {process}{_command(process)}"
    return "another process"


def _number(path: Path) -> str:
    """Return the device and the inode of a file in the format of /proc/locks."""
    found = path.stat()
    return f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"


def _command(process: str) -> str:
    """Return the name of a program without its arguments, which may include a password."""
    try:
        name = Path("/proc", process, "comm").read_bytes().decode(errors="replace").strip()
    except OSError:
        return ""
    shown = "".join(sign if sign.isprintable() else "?" for sign in name)
    return f" ({shown})" if shown else ""
