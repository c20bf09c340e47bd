"""Two folders change places, in one step or in three, and never is one of them lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from discreet.release import atomic_move as exchanging
from discreet.release.atomic_move import exchange

NO_RENAME = PermissionError(errno.EACCES, "no")


@pytest.fixture(params=["one step", "three renames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "three renames":
        monkeypatch.setattr(exchanging, "_in_one_step", lambda _new, _old: False)
    return str(request.param)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "hidden").mkdir()
    new, old = tmp_path / "hidden" / "new", tmp_path / "old"
    for path in (new, old):
        path.mkdir()
        (path / "who").write_text(path.name)
    return new, old


def who(path: Path) -> str:
    return (path / "who").read_text()


@pytest.mark.usefixtures("way")
def test_two_folders_change_places(folders: tuple[Path, Path]) -> None:
    new, old = folders
    exchange(new, old)
    assert (who(new), who(old)) == ("old", "new")
    assert [path.name for path in new.parent.iterdir()] == ["new"]


@pytest.mark.usefixtures("way")
def test_relative_paths_and_strange_names_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    new, old = Path("nöw ]"), Path("-old\n")
    for path in (new, old):
        path.mkdir()
        (path / "who").write_text(path.name)
    exchange(new, old)
    assert (who(new), who(old)) == (old.name, new.name)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("missing", [0, 1])
def test_a_folder_that_is_missing_is_told_and_the_other_stays(folders: tuple[Path, Path], missing: int) -> None:
    other = folders[1 - missing]
    folders[missing].rename(other.with_name("elsewhere"))
    with pytest.raises(FileNotFoundError):
        exchange(*folders)
    assert who(other) == other.name


@pytest.mark.parametrize("refused", [0, 1, 2])
def test_if_one_of_three_renames_is_refused_all_is_as_it_was(
    folders: tuple[Path, Path], refused: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = folders
    rename, calls = os.rename, iter(range(10))

    def renamed(*paths: Path) -> None:
        if next(calls) == refused:
            raise NO_RENAME
        rename(*paths)

    monkeypatch.setattr(exchanging, "_in_one_step", lambda _new, _old: False)
    monkeypatch.setattr(os, "rename", renamed)
    with pytest.raises(PermissionError):
        exchange(new, old)
    assert (who(new), who(old)) == ("new", "old")
    assert next(calls) > refused


@pytest.mark.parametrize("lacking", ["system", "library"])
def test_systems_without_the_call_do_it_in_three(
    folders: tuple[Path, Path], lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, calls = os.rename, []

    def renamed(*paths: Path) -> None:
        calls.append(paths)
        rename(*paths)

    monkeypatch.setattr(os, "rename", renamed)
    if lacking == "system":
        monkeypatch.setattr("sys.platform", "darwin")
    else:
        monkeypatch.setattr("ctypes.CDLL", lambda _name, **_how: object())
    exchange(*folders)
    assert who(folders[1]) == "new"
    assert len(calls) == 3


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="only Linux has the call")
def test_linux_needs_one_step(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "rename", lambda *_paths: pytest.fail("renamed"))
    exchange(*folders)
    assert who(folders[1]) == "new"
