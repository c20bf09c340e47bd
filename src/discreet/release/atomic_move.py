"""Atomic moves: put finished folders into their places, all or none, also after a kill or a power cut.

The parts are first synced to disk. Then a promise is written next to them: all parts are complete, only the moves
remain. Then the parts move one after the other. A later run that finds the promise of a run that has ended compares its
digests with the parts, and moves those that are still waiting. This also holds after a power cut: a part is on disk
before its promise, and the promise before a move.

A folder that replaces another changes places with it in one step where the system can (Linux), else by three renames.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.whole_file import sync, sync_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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


PROMISE = "complete.json"


@dataclass(frozen=True)
class Moves:
    """Parts made in a hidden folder, and the place where each belongs.

    Attributes:
        folder: the hidden folder.
        places: where to, by the name of the part, in the order of moving.
    """

    folder: Path
    places: Mapping[str, Path]

    def sync_parts(self) -> dict[str, str | None]:
        """Write all files of the parts to disk, then their folders; return the digest of every part."""
        for part in self.places:
            sync_tree(self.folder / part)
        return {part: _print(self.folder / part) for part in self.places}

    def promise(self, digests: Mapping[str, str | None], *, replace: bool) -> None:
        """Write down that all parts are complete, and whether they may take the place of others.

        The parts must be on disk, with the digests that `sync_parts` returned; the promise is when this returns.
        """
        promise = {"replace": replace, "parts": dict(digests)}
        # Written by half it is no JSON, and so no promise.
        (self.folder / PROMISE).write_text(json.dumps(promise), encoding="utf-8")
        try:
            # The entry of the hidden folder is as new as the promise in it.
            for path in (self.folder / PROMISE, self.folder, self.folder.parent):
                sync(path)
        except OSError:
            self.forget()
            raise

    @property
    def may_replace(self) -> bool:
        """Say whether the promise allows to take the place of another release."""
        return bool(self._promised().get("replace"))

    def waiting(self) -> list[str]:
        """Return the parts that were promised and are not in their place yet."""
        promised = self._promised().get("parts", {})
        # An exchanged part has left the old one in the hidden folder, which has another print.
        return [part for part in self.places if promised.get(part) and promised[part] in _prints(self.folder / part)]

    def is_torn(self) -> bool:
        """Say whether some promised parts are in their place and others are lost: the old parts must not be removed."""
        promised = self._promised().get("parts", {})
        in_place = [promised[part] in _prints(self.places[part]) for part in self.places if promised.get(part)]
        return any(in_place) and not all(in_place)

    def carry_out(self, parts: Iterable[str] | None = None) -> None:
        """Move the parts that wait; the moves are on disk when this returns.

        Args:
            parts: those that wait, where that is known; else their digests are computed.
        """
        if not self._promised():
            return
        for part in self.waiting() if parts is None else parts:
            _put(self.folder / part, self.places[part])
        # Also where a killed run has made all moves. The places first: until they are on disk the hidden folder keeps
        # what it had.
        for folder in (*{place.parent for place in self.places.values()}, self.folder):
            sync(folder)

    def carry_out_or_undo(self, parts: Iterable[str] | None = None) -> None:
        """Move all parts or none: if the system refuses a move, those before it are undone."""
        try:
            self.carry_out(parts)
        except OSError:
            waiting = self.waiting()
            for part in [part for part in reversed(list(self.places)) if part not in waiting]:
                _take_back(self.folder / part, self.places[part])
            self.forget()
            raise

    def forget(self) -> None:
        """Take the promise back, or note that it is kept."""
        (self.folder / PROMISE).unlink(missing_ok=True)

    def _promised(self) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / PROMISE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def is_empty(folder: Path) -> bool:
    """Say whether a folder holds nothing."""
    return next(folder.iterdir(), None) is None


def _put(new: Path, place: Path) -> None:
    if not os.path.lexists(place):
        new.rename(place)
    elif is_empty(place):
        place.rmdir()
        new.rename(place)
    else:
        exchange(new, place)


def _take_back(new: Path, place: Path) -> None:
    if new.exists():
        exchange(new, place)
    else:
        place.rename(new)


def _print(part: Path) -> str | None:
    """Return a digest of the names and the bytes of all files of a part."""
    if not part.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(path for path in part.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(json.dumps([path.relative_to(part).as_posix(), content]).encode())
    return digest.hexdigest()


def _prints(part: Path) -> tuple[str | None, str | None]:
    """Return the digest of a part, and the one that earlier versions promised."""
    return _print(part), _earlier_print(part)


def _earlier_print(part: Path) -> str | None:
    """Return a digest of the names and sizes of all files of a part, and of the bytes of its descriptions."""
    if not part.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(path for path in part.rglob("*") if path.is_file()):
        digest.update(json.dumps([path.relative_to(part).as_posix(), path.stat().st_size]).encode())
        if path.suffix == ".json":
            digest.update(path.read_bytes())
    return digest.hexdigest()
