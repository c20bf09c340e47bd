"""Locks end with whoever holds them, and leave no file behind."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from discreet.release.locks import alone, hold, taken_over

if TYPE_CHECKING:
    from pathlib import Path


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


def test_another_process_waits_until_the_folder_is_free(tmp_path: Path) -> None:
    code = (
        f"from pathlib import Path; from discreet.release.locks import alone\nwith alone(Path({str(tmp_path)!r})): pass"
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
    with taken_over(tmp_path / "lock") as ended:
        assert not ended
    os.close(descriptor)
    with taken_over(tmp_path / "lock") as ended:
        assert ended
        with taken_over(tmp_path / "lock") as again:
            assert not again


def test_a_lock_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from discreet.release.locks import hold\n"
        f"hold(Path({str(tmp_path / 'lock')!r})); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        with taken_over(tmp_path / "lock") as ended:
            assert not ended
        other.kill()
        other.wait()
    with taken_over(tmp_path / "lock") as ended:
        assert ended


def test_without_locks_work_goes_on_and_nothing_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(errno.EBADF, "no locks on this file system")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with alone(tmp_path):
        os.close(hold(tmp_path / "lock"))
    with taken_over(tmp_path / "lock") as ended:
        assert not ended
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with alone(tmp_path), taken_over(tmp_path / "lock") as ended:
        assert not ended


def test_a_folder_that_is_not_there_is_not_waited_for(tmp_path: Path) -> None:
    with alone(tmp_path / "nowhere"):
        pass
