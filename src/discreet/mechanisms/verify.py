"""Whether a release is what it says it is: every file as published and, given the data, made from them."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ReleaseError, ReleaseWarning
from discreet.mechanisms.again import protect_again
from discreet.release.folder import RELEASE, TABLES, curator_folder
from discreet.release.record import REPEATABLE
from discreet.release.release import open_release

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.release.release import Release

MOST_NAMED = 5
"""Files that a message names."""


@dataclass(frozen=True)
class Verification:
    """What was looked at and found in order.

    Attributes:
        release: the folder.
        files: files whose digest is the one published.
        repeated: whether the same bytes came out of the data; None if that was not asked for, or cannot be.
        sentence: what that means.
    """

    release: Path
    files: int
    repeated: bool | None
    sentence: str


def verify(
    folder: Path | str,
    *,
    data: object = None,
    secret: bytes | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Verification:
    """Check a release; whatever is not in order is refused, with the files concerned.

    Args:
        folder: the folder of the release.
        data: the data it was made from; then it is made again, from the record beside it, and compared byte by byte.
        secret: the office's secret.
        progress: called with stage, done and total.
    """
    release = open_release(folder)
    files = _check_files(release)
    same = f"Every file is as {RELEASE} says"
    if data is None:
        return Verification(Path(folder), files, None, f"{same} ({files:,} files).")
    if release.record.mechanism not in REPEATABLE:
        why = f"the mechanism {release.record.mechanism} draws new noise in every run"
        return Verification(
            Path(folder), files, None, f"{same} ({files:,} files). It cannot be made again: {why}, as it must."
        )
    _check_repeats(release, data, secret, progress)
    told = f"{same} ({files:,} files), and the data give the same bytes again."
    return Verification(Path(folder), files, repeated=True, sentence=told)


def _check_files(release: Release) -> int:
    """Refuse files that are missing, were changed, or do not belong to the release."""
    wrong = []
    for name, file in release.files.items():
        try:
            table = release.table(name)
        except ReleaseError as error:
            wrong.append(error.what.removeprefix("has "))
            continue
        if table.num_rows != release.rows_of(name):
            wrong.append(f"a file {file} with another number of rows than {RELEASE} says")
    wrong += [f"a file {file} that is not part of it" for file in _strangers(release)]
    if wrong:
        more = f" and {len(wrong) - MOST_NAMED:,} more" if len(wrong) > MOST_NAMED else ""
        what = f"is not as it was published: it has {'; '.join(wrong[:MOST_NAMED])}{more}"
        raise ReleaseError.at(_place(release), what, "Take these files from a copy, or make the release again.")
    return len(release.files)


def _strangers(release: Release) -> list[str]:
    folder = _place(release)
    known = {RELEASE, *release.files.values()}
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name not in known and not Path(name).name.startswith("."))


def _check_repeats(
    release: Release, data: object, secret: bytes | None, progress: Callable[[str, int, int | None], None] | None
) -> None:
    place = _place(release)
    # Whatever there was to warn of was said when the release was made.
    quietly = warnings.catch_warnings(action="ignore", category=ReleaseWarning)
    with tempfile.TemporaryDirectory(prefix="discreet-verify-") as temporary, quietly:
        again = protect_again(
            curator_folder(place),
            data=data,
            secret=secret,
            out=Path(temporary) / TABLES,
            keep_exact=False,
            progress=progress,
        )
        was, now = release.digests, again.digests
    differ = sorted(name for name in was if was[name] != now.get(name))
    if differ:
        named = ", ".join(differ[:MOST_NAMED]) + (" and more" if len(differ) > MOST_NAMED else "")
        what = f"is not what the data give today: {len(differ):,} of {len(was):,} tables differ ({named})"
        raise ReleaseError.at(place, what, f"It was made by {release.record.made_by}; compare the versions.")


def _place(release: Release) -> Path:
    assert release.path is not None  # noqa: S101 - it was opened from a folder
    return release.path
