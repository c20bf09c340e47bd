"""The folders of a release: written to a hidden folder, and moved to their destination when they are complete.

    OUT/                public files only
      README.md         instructions for reading the tables
      release.json      metadata for data users, and the checksum of every file
      tables/ID.parquet columns of codes and counts (or ID.csv)
    OUT.curator/        mode 0700, confidential
      record.json       the parameters of the noise
      exact/ID.parquet  true counts, optional

Both are written to one hidden folder next to OUT (mode 0700). Moving takes two steps: the curator's folder first, then
the public one. A run that is killed between them leaves the hidden folder with the complete public part; the next
command of the same user on this release finishes the move.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from discreet.errors import FileExistsAlreadyError, FileWriteError, InputError, LockedError, UnreadableFileError
from discreet.limits import MAX_RELEASE_BYTES, read_bounded_json
from discreet.release.atomic_move import Moves, is_empty
from discreet.release.run_journal import (
    JOURNAL,
    LOCK_TIMEOUT,
    alone,
    begin,
    count_finished,
    ended_run,
    finished,
    has_digest,
    hold,
    note,
)
from discreet.whole_file import PUBLISHED, check_unpublished

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discreet.release.table_files import TableFile

(RELEASE, TABLES), RECORD, EXACT, README = PUBLISHED, "record.json", "exact", "README.md"
PUBLIC, CURATOR = "public", "curator"
CONTENTS = {PUBLIC: (RELEASE, TABLES), CURATOR: (RECORD, EXACT)}
"""Contents of each part, its description first."""
LOCK = "lock"
MOST_NAMED = 3
"""Maximum number of files named in an error."""
NO_NAME = frozenset({"", ".."})
"""Names of the paths `.`, `/` and `..`."""


def curator_folder(out: Path) -> Path:
    """Return the curator's folder next to a release; for a symbolic link, next to its target."""
    named = _followed(out)
    return named.with_name(f"{named.name}.curator")


@dataclass(frozen=True)
class Staging:
    """A hidden folder next to OUT for a new release."""

    out: Path
    folder: Path
    replace: bool
    lock_timeout: float = LOCK_TIMEOUT

    @property
    def tables(self) -> Path:
        """Return the folder of the public tables."""
        return self.folder / PUBLIC / TABLES

    @property
    def exact(self) -> Path:
        """Return the folder of the tables of true counts."""
        return self.folder / CURATOR / EXACT

    def begin(self, run: str, secret: bytes | None, *, resume: bool) -> list[TableFile]:
        """Start the journal, and return the finished tables of interrupted runs with the same digest, moved here."""
        with write_errors(self.out):
            begin(self.folder, run)
            if not resume:
                return []
            found: dict[str, TableFile] = {}
            with alone(self.out.parent, self.lock_timeout):
                for folder in _leftovers(self.out):
                    self._take_over(folder, run, secret, found)
            return list(found.values())

    def _take_over(self, folder: Path, run: str, secret: bytes | None, found: dict[str, TableFile]) -> None:
        """Add the finished tables of one folder; two interrupted runs may have finished the same table."""
        with suppress(FileNotFoundError), _ended(folder) as ended:
            if not ended or folder == self.folder:
                return
            for table, exact in finished(folder, run):
                if table.id not in found and self._moved_here(folder, table, exact, secret):
                    note(self.folder, table, exact)
                    found[table.id] = table
            _remove(folder)

    def _moved_here(self, folder: Path, table: TableFile, exact: str | None, secret: bytes | None) -> bool:
        """Move the files of a table here if they match their digests, and return whether they do."""
        name = Path(table.file).name
        public, curator = folder / PUBLIC / TABLES / name, folder / CURATOR / EXACT / name
        if not has_digest(public, table.sha256) or not (exact is None or has_digest(curator, exact, secret)):
            return False
        if exact is not None:
            self.exact.mkdir(mode=0o700, exist_ok=True)
            curator.replace(self.exact / name)
        public.replace(self.tables / name)
        return True

    def finish(self, release: dict[str, Any], record: str, page: str = "") -> None:
        """Write release.json, record.json and README.md, then move all files to their destination."""
        with write_errors(self.out):
            if page:
                (self.folder / PUBLIC / README).write_text(page, encoding="utf-8")
            (self.folder / PUBLIC / RELEASE).write_text(_as_text(release), encoding="utf-8")
            (self.folder / CURATOR / RECORD).write_text(record, encoding="utf-8")
            _make_private(self.folder / CURATOR)
            # Sync before taking the lock, because it is slow and other runs would wait.
            digests = _moves(self.folder, self.out).sync_parts()
            with alone(self.out.parent, self.lock_timeout):
                self._take_place(digests)

    def _take_place(self, digests: Mapping[str, str | None]) -> None:
        # Another run may have ended or been killed in the meantime: there must be one commit marker at a time.
        _recover(self.out, besides=self.folder)
        _check_places(self.out, replace=self.replace)
        # From here on the release is moved completely or not at all, so the run cannot be resumed.
        (self.folder / JOURNAL).unlink(missing_ok=True)
        moves = _moves(self.folder, self.out)
        moves.commit(digests, replace=self.replace)
        moves.carry_out_or_undo(moves.places)
        with suppress(OSError):
            moves.forget()
        _drop_older(self.out, besides=self.folder)


