"""The folders of a release: made beside their place, moved into it when they are complete.

    OUT/                public, and nothing else
      release.json      what a data user needs, and the checksum of every file
      tables/ID.parquet a column per breakdown, and `value`
    OUT.curator/        mode 0700, never to be published
      record.json       how the noise was made
      exact/ID.parquet  true counts, only when asked for

Both are made in one hidden folder beside OUT (mode 0700). Moving takes two steps: the
curator's folder first, then the public one. A run that is killed between them leaves the
hidden folder with the complete public part; whoever opens the release next finishes the move.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import FileExistsAlreadyError, FileWriteError
from discreet.release.exchange import exchange

if TYPE_CHECKING:
    from collections.abc import Iterator

RELEASE, RECORD, TABLES, EXACT = "release.json", "record.json", "tables", "exact"
PUBLIC, CURATOR = "public", "curator"
COMPLETE = "complete.json"
"""In the hidden folder: all is written, only the moves are left; it holds the digests of the two descriptions."""
LOCK = "lock"
DESCRIPTIONS = {CURATOR: RECORD, PUBLIC: RELEASE}
"""The parts in the order in which they are moved, and the file that tells one version from another."""


def curator_folder(out: Path) -> Path:
    """Return the curator's folder beside a release."""
    return out.with_name(f"{out.name}.curator")


@dataclass(frozen=True)
class Staging:
    """A hidden folder beside OUT in which a release is made."""

    out: Path
    folder: Path
    replace: bool

    @property
    def tables(self) -> Path:
        """Return where the public tables are made."""
        return self.folder / PUBLIC / TABLES

    @property
    def exact(self) -> Path:
        """Return where the tables of true counts are made, if they are wanted."""
        return self.folder / CURATOR / EXACT

    def finish(self, release: dict[str, Any], record: str) -> None:
        """Write the two descriptions, then move everything into place."""
        texts = {PUBLIC: json.dumps(release, indent=1, ensure_ascii=False) + "\n", CURATOR: record}
        for part, name in DESCRIPTIONS.items():
            file = self.folder / part / name
            file.touch(mode=0o600 if part == CURATOR else 0o666)
            file.write_text(texts[part], encoding="utf-8")
        check_free(self.out, replace=self.replace)
        digests = {part: _digest(self.folder / part / name) for part, name in DESCRIPTIONS.items()}
        (self.folder / COMPLETE).write_text(json.dumps(digests), encoding="utf-8")
        _move(self.folder, self.out)


@contextmanager
def stage(out: Path, *, replace: bool) -> Iterator[Staging]:
    """Give an empty hidden folder beside OUT, once it is clear that OUT can be written; remove it at the end."""
    out = out.absolute()
    recover(out)
    check_free(out, replace=replace)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(out), dir=out.parent))
    except OSError as error:
        raise FileWriteError.to(out, error.strerror or "not a folder", "Choose another place.") from error
    lock = (folder / LOCK).open("w")
    try:
        _hold(lock.fileno())
        (folder / PUBLIC / TABLES).mkdir(parents=True)
        (folder / CURATOR).mkdir(mode=0o700)
        yield Staging(out, folder, replace)
    except OSError as error:
        why = error.strerror or "the write failed"
        raise FileWriteError.to(out, why, "Check the folder and the space left.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def check_free(out: Path, *, replace: bool) -> None:
    """Refuse a place that is taken, unless by a release that is to be replaced."""
    if not out.name or not out.absolute().parent.is_dir():
        raise FileWriteError.to(out, "its folder does not exist", "Make the folder, or choose another.")
    for folder, content in ((out, RELEASE), (curator_folder(out), RECORD)):
        if not os.path.lexists(folder):
            continue
        if not replace:
            raise FileExistsAlreadyError(folder)
        if folder.is_symlink() or not folder.is_dir() or not (folder / content).is_file():
            what = f"something is there that is no release (it holds no {content})"
            raise FileWriteError.to(folder, what, "Nothing was replaced. Choose another name.")


def recover(out: Path) -> None:
    """Finish the moves of a run that was killed between them, and remove what killed runs left unfinished."""
    out = out.absolute()
    for folder in sorted(out.parent.glob(f"{_prefix(out)}*")) if out.parent.is_dir() else []:
        if _abandoned(folder):
            if (folder / COMPLETE).exists():
                _move(folder, out)
            shutil.rmtree(folder, ignore_errors=True)


def _prefix(out: Path) -> str:
    return f".{out.name}.making-"


def _move(folder: Path, out: Path) -> None:
    """Move the parts into place, those that are not there already."""
    digests = json.loads((folder / COMPLETE).read_text(encoding="utf-8"))
    for part, place in ((CURATOR, curator_folder(out)), (PUBLIC, out)):
        if place.exists() and _digest(place / DESCRIPTIONS[part]) == digests[part]:
            continue
        if place.exists():
            exchange(folder / part, place)
        else:
            (folder / part).rename(place)


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _hold(descriptor: int) -> None:
    """Keep a lock for as long as this process lives; the system releases it however the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows: what a killed run leaves there is removed by hand.
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _abandoned(folder: Path) -> bool:
    """Say whether the run that made a hidden folder has ended: then nobody holds its lock."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        with (folder / LOCK).open("r+") as lock:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Killed before it could lock: an empty folder is all there is.
        return folder.is_dir() and not any(folder.iterdir())
    return True
