"""The public view of a release: its tables and its description, without the curator's files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.limits import MAX_RELEASE_BYTES
from discreet.release.disclosed_noise import DISCLOSED_BOUND
from discreet.release.record import Record
from discreet.release.release import Release, read_description

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

WIDE = 6
"""Assumed bound in standard deviations if none is disclosed; it is so wide that it has no effect."""


@dataclass(frozen=True, eq=False)
class _Tables(Mapping[str, "pa.Table"]):
    """The tables in a folder, each read on access."""

    folder: Release

    def __getitem__(self, name: str) -> pa.Table:
        return self.folder.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.folder.ids)

    def __len__(self) -> int:
        return len(self.folder.ids)


def public_release(release: Release | Path | str) -> Release:
    """Return a release with only the public files; the curator's folder is neither searched nor opened."""
    if not isinstance(release, Release):
        path = Path(release)
        release = Release(path, read_description(path, MAX_RELEASE_BYTES))
    return Release(None, release.description, held=_Tables(release))


def disclosed_record(release: Release, size: float) -> Record:
    """Return a record with the disclosed noise of a release, as needed for the averaging attack.

    The bound is the approximate one that is disclosed, or one so wide that it has no effect.

    Args:
        release: the release.
        size: a standard deviation within `deviation_range`.
    """
    disclosed = release.description["noise"]
    bound = DISCLOSED_BOUND.search(str(disclosed.get("bound", "")))
    most = int(bound[1]) if bound else math.ceil(WIDE * size) + 1
    shared = bool(disclosed.get("same_count_same_noise", True))
    return Record(
        programme=release.description["name"],
        definition=release.description["programme"],
        mechanism="cell-key" if shared else "fresh",
        spsn=shared,
        parameters={"variance": min(size**2, most * (most + 1) / 3), "bound": most},
    )
