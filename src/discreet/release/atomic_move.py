"""Atomic moves: move finished folders to their destinations, all or none, even after a kill or a power failure.

The parts are first synced to disk. Then a commit marker is written next to them: all parts are complete, only the moves
remain. Then the parts are moved one after the other. A later run that finds the commit marker of an ended run compares
its digests with the parts, and moves the remaining ones. This also works after a power failure: a part is on disk
before the marker, and the marker before a move.

A folder that replaces another is exchanged with it in one step if the system supports this (Linux), otherwise by three
renames.
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
"""From linux/fs.h: exchange two names atomically."""


def exchange(new: Path, old: Path) -> None:
    """Exchange two folders: in one step if the system supports this, otherwise by three renames.

    Between the first and the second of the three renames, the old path does not exist.
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
    """Exchange two folders in one step and return whether this succeeded."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    found: int = rename(AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(old), RENAME_EXCHANGE)
    return found == 0


COMMIT_MARKER = "complete.json"


@dataclass(frozen=True)
class Moves:
    """Finished parts in a hidden folder, and the destination of each.

    Attributes:
        folder: the hidden folder.
        places: the destinations by name of the part, in the order of the moves.
    """

    folder: Path
    places: Mapping[str, Path]

    def sync_parts(self) -> dict[str, str | None]:
        """Sync all files of the parts to disk, then their folders; return the digest of every part."""
        for part in self.places:
            sync_tree(self.folder / part)
        return {part: _digest(self.folder / part) for part in self.places}

    def commit(self, digests: Mapping[str, str | None], *, replace: bool) -> None:
        """Write the commit marker: all parts are complete, and whether they may replace others.

        The parts must be on disk, with the digests that `sync_parts` returned. The marker is on disk on return.
        """
        marker = {"replace": replace, "parts": dict(digests)}
        # A partially written marker is not valid JSON and is ignored.
        (self.folder / COMMIT_MARKER).write_text(json.dumps(marker), encoding="utf-8")
        try:
            # The folder entries are as new as the marker and need syncing, too.
            for path in (self.folder / COMMIT_MARKER, self.folder, self.folder.parent):
                sync(path)
        except OSError:
            self.forget()
            raise

    @property
    def may_replace(self) -> bool:
        """Return whether the commit marker allows replacing another release."""
        return bool(self._committed().get("replace"))

    def waiting(self) -> list[str]:
        """Return the committed parts that have not been moved yet."""
        committed = self._committed().get("parts", {})
        # After an exchange the hidden folder contains the old part, which has another digest.
        return [part for part in self.places if committed.get(part) and committed[part] in _digests(self.folder / part)]

    def is_torn(self) -> bool:
        """Return whether some committed parts were moved and others are lost; then the old parts must be kept."""
        committed = self._committed().get("parts", {})
        in_place = [committed[part] in _digests(self.places[part]) for part in self.places if committed.get(part)]
        return any(in_place) and not all(in_place)

    def carry_out(self, parts: Iterable[str] | None = None) -> None:
        """Move the remaining parts; the moves are on disk on return.

        Args:
            parts: the remaining parts, if known; otherwise they are found by their digests.
        """
        if not self._committed():
            return
        for part in self.waiting() if parts is None else parts:
            _put(self.folder / part, self.places[part])
        # Sync even if a killed run made all moves. The destinations first: until they are on disk, the hidden folder
        # must keep its content.
        for folder in (*{place.parent for place in self.places.values()}, self.folder):
            sync(folder)

    def carry_out_or_undo(self, parts: Iterable[str] | None = None) -> None:
        """Move all parts or none: if a move fails, the previous moves are undone."""
        try:
            self.carry_out(parts)
        except OSError:
            waiting = self.waiting()
            for part in [part for part in reversed(list(self.places)) if part not in waiting]:
                _take_back(self.folder / part, self.places[part])
            self.forget()
            raise

    def forget(self) -> None:
        """Remove the commit marker."""
        (self.folder / COMMIT_MARKER).unlink(missing_ok=True)

    def _committed(self) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / COMMIT_MARKER).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def is_empty(folder: Path) -> bool:
    """Return whether a folder is empty."""
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


def _digest(part: Path) -> str | None:
    """Return a digest of the names and contents of all files of a part."""
    if not part.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(path for path in part.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(json.dumps([path.relative_to(part).as_posix(), content]).encode())
    return digest.hexdigest()


def _digests(part: Path) -> tuple[str | None, str | None]:
    """Return the digest of a part, and the digest that earlier versions wrote to the commit marker."""
    return _digest(part), _earlier_digest(part)


def _earlier_digest(part: Path) -> str | None:
    """Return a digest of the names and sizes of all files of a part, and of the contents of its JSON files."""
    if not part.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(path for path in part.rglob("*") if path.is_file()):
        digest.update(json.dumps([path.relative_to(part).as_posix(), path.stat().st_size]).encode())
        if path.suffix == ".json":
            digest.update(path.read_bytes())
    return digest.hexdigest()
