"""Earlier releases beside a new one, and what the two together tell.

Two releases of the same data with different noise can be averaged. Two releases of different data with the same secret
and version show, without any noise, which counts have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import DiscreetError
from discreet.mechanisms.together import joint_variance
from discreet.programme.published import VALUE
from discreet.release.folder import RECORD, curator_folder
from discreet.release.record import REPEATABLE
from discreet.release.release import open_release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from discreet.release.record import Record
    from discreet.release.release import Release

MOST_LOOKED_AT = 100
"""Releases beside a new one that are looked at, the newest first."""
MOST_TOLD = 2
"""Earlier releases of which each is told by itself."""
MOST_NAMED = 5
MOST_ROWS = 20_000_000
"""Rows of both releases together that are compared at most."""
ALIKE = {
    "secret_check": "secret",
    "key_version": "version label",
    "key_mode": "key mode",
    "mechanism": "mechanism",
    "law": "law",
    "parameters": "noise",
    "ptable_text": "p-table",
    "perturb_zeros": "noise on empty cells",
}
"""What two releases of the same data should have in common, and what to call it."""
SAME = (
    "the noise is the same and the difference of the two is 0",
    "knows of each of these for certain that it changed",
)
MOVING = (
    "another law gives other noise, but from the same keys, so that the two move together",
    "can tell better what changed than if the keys were others",
)
"""What two releases of different data have in common, under the same law and under two, and what that tells."""
SAME_NOISE = tuple(name for name in REPEATABLE if name != "exact")
"""Mechanisms that give the same noise again where nothing has changed."""


@dataclass(frozen=True)
class Changed:
    """How the published tables of two releases differ.

    Attributes:
        cells: cells that are not 0 in at least one of the two.
        differ: those of them with different values.
        tables: tables that were compared.
        whole: whether all tables that both have were compared.
    """

    cells: int
    differ: int
    tables: int
    whole: bool


def releases_beside(out: Path) -> list[Release]:
    """Return the other releases in the same folder that this user can read, the newest first.

    A release at `out` itself is replaced by the new one, and both are never published.
    """
    found = []
    replaced, folder = curator_folder(out.absolute()), out.absolute().parent
    beside = (place for place in folder.glob(f"*.curator/{RECORD}") if place.parent != replaced)
    for place in sorted(beside, key=_age, reverse=True)[:MOST_LOOKED_AT]:
        public = place.parent.with_name(place.parent.name.removesuffix(".curator"))
        try:
            release = open_release(public)
            if curator_folder(public) == place.parent and release.record.law != "none":
                found.append(release)
        except (DiscreetError, OSError):
            # What cannot be read is none of our business here: another user's, or damaged.
            continue
    return found


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def warnings_about(record: Record, tables: Callable[[str], pa.Table | None], earlier: list[Release]) -> Iterator[str]:
    """Give a sentence for every earlier release that tells more together with the new one, but not for too many.

    Args:
        record: of the new release.
        tables: gives its tables by id, None for those it has not.
        earlier: releases beside it.
    """
    if record.law == "none":
        return
    told, more = 0, []
    for release in earlier:
        sentence = _sentence(record, tables, release) if told < MOST_TOLD or _concerns(record, release) else None
        if sentence and told < MOST_TOLD:
            told += 1
            yield sentence
        elif sentence:
            more.append(_name(release))
    if more:
        names = ", ".join(more[:MOST_NAMED]) + (" and others" if len(more) > MOST_NAMED else "")
        yield f"The same goes for {len(more):,} more in this folder ({names}); all of them together tell still more."


def _concerns(record: Record, release: Release) -> bool:
    return same_data(record, release.record) or _same_keys(record, release.record)


def _sentence(record: Record, tables: Callable[[str], pa.Table | None], release: Release) -> str | None:
    if same_data(record, release.record):
        return _other_noise(record, release)
    if not _same_keys(record, release.record):
        return None
    found = compared(release, tables)
    # Where nothing differs they are the same persons, as far as these tables show.
    return _other_data(record, release, found) if found.differ else None


def same_data(record: Record, other: Record) -> bool:
    """Say whether two releases count the same persons: the same file, or the same true counts in all common tables."""
    if record.data_fingerprint == other.data_fingerprint:
        return True
    ours, theirs = record.contents or {}, other.contents or {}
    common = ours.keys() & theirs.keys()
    return bool(common) and all(ours[name] == theirs[name] for name in common)


def _same_keys(record: Record, other: Record) -> bool:
    """Say whether the same participants have the same keys in both, as far as the records tell."""
    alike = all(getattr(record, name) == getattr(other, name) for name in ("mechanism", "secret_check", "key_version"))
    alike &= _ready_made(record) == _ready_made(other)
    return alike and record.mechanism in SAME_NOISE and not (_older(record) or _older(other))


def _ready_made(record: Record) -> bool:
    """Say whether the data brought their keys along."""
    return bool((record.run or {}).get("key"))


def _older(record: Record) -> bool:
    """Say whether a record is of a time when none told of its secret; one of today without it used none."""
    return record.secret_check is None and record.run is None


def _differs(record: Record, other: Record, name: str) -> bool:
    if name == "secret_check" and (_older(record) or _older(other)):
        return False
    return bool(getattr(record, name) != getattr(other, name))


def _other_noise(record: Record, release: Release) -> str | None:
    other = release.record
    # A mechanism of another kind may have no keys at all: what else differs is no matter then.
    compared_by = ALIKE if record.mechanism == other.mechanism else {"mechanism": ALIKE["mechanism"]}
    differs = [words for name, words in compared_by.items() if _differs(record, other, name)]
    if not differs and record.mechanism in SAME_NOISE:
        return None
    if differs == [ALIKE["perturb_zeros"]]:
        return (
            f"{_name(release)} was made from the same data with another rule for empty cells. Whoever has both sees by "
            "their difference which cells are empty. Publish one of them only."
        )
    how = f"another {', another '.join(differs)}" if differs else f"the mechanism {record.mechanism}, which draws anew"
    same_keys = _same_keys(record, other) and record.key_mode == other.key_mode
    joint = joint_variance(record.noise(), other.noise(), same_keys=same_keys)
    least = min(record.variance, other.variance)
    return (
        f"{_name(release)} was made from the same data with {how}. Whoever has both can weigh the two noises of a "
        f"count against each other: variance {joint:.2f} instead of {least:.2f}.{_spent(record, other)} Publish one of "
        f"them only{', or repeat the earlier one (--again)' if other.mechanism in SAME_NOISE else ''}."
    )


def _spent(record: Record, other: Record) -> str:
    """Return what two privacy budgets come to."""
    if not (record.privacy and other.privacy):
        return ""
    return f" Together they spend epsilon {record.privacy['epsilon'] + other.privacy['epsilon']:g}."


def _other_data(record: Record, release: Release, found: Changed) -> str:
    share = found.differ / found.cells if found.cells else 0.0
    part = "" if found.whole else f" in the first {found.tables:,} tables"
    keys = "ready-made keys" if _ready_made(record) else "secret and version"
    todo = "record keys of their own" if _ready_made(record) else "another --version-label"
    alike = all(getattr(record, name) == getattr(release.record, name) for name in (*ALIKE, "non_negative"))
    why, so = SAME if alike else MOVING
    return (
        f"{_name(release)} was made with the same {keys} from other data. Where nobody came or went, "
        f"{why}: of {found.cells:,} published cells{part}, {found.differ:,} ({share:.2%}) differ, and whoever compares "
        f"{so}. Give the new data {todo}, unless that may be known."
    )


def _name(release: Release) -> str:
    return release.path.name if release.path else "A release in memory"


def compared(release: Release, tables: Callable[[str], pa.Table | None]) -> Changed:
    """Return how many published cells of two releases differ, table by table."""
    cells = differ = rows = done = 0
    for name in release.ids:
        new = tables(name)
        try:
            old = release.table(name)
        except DiscreetError:
            continue
        if new is None or _codes(new) != _codes(old):
            continue
        rows += new.num_rows + old.num_rows
        if rows > MOST_ROWS and done:
            return Changed(cells, differ, done, whole=False)
        both, changed = _table_compared(old, new)
        cells, differ, done = cells + both, differ + changed, done + 1
    return Changed(cells, differ, done, whole=True)


def _table_compared(old: pa.Table, new: pa.Table) -> tuple[int, int]:
    """Return how many cells either table shows, and in how many of them the two differ."""
    import pyarrow.compute as pc

    codes = _codes(old)
    first, second = (_as_text(table, codes) for table in (old, new))
    joined = first.join(second, keys=codes, join_type="full outer", right_suffix=" new", use_threads=False)
    values = [pc.fill_null(joined.column(name), 0) for name in (VALUE, f"{VALUE} new")]
    return joined.num_rows, int(pc.sum(pc.not_equal(*values)).as_py() or 0)


def _codes(table: pa.Table) -> list[str]:
    """Return the columns of codes: those before the values."""
    return list(table.column_names[: table.column_names.index(VALUE)])


def _as_text(table: pa.Table, codes: list[str]) -> pa.Table:
    """Return codes and values; codes that are numbers of a dictionary may be others in the next file."""
    import pyarrow as pa

    return pa.table({**{name: table[name].cast(pa.string()) for name in codes}, VALUE: table[VALUE]})