@contextmanager
def stage(out: Path, *, replace: bool, resume: bool = False, lock_timeout: float = LOCK_TIMEOUT) -> Iterator[Staging]:
    """Check that OUT can be written, yield an empty hidden folder next to it, and remove the folder at the end.

    The folder is kept if a resumable run is interrupted, or if a run with finished tables does not obtain a lock.
    """
    recover(out, lock_timeout)
    check_free(out, replace=replace, lock_timeout=lock_timeout)
    out, lock, ours, keep = out.absolute(), None, True, resume
    # Choose the name before creating the folder, so that it can be removed after any error.
    folder = out.with_name(f"{_prefix(out)}{secrets.token_hex(4)}")
    try:
        with write_errors(out):
            with alone(out.parent, lock_timeout):
                try:
                    folder.mkdir(mode=0o700)
                except FileExistsError:
                    ours = False
                    raise
                lock = hold(folder / LOCK)
            (folder / PUBLIC / TABLES).mkdir(parents=True)
            (folder / CURATOR).mkdir(mode=0o700)
        yield Staging(out, folder, replace, lock_timeout)
    except LockedError:
        keep = True
        raise
    finally:
        if ours:
            # The release is complete, or an error is being raised: the next run removes what cannot be removed now.
            with suppress(LockedError, FileWriteError):
                _leave(folder, out, lock, lock_timeout, keep=keep)


def _leave(folder: Path, out: Path, lock: int | None, lock_timeout: float, *, keep: bool) -> None:
    """Remove a hidden folder; a folder without a lock of this run contains at most the lock file."""
    if lock is None:
        shutil.rmtree(folder, ignore_errors=True)
        return
    if keep and (folder / JOURNAL).exists():
        os.close(lock)
        return
    try:
        with alone(out.parent, lock_timeout):
            _settle(_moves(folder, out))
    finally:
        os.close(lock)


@contextmanager
def write_errors(out: Path) -> Iterator[None]:
    """Convert system errors of writes to a FileWriteError for the release."""
    try:
        yield
    except OSError as error:
        # Use the short text of the system instead of the long texts of libraries.
        why = os.strerror(error.errno) if error.errno else "the write failed"
        raise FileWriteError.to(out, why, "Check the folder and the free space.") from error


def check_free(out: Path, *, replace: bool, lock_timeout: float = LOCK_TIMEOUT) -> None:
    """Refuse an existing path, unless it is an empty folder, or a release that may be replaced."""
    if out.name in NO_NAME:
        raise FileWriteError.to(out, "a release needs a folder name", "Specify a new folder.")
    with write_errors(out):
        # The curator's folder would be published, too.
        check_unpublished(out)
        if not out.absolute().parent.is_dir():
            raise FileWriteError.to(out, "its folder does not exist", "Create the folder, or choose another.")
        taken = any(os.path.lexists(place) for place in _places(out).values())
        # Another run may be moving its release there: then one part is old and the other new.
        with alone(out.absolute().parent, lock_timeout) if taken and replace else nullcontext():
            _check_places(out, replace=replace)


def _check_places(out: Path, *, replace: bool) -> None:
    for part in (PUBLIC, CURATOR):
        _check_place(part, _places(out), replace=replace)


def recover(out: Path, lock_timeout: float = LOCK_TIMEOUT) -> None:
    """Finish the moves of a run that was killed between them, and remove the hidden folders of killed runs.

    Finished tables of an interrupted run are kept for a run with --resume, until a release is complete.
    """
    out = _followed(out).absolute()
    if _leftovers(out):
        # Without locks it is unknown which runs have ended.
        with suppress(FileWriteError), alone(out.parent, lock_timeout):
            _recover(out)


def unfinished_tables(out: Path) -> int:
    """Return the number of finished tables of interrupted runs, which --resume could reuse."""
    return sum(count_finished(folder) for folder in _leftovers(_followed(out).absolute()))


def _followed(out: Path) -> Path:
    """Return the path with links and special names resolved; an invalid path is returned unchanged."""
    is_link = os.path.islink(out)  # noqa: PTH114 - raises nothing
    return Path(os.path.realpath(out)) if is_link or out.name in NO_NAME else out


def _places(out: Path) -> dict[str, Path]:
    """Return the destinations of the parts, in the order of the moves."""
    return {CURATOR: curator_folder(out), PUBLIC: out}


def _moves(folder: Path, out: Path) -> Moves:
    return Moves(folder, _places(out))


def _as_text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def description_digest(content: dict[str, Any]) -> str:
    """Return the digest of the release.json with this description."""
    return hashlib.sha256(_as_text(content).encode("utf-8")).hexdigest()


