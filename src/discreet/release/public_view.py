"""The public view of a release: its tables and its description, without the curator's files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.limits import MAX_RELEASE_BYTES
from discreet.release.disclosed_noise import TOLD_BOUND
from discreet.release.record import Record
from discreet.release.release import Release, read_description

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

WIDE = 6
"""Standard deviations that a bound is away where none is told: it then changes nothing."""


@dataclass(frozen=True, eq=False)
class _Tables(Mapping[str, "pa.Table"]):
    """The tables in a folder, each read when it is asked for."""

    folder: Release

    def __getitem__(self, name: str) -> pa.Table:
        return self.folder.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.folder.ids)

    def __len__(self) -> int:
        return len(self.folder.ids)


def public_side(release: Release | Path | str) -> Release:
    """Return a release that knows nothing but the public folder: the curator's is neither looked for nor opened."""
    if not isinstance(release, Release):
        path = Path(release)
        release = Release(path, read_description(path, MAX_RELEASE_BYTES))
    return Release(None, release.description, held=_Tables(release))


def told_record(release: Release, size: float) -> Record:
    """Return a record with noise of a size that what a release tells may stand for, enough for averaging.

    The bound is the vague one that is told, or one so wide that it changes nothing.

    Args:
        release: what tells.
        size: a standard deviation within `told_range`.
    """
    told = release.description["noise"]
    bound = TOLD_BOUND.search(str(told.get("bound", "")))
    most = int(bound[1]) if bound else math.ceil(WIDE * size) + 1
    shared = bool(told.get("same_count_same_noise", True))
    return Record(
        programme=release.description["name"],
        definition=release.description["programme"],
        mechanism="cell-key" if shared else "fresh",
        spsn=shared,
        parameters={"variance": min(size**2, most * (most + 1) / 3), "bound": most},
    )
