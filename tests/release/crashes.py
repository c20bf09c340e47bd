"""A system that fails at a chosen step, and a disk that keeps through a power cut only what was synced."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.release import atomic_move

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

CHANGES = ("rename", "unlink", "rmdir", "mkdir", "fsync")


class KilledError(BaseException):
    """Stands for SIGKILL: nothing that is called after it does anything."""


@dataclass
class Failing:
    """Lets one step fail, or all from there on.

    Attributes:
        error: what the step raises.
        at: its number; None to let all pass.
        lasting: whether everything after it fails too.
        steps: how many there were.
    """

    error: BaseException = field(default_factory=KilledError)
    at: int | None = None
    lasting: bool = True
    steps: int = 0

    def step(self) -> None:
        """Count a step, and fail if it is the one."""
        number, self.steps = self.steps, self.steps + 1
        if self.at is not None and (number == self.at or (self.lasting and number > self.at)):
            raise self.error

    def install(self, patch: pytest.MonkeyPatch, *, one_step: bool) -> None:
        """Put the steps into the functions that change the file system; a text is written by half before it fails."""
        for name in CHANGES:
            patch.setattr(os, name, self._counted(getattr(os, name)))
        write = Path.write_text

        def half(path: Path, text: str, **how: Any) -> int:  # noqa: ANN401 - as the function it stands for
            write(path, text[: len(text) // 2], **how)
            self.step()
            return write(path, text, **how)

        patch.setattr(Path, "write_text", half)
        really = self._counted(atomic_move._in_one_step)  # noqa: SLF001 - it is what fails
        patch.setattr(atomic_move, "_in_one_step", really if one_step else lambda _new, _old: False)

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401 - as the function it stands for
            self.step()
            return function(*arguments, **more)

        return counted


@dataclass
class Disk:
    """Keeps what was synced, and shows after every change what a power cut would leave of a folder.

    A late system writes nothing but what was synced. An early one writes names at once, and bytes when they are
    synced: a file that never was is there and empty.

    Attributes:
        root: the folder.
        cut: called before every change.
    """

    root: Path
    cut: Callable[[], None] = lambda: None
    _bytes: dict[int, bytes] = field(default_factory=dict)
    _entries: dict[int, dict[str, int]] = field(default_factory=dict)
    _folders: set[int] = field(default_factory=set)
    _held: list[int] = field(default_factory=list)

    def install(self, patch: pytest.MonkeyPatch, *, one_step: bool) -> None:
        """Put the disk below the functions that change the file system."""
        fsync = os.fsync

        def kept(descriptor: int) -> None:
            fsync(descriptor)
            self._keep(descriptor)

        patch.setattr(os, "fsync", kept)
        for name in CHANGES:
            patch.setattr(os, name, self._watched(getattr(os, name)))
        really = self._watched(atomic_move._in_one_step)  # noqa: SLF001 - it is one of the changes
        patch.setattr(atomic_move, "_in_one_step", really if one_step else lambda _new, _old: False)

    def left(self, target: Path, *, early: bool) -> None:
        """Write to another folder what would be left of this one."""
        target.mkdir()
        self._copy(self.root.stat().st_ino, self.root if early else None, target)

    def close(self) -> None:
        """Give back the numbers of the files."""
        for descriptor in self._held:
            os.close(descriptor)

    def _copy(self, number: int, now: Path | None, target: Path) -> None:
        entries = self._entries.get(number, {}) if now is None else self._listed(now)
        for name, inner in entries.items():
            if inner in self._folders:
                (target / name).mkdir()
                self._copy(inner, now and now / name, target / name)
            else:
                (target / name).write_bytes(self._bytes.get(inner, b""))

    def _keep(self, descriptor: int) -> None:
        # A number that is in use is not given to another file.
        self._held.append(os.dup(descriptor))
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            self._entries[found.st_ino] = self._listed(descriptor)
        else:
            self._bytes[found.st_ino] = os.pread(descriptor, found.st_size, 0)

    def _listed(self, folder: int | Path) -> dict[str, int]:
        with os.scandir(folder) as entries:
            listed = list(entries)
        self._folders |= {entry.inode() for entry in listed if entry.is_dir(follow_symlinks=False)}
        return {entry.name: entry.inode() for entry in listed}

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401 - as the function it stands for
            self.cut()
            return function(*arguments, **more)

        return watched