def _make_private(folder: Path) -> None:
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def _check_place(part: str, places: Mapping[str, Path], *, replace: bool) -> None:
    place, description, what = places[part], CONTENTS[part][0], ""
    if not os.path.lexists(place) or (place.is_dir() and not place.is_symlink() and is_empty(place)):
        return
    if place.is_symlink() or not place.is_dir():
        what = "it exists already and is a link or a file"
    elif not (place / description).is_file():
        what = f"it exists already and is not a release (it contains no {description})"
    elif not replace:
        raise FileExistsAlreadyError(place)
    if what:
        raise FileWriteError.to(place, what, "Nothing was replaced. Choose another name.")
    if others := list(islice(_others(part, places), MOST_NAMED + 1)):
        named = ", ".join(others[:MOST_NAMED]) + (" and more" if len(others) > MOST_NAMED else "")
        what = f"it contains files that {places[PUBLIC].name}/{RELEASE} does not list ({named})"
        raise FileWriteError.to(place, what, "Nothing was replaced. Move them elsewhere, or choose another name.")


def _others(part: str, places: Mapping[str, Path]) -> Iterator[str]:
    """Yield the files of a part that its release does not list, including hidden files and links."""
    (description, inner), listed = CONTENTS[part], _listed_names(places[PUBLIC])
    files = {description, README} if README in listed and part == PUBLIC else {description}
    with os.scandir(places[part]) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name == inner and entry.is_dir(follow_symlinks=False):
            with os.scandir(entry) as found:
                others = [each.name for each in found if not (_is_file(each) and each.name in listed - {README})]
            yield from (f"{inner}/{name}" for name in sorted(others))
        elif entry.name not in files or not _is_file(entry):
            yield entry.name


def _is_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _listed_names(public: Path) -> set[str]:
    """Return the names of the files that a release lists: its README and its tables, also those of true counts.

    The result is empty for a damaged release.
    """
    try:
        description = read_bounded_json(public / RELEASE, MAX_RELEASE_BYTES)
        paths = [PurePosixPath(entry["file"]) for entry in description["files"]]
    except (OSError, UnreadableFileError, TypeError, KeyError):
        return set()
    page = {README} if "readme" in description else set()
    return {path.name for path in paths if path.parts[:-1] == (TABLES,)} | page


def _prefix(out: Path) -> str:
    return f".{out.name}.making-"


def _leftovers(out: Path) -> list[Path]:
    """Return the hidden folders of runs into OUT by the current user; those of other users are not trusted."""
    # A name with more than eight digits belongs to another OUT with a longer name.
    name = re.compile(re.escape(_prefix(out)) + r"[0-9a-f]{8}")
    try:
        with os.scandir(out.parent) as entries:
            return sorted(Path(entry) for entry in entries if name.fullmatch(entry.name) and _own_folder(entry))
    except OSError:
        # A folder may be writable but not readable.
        return []


def _own_folder(entry: os.DirEntry[str]) -> bool:
    if not entry.is_dir(follow_symlinks=False):
        return False
    return not hasattr(os, "geteuid") or entry.stat(follow_symlinks=False).st_uid == os.geteuid()


def _recover(out: Path, besides: Path | None = None) -> None:
    for folder in _leftovers(out):
        if count_finished(folder):
            continue
        # A user without write permission leaves the folder unchanged.
        with suppress(OSError), _ended(folder) as ended:
            if ended and folder != besides and _made_good(_moves(folder, out)):
                _remove(folder)


def _drop_older(out: Path, besides: Path) -> None:
    """Remove the hidden folders of ended runs, so that they cannot replace the new release later."""
    for folder in _leftovers(out):
        with suppress(OSError), _ended(folder) as ended:
            if ended and folder != besides:
                _remove(folder)


@contextmanager
def _ended(folder: Path) -> Iterator[bool]:
    """Yield whether the run that made a hidden folder has ended, that is, no process holds its lock."""
    if not (folder / LOCK).exists():
        # The lock file is created first and removed last: the run was killed before it wrote or after it removed all.
        yield is_empty(folder)
        return
    with ended_run(folder / LOCK) as ended:
        yield ended


def _made_good(moves: Moves) -> bool:
    """Finish the committed moves of a killed run, unless the destination has changed since.

    Return whether the hidden folder can be removed.
    """
    try:
        for part in moves.waiting():
            _check_place(part, moves.places, replace=moves.may_replace)
    except InputError:
        return False
    moves.carry_out()
    return not moves.is_torn()


def _settle(moves: Moves) -> None:
    """Finish the moves if an interrupt came between them, then remove the hidden folder.

    Moves that can be neither finished nor undone are left to the next run.
    """
    with suppress(OSError):
        moves.carry_out_or_undo()
    if not moves.waiting():
        with suppress(OSError):
            _remove(moves.folder)


def _remove(folder: Path) -> None:
    """Remove a hidden folder: the commit marker first, so that no partial content is moved; the lock file last."""
    Moves(folder, {}).forget()
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
    shutil.rmtree(folder)
