"""Locks end with whoever holds them, and leave no file behind."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from discreet.errors import FileWriteError, LockedError
from discreet.release.run_journal import alone, ended_run, hold

FLOCK = fcntl.flock


def test_one_at_a_time_is_at_work_in_a_folder(tmp_path: Path) -> None:
    inside, seen = [0], []

    def work() -> None:
        for _ in range(50):
            with alone(tmp_path):
                inside[0] += 1
                seen.append(inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 200
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_another_process_waits_until_the_folder_is_free(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from discreet.release.run_journal import alone\n"
        f"with alone(Path({str(tmp_path)!r})): pass"
    )
    with alone(tmp_path), subprocess.Popen([sys.executable, "-c", code]) as other:
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=2)
        other.kill()


def test_an_error_inside_opens_the_folder_again(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), alone(tmp_path):
        raise ValueError("inside")
    with alone(tmp_path):
        pass


def test_a_lock_lasts_until_its_descriptor_is_closed(tmp_path: Path) -> None:
    descriptor = hold(tmp_path / "lock")
    with ended_run(tmp_path / "lock") as ended:
        assert not ended
    os.close(descriptor)
    with ended_run(tmp_path / "lock") as ended:
        assert ended
        with ended_run(tmp_path / "lock") as again:
            assert not again


def test_a_lock_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from discreet.release.run_journal import hold\n"
        f"hold(Path({str(tmp_path / 'lock')!r})); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        with ended_run(tmp_path / "lock") as ended:
            assert not ended
        other.kill()
        other.wait()
    with ended_run(tmp_path / "lock") as ended:
        assert ended


def test_a_lock_held_elsewhere_is_waited_for_so_long_and_its_holder_is_named(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from discreet.release.run_journal import alone\n"
        f"with alone(Path({str(tmp_path)!r})): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, "a mark"], stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        begin = time.monotonic()
        with pytest.raises(LockedError, match=r"Waited 0\.2 s\. .*--lock-timeout") as refused, alone(tmp_path, 0.2):
            pytest.fail("another process has the lock")
        assert 0.2 <= time.monotonic() - begin < 5
        if Path("/proc/locks").exists():
            # Its arguments may include a password.
            assert (
                refused.value.holder
                == f"process {other.pid} ({Path('/proc', str(other.pid), 'comm').read_text().strip()})"
            )
            assert "a mark" not in str(refused.value)
        other.kill()
    with alone(tmp_path, 0):
        pass


def test_where_the_system_lists_no_locks_the_holder_stays_unnamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **_how: object) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", refuse)
    with alone(tmp_path), pytest.raises(LockedError) as refused, alone(tmp_path, 0):
        pytest.fail("it is locked")
    assert refused.value.holder == "another process"


def flock_of_files_alone(descriptor: int, how: int) -> None:
    """Stand for a network file system: a folder, which cannot be open for writing, gets no lock."""
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    FLOCK(descriptor, how)


def test_where_folders_have_no_locks_a_file_is_locked_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", flock_of_files_alone)
    test_one_at_a_time_is_at_work_in_a_folder(tmp_path)
    with alone(tmp_path):
        (file,) = tmp_path.iterdir()
        with pytest.raises(LockedError) as refused, alone(tmp_path, 0):
            pytest.fail("it is locked")
        assert refused.value.holder.startswith(f"process {os.getpid()} ")
    assert not file.exists()


def test_a_folder_that_cannot_be_locked_is_refused_and_no_run_is_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    os.close(hold(tmp_path / "lock"))
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(FileWriteError, match=r"cannot be locked \(No locks available\)"), alone(tmp_path):
        pytest.fail("nobody knows who else is at work")
    with pytest.raises(OSError, match="No locks available"):
        hold(tmp_path / "lock")
    with ended_run(tmp_path / "lock") as ended:
        assert not ended


def test_on_a_system_without_locks_nobody_waits_and_nothing_is_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    os.close(hold(tmp_path / "lock"))
    with alone(tmp_path), alone(tmp_path), ended_run(tmp_path / "lock") as ended:
        assert not ended


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError, match="No such file or directory"), alone(tmp_path / "nowhere"):
        pytest.fail("there is nothing to lock")
