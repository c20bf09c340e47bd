"""Moving finished folders into place so that a kill at any moment can be made good later.

First a promise is written beside the parts: all is complete, only the moves are left. Then
the parts move one after the other. Whoever finds a promise of a run that has ended can tell
which parts are still waiting, and carries on.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.release.exchange import exchange

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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

    def promise(self, *, replace: bool) -> None:
        """Write down that all parts are complete, and whether they may take the place of others."""
        promise = {"replace": replace, "parts": {part: _print(self.folder / part) for part in self.places}}
        # Written by half it is no JSON, and so no promise.
        (self.folder / PROMISE).write_text(json.dumps(promise), encoding="utf-8")

    @property
    def may_replace(self) -> bool:
        """Say whether the promise allows to take the place of another release."""
        return bool(self._promised().get("replace"))

    def waiting(self) -> list[str]:
        """Return the parts that were promised and are not in their place yet."""
        promised = self._promised().get("parts", {})
        # An exchanged part has left the old one in the hidden folder, which has another print.
        return [part for part in self.places if promised.get(part) and promised[part] == _print(self.folder / part)]

    def carry_out(self) -> None:
        """Move the parts that wait."""
        for part in self.waiting():
            _put(self.folder / part, self.places[part])

    def carry_out_or_undo(self) -> None:
        """Move all parts or none: if the system refuses a move, those before it are undone."""
        try:
            self.carry_out()
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
    """Return what tells a part from an older one: its descriptions to the byte, and the sizes of all its files."""
    if not part.is_dir():
        return None
    files = sorted(path for path in part.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(json.dumps([path.relative_to(part).as_posix(), path.stat().st_size]).encode())
        if path.suffix == ".json":
            digest.update(path.read_bytes())
    return digest.hexdigest()
