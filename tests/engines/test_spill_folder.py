"""Folders for what does not fit into memory: exactly where asked, and those of dead runs removed by the next run."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from discreet.engines import spill_folder
from discreet.engines.spill_folder import SpillFolder
from discreet.errors import EngineError
from tests.each import each

MAKE = """
import sys
from pathlib import Path
from discreet.engines.spill_folder import SpillFolder
held = SpillFolder(Path(sys.argv[1]))
folder = Path(held.name)
(folder / "records.tmp").write_bytes(bytes(1000))
print(folder, flush=True)
sys.stdin.read()
"""


def other_run(place: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a run that holds a folder until its input ends, and return it with the folder's name."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAKE, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_folder_of_a_killed_run_is_removed_by_the_next_and_that_of_a_living_run_is_kept(tmp_path: Path) -> None:
    (dead, left), (living, held) = other_run(tmp_path), other_run(tmp_path)
    kill(dead)
    assert {str(path) for path in tmp_path.iterdir()} == {left, held}
    ours = SpillFolder(tmp_path)
    assert {str(path) for path in tmp_path.iterdir()} == {held, ours.name}
    assert (Path(held) / "records.tmp").stat().st_size == 1000
    # A second engine of this process does not take the first for dead.
    SpillFolder(tmp_path).cleanup()
    assert {str(path) for path in tmp_path.iterdir()} == {held, ours.name}
    ours.cleanup()
    kill(living)
    SpillFolder(tmp_path).cleanup()
    assert list(tmp_path.iterdir()) == []


@each("name", ["discreet-notes", "discreet-spill-", "discreet-spill-abcdefgh.bak", "spill"])
def test_folders_that_no_run_made_are_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(mode=0o700)
    SpillFolder(tmp_path).cleanup()
    assert (tmp_path / name).is_dir()


def test_what_only_looks_like_a_spill_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "discreet-spill-linklink").symlink_to(tmp_path / "mine")
    (tmp_path / "discreet-spill-filefile").write_text("x")
    (tmp_path / "discreet-spill-openopen").mkdir(mode=0o755)
    (tmp_path / "discreet-spill-full0000").mkdir(mode=0o700)
    (tmp_path / "discreet-spill-full0000" / "notes.txt").write_text("x")
    SpillFolder(tmp_path).cleanup()
    assert len(list(tmp_path.iterdir())) == 5


def test_a_run_that_was_killed_before_its_first_file_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "discreet-spill-00000000").mkdir(mode=0o700)
    SpillFolder(tmp_path).cleanup()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_run_took_for_dead_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = tempfile.mkdtemp

    def disturbed(**how: str) -> str:
        made.append(make(**how))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", disturbed)
    folder = SpillFolder(tmp_path)
    assert len(made) == 2
    assert folder.name == made[1]
    assert stat.S_IMODE(Path(folder.name).stat().st_mode) == 0o700
    folder.cleanup()
    folder.cleanup()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("variable", ["TMPDIR", "TEMP", "TMP"])
def test_the_folder_lies_where_the_environment_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in spill_folder.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    # What Python has settled on before counts for nothing.
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    monkeypatch.setenv(variable, str(tmp_path))
    folder = SpillFolder()
    assert Path(folder.name).parent == tmp_path
    folder.cleanup()


@pytest.mark.parametrize("place", ["nowhere", "a file"])
def test_a_folder_that_was_asked_for_and_cannot_be_used_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "a file").write_text("x")
    monkeypatch.setenv("TMPDIR", str(tmp_path / place))
    with pytest.raises(EngineError, match=place):
        SpillFolder()


def test_a_full_folder_is_refused_and_no_other_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk without room: the system refuses the first byte of a file, at which Python turns to /tmp."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(EngineError, match="No space left on device"):
        SpillFolder()
    assert list(tmp_path.iterdir()) == []
