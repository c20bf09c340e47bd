"""What a new release reveals together with earlier ones.

Two noises of the same count: how well whoever has both knows it.

Independent noises are weighed by their variances: 1 / (1/V1 + 1/V2). Noises that two laws make of the same key move
together, X1 = Q1(u) and X2 = Q2(u) with Q the quantile function and u uniform. Then the difference X1 - X2 is known,
and what is left is the mean of the variance of X1 among all u with that difference.

Earlier releases beside a new one, and what the two together reveal.

Two releases of the same data with different noise can be averaged. Two releases of different data with the same secret
and version show, without any noise, which counts have changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ReleaseError
from discreet.limits import read_bounded_json
from discreet.programme.model import VALUE, WEIGHTED, code_columns
from discreet.records.secret import KEYED, keyed_digest
from discreet.release.release import Release, read_description
from discreet.release.release_folder import RECORD, RELEASE, curator_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from discreet.noise.distribution import Noise
    from discreet.release.record import Record

SMALLEST = 1e-12
"""Probabilities below this are left out: no figure that is told shows them."""
MOST_REACH = 10_000_000
"""The largest noise of two laws whose common values are listed; wider ones are weighed as if they were independent."""


def joint_variance(first: Noise, second: Noise, *, same_keys: bool) -> float:
    """Return the variance of the best estimate of a large count from two noisy ones.

    Args:
        first: the law of one noise.
        second: the law of the other.
        same_keys: whether both were drawn with the same keys.

    >>> from discreet.noise.gaussian import Gaussian
    >>> round(joint_variance(Gaussian(sigma=2), Gaussian(sigma=2), same_keys=False), 2)
    2.04
    """
    if same_keys and max(_reach(law) for law in (first, second)) <= MOST_REACH:
        return _moving_together(first, second)
    variances = first.variance, second.variance
    return 0.0 if 0 in variances else 1 / sum(1 / variance for variance in variances)


def _moving_together(first: Noise, second: Noise) -> float:
    reach = max(_reach(law) for law in (first, second))
    values = np.arange(-reach, reach + 1)
    # What lies beyond belongs to the last value.
    below = [np.append(law.cdf(values[:-1]), 1.0) for law in (first, second)]
    edges = np.unique(np.concatenate([[0.0], *below]))
    width, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    noise, other = (values[np.minimum(np.searchsorted(cdf, middle), len(values) - 1)] for cdf in below)
    _, group = np.unique(noise - other, return_inverse=True)
    share, mean, square = (np.bincount(group, width * noise**power) for power in range(3))
    return float(np.sum(square - mean**2 / share))


def _reach(law: Noise) -> int:
    return int(law.bound) if math.isfinite(law.bound) else law.reach(SMALLEST)


MOST_LOOKED_AT = 100
"""Releases beside a new one that are looked at, the newest first."""
MOST_TOLD = 2
"""Earlier releases of which each is told by itself."""
MOST_NAMED = 5
MOST_ROWS = 20_000_000
"""Rows of both releases together that are compared at most."""
MOST_BYTES = 1 << 30
"""Bytes of a file of a table that is compared."""
MOST_BOUND = 100
"""The bound of a p-table that is solved again to compare two releases: a larger one may take a minute."""
ALIKE = {
    "secret_check": "secret",
    "key_version": "version label",
    "key_bits": "derivation of keys",
    "key_mode": "key mode",
    "mechanism": "mechanism",
    "law": "law",
    "parameters": "noise",
    "ptable_text": "p-table",
    "perturb_zeros": "noise on empty cells",
    "labelled_total": "noise of the grand total",
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


@dataclass(frozen=True)
class TableDifferences:
    """How the published tables of two releases differ.

    Attributes:
        cells: cells that are not 0 in at least one of the two.
        differ: those of them with different values.
        tables: tables that were compared.
        whole: whether all tables that both have were compared.
        unread: tables of the earlier release that could not be read.
    """

    cells: int
    differ: int
    tables: int
    whole: bool
    unread: int = 0


@dataclass(frozen=True)
class EarlierReleases:
    """The other releases in the folder of a new one.

    Attributes:
        releases: those that can be compared with it, the newest first.
        strange: the names of folders that look like releases and cannot be read as such.
    """

    releases: list[Release] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


def releases_beside(out: Path) -> EarlierReleases:
    """Return the other releases in the same folder that this user can read.

    A release at `out` itself is replaced by the new one, and both are never published. A folder that is damaged, or
    made to do harm, stops nothing: it is named.
    """
    found = EarlierReleases()
    replaced, folder = curator_folder(out.absolute()), out.absolute().parent
    beside = (place for place in folder.glob(f"*.curator/{RECORD}") if place.parent != replaced)
    for place in sorted(beside, key=_age, reverse=True)[:MOST_LOOKED_AT]:
        public = place.parent.with_name(place.parent.name.removesuffix(".curator"))
        try:
            if curator_folder(public) != place.parent or not (public / RELEASE).exists():
                # A link, or a release that was moved away.
                continue
            _check_quick(place)
            release = Release(public, read_description(public))
            if not release.record.is_exact:
                found.releases.append(release)
        except PermissionError:
            # Another user's.
            continue
        except Exception as error:  # noqa: BLE001 - whatever is in a folder that is not ours to check
            if not isinstance(error.__cause__, PermissionError):
                found.strange.append(_printable(public.name))
    return found


def _check_quick(place: Path) -> None:
    """Refuse a record whose noise takes long to compute."""
    content = read_bounded_json(place)
    if content.get("law", "max-entropy") == "max-entropy" and content["parameters"]["bound"] > MOST_BOUND:
        raise ReleaseError.at(place.parent, "has a p-table with a large bound", "Compare it by hand.")


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def warnings_about(
    record: Record, tables: Callable[[str], pa.Table | None], earlier: EarlierReleases, secret: bytes | None = None
) -> Iterator[str]:
    """Give a sentence for every earlier release that tells more together with the new one, but not for too many.

    Args:
        record: of the new release.
        tables: gives its tables by id, None for those it has not.
        earlier: releases beside it.
        secret: of the new release; with it the same data are known again.
    """
    if record.is_exact:
        return
    told, more, strange = 0, [], list(earlier.strange)
    for release, same in _certain_first(record, earlier.releases, secret, strange):
        sentence = None
        try:
            if told < MOST_TOLD or same is not False or _same_keys(record, release.record):
                sentence, whole = _sentence(record, tables, release, same=same)
                strange += [] if whole else [_name(release)]
        except Exception:  # noqa: BLE001 - as above: a strange release must not stop a new one
            strange.append(_name(release))
        if sentence and told < MOST_TOLD:
            told += 1
            yield sentence
        elif sentence:
            more.append(_name(release))
    if more:
        yield (
            f"The same goes for {len(more):,} more in this folder ({_listed(more)}); all of them together reveal more."
        )
    if strange:
        yield (
            f"Not compared, or not wholly, with {_listed(strange)} in this folder: files there are damaged, too large "
            "or not those of a release. Run discreet verify on them, or move them away."
        )


def _certain_first(
    record: Record, releases: list[Release], secret: bytes | None, strange: list[str]
) -> list[tuple[Release, bool | None]]:
    """Return releases and whether each is of the same data, those of which that is not known last."""
    found: list[tuple[Release, bool | None]] = []
    for release in releases:
        try:
            found.append((release, same_data(record, release.record, secret)))
        except Exception:  # noqa: BLE001 - as above
            strange.append(_name(release))
    return sorted(found, key=lambda each: each[1] is None)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (" and others" if len(names) > MOST_NAMED else "")


def _sentence(
    record: Record, tables: Callable[[str], pa.Table | None], release: Release, *, same: bool | None
) -> tuple[str | None, bool]:
    """Return what is to be told of an earlier release, if anything, and whether all that it needs could be read."""
    if same:
        return _other_noise(record, release), True
    if same is None and not (_same_keys(record, release.record) and _alike(record, release.record)):
        return _perhaps_same(record, release), True
    if not _same_keys(record, release.record):
        return None, True
    found = compared(release, tables)
    # Where nothing differs they are the same persons, as far as these tables show.
    return _other_data(record, release, found) if found.differ else None, not found.unread


def same_data(record: Record, other: Record, secret: bytes | None) -> bool | None:
    """Say whether two releases count the same persons: the same file, or the same true counts in all common tables.

    Digests are keyed with the secret. Under another one, or without any, only different numbers of records or different
    units show that the data are different; None if they are the same.

    Args:
        record: of the new release.
        other: of an earlier one.
        secret: of the new release.
    """
    theirs = _digests(other, secret)
    if record.data_fingerprint is None or not theirs or not (_unkeyed(other) or _same_secret(record, other)):
        return None if _may_be_same(record, other) else False
    if record.data_fingerprint == theirs[""]:
        return True
    ours = record.contents or {}
    common = ours.keys() & theirs.keys()
    return bool(common) and all(ours[name] == theirs[name] for name in common)


def _digests(record: Record, secret: bytes | None) -> dict[str, str]:
    """Return the keyed digests of an earlier release, that of its data under no name; none if they are not known."""
    if record.data_fingerprint is None:
        return {}
    found = {**(record.contents or {}), "": record.data_fingerprint}
    if not _unkeyed(record):
        return found
    # Older records have the digests themselves.
    return {name: keyed_digest(digest, secret) for name, digest in found.items()} if secret else {}


def _unkeyed(record: Record) -> bool:
    return not (record.data_fingerprint or KEYED).startswith(KEYED)


def _same_secret(record: Record, other: Record) -> bool:
    return record.secret_check is not None and record.secret_check == other.secret_check


def _may_be_same(record: Record, other: Record) -> bool:
    """Say whether two releases may count the same persons: neither numbers of records nor units differ."""
    if None not in (record.records, other.records) and record.records != other.records:
        return False
    ours, theirs = ({table["unit"] for table in (each.definition or {}).get("tables", [])} for each in (record, other))
    return not (ours and theirs) or not ours.isdisjoint(theirs)


def _same_keys(record: Record, other: Record) -> bool:
    """Say whether the same participants have the same keys in both, as far as the records tell."""
    compared_by = ("mechanism", "secret_check", "key_version", "key_bits")
    alike = all(getattr(record, name) == getattr(other, name) for name in compared_by)
    alike &= _ready_made(record) == _ready_made(other)
    return alike and _repeats(record) and not (_older(record) or _older(other))


def _repeats(record: Record) -> bool:
    """Say whether the mechanism gives the same noise again where nothing has changed."""
    return record.mechanism_class.repeatable and not record.is_exact


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
    if not differs and _repeats(record):
        return None
    if differs == [ALIKE["perturb_zeros"]]:
        return (
            f"{_name(release)} was made from the same data with another rule for empty cells. Their difference reveals "
            "which cells are empty. Publish one of them only."
        )
    if differs == [ALIKE["labelled_total"]]:
        return (
            f"{_name(release)} was made from the same data when the grand total did not have noise of its version "
            "label. An attacker who has both can average two noises of the grand total. Publish one of them only, or "
            "repeat the earlier one (--again)."
        )
    how = f"another {', another '.join(differs)}" if differs else f"the mechanism {record.mechanism}, which draws anew"
    same_keys = _same_keys(record, other) and record.key_mode == other.key_mode
    joint = joint_variance(record.noise.large, other.noise.large, same_keys=same_keys)
    least = min(record.variance, other.variance)
    return (
        f"{_name(release)} was made from the same data with {how}. An attacker who has both can average the two "
        f"noises of a count: variance {joint:.2f} instead of {least:.2f}.{_spent(record, other)} Publish one of "
        f"them only{', or repeat the earlier one (--again)' if _repeats(other) else ''}."
    )


def _spent(record: Record, other: Record) -> str:
    """Return what two privacy budgets come to."""
    if not (record.privacy and other.privacy):
        return ""
    return f" Together they spend epsilon {record.privacy['epsilon'] + other.privacy['epsilon']:g}."


def _perhaps_same(record: Record, release: Release) -> str:
    other = release.record
    if None not in (record.secret_check, other.secret_check):
        how = "with another secret"
    else:
        how = "without a secret" if other.secret_check is None else "with a secret, unlike this release"
    same_keys = _same_keys(record, other) and record.key_mode == other.key_mode
    joint = joint_variance(record.noise.large, other.noise.large, same_keys=same_keys)
    records = "its number of records is not known" if other.records is None else "it has as many records"
    return (
        f"{_name(release)} was made {how}, so that it is not known whether it counts the same persons; {records}. If "
        "it does, an attacker who has both can average the two noises of a count: variance "
        f"{joint:.2f} instead of {min(record.variance, other.variance):.2f}.{_spent(record, other)} Then publish one "
        "of them only."
    )


def _alike(record: Record, other: Record) -> bool:
    """Say whether two releases have the same noise where they have the same keys."""
    return all(getattr(record, name) == getattr(other, name) for name in (*ALIKE, "non_negative"))


def _other_data(record: Record, release: Release, found: TableDifferences) -> str:
    share = found.differ / found.cells if found.cells else 0.0
    part = "" if found.whole else f" in the first {found.tables:,} tables"
    keys = "ready-made keys" if _ready_made(record) else "secret and version"
    todo = "record keys of their own" if _ready_made(record) else "another --version-label"
    why, so = SAME if _alike(record, release.record) else MOVING
    return (
        f"{_name(release)} was made with the same {keys} from other data. Where nobody came or went, "
        f"{why}: of {found.cells:,} published cells{part}, {found.differ:,} ({share:.2%}) differ, and whoever compares "
        f"{so}. Give the new data {todo}, unless that may be known."
    )


def _name(release: Release) -> str:
    return _printable(release.path.name) if release.path else "A release in memory"


def _printable(name: str) -> str:
    """Return the name of a folder, with signs that a terminal would obey written out."""
    return name if name.isprintable() else ascii(name)


def compared(release: Release, tables: Callable[[str], pa.Table | None]) -> TableDifferences:
    """Return how many published cells of two releases differ, table by table."""
    cells = differ = rows = done = unread = 0
    for name in release.ids:
        new = tables(name)
        if new is None:
            continue
        try:
            old = _read(release, name)
            if _columns(new) != _columns(old):
                continue
            rows += new.num_rows + old.num_rows
            if rows > MOST_ROWS and done:
                return TableDifferences(cells, differ, done, whole=False, unread=unread)
            both, changed = _table_compared(old, new)
        except Exception:  # noqa: BLE001 - a table that is damaged, or made to do harm
            unread += 1
            continue
        cells, differ, done = cells + both, differ + changed, done + 1
    return TableDifferences(cells, differ, done, whole=True, unread=unread)


def _read(release: Release, name: str) -> pa.Table:
    """Return a table of an earlier release, unless it is too large."""
    if release.size_of(name) > MOST_BYTES:
        raise ReleaseError.at(release.path or Path(), f"has a large table {name}", "Compare it by hand.")
    return release.table(name, most_rows=MOST_ROWS)


def _table_compared(old: pa.Table, new: pa.Table) -> tuple[int, int]:
    """Return how many cells either table shows, and in how many of them the two differ."""
    import pyarrow.compute as pc

    codes, counts = _columns(old)
    first, second = (_as_text(table, codes) for table in (old, new))
    joined = first.join(second, keys=codes, join_type="full outer", right_suffix=" new", use_threads=False)
    values = [pc.fill_null(joined.column(name), 0) for name in (counts, f"{counts} new")]
    return joined.num_rows, int(pc.sum(pc.not_equal(*values)).as_py() or 0)


def _columns(table: pa.Table) -> tuple[list[str], str]:
    return code_columns(table.column_names), _counts(table)


def _counts(table: pa.Table) -> str:
    """Return the column of counts; there may be weighted ones alone."""
    return VALUE if VALUE in table.column_names else WEIGHTED


def _as_text(table: pa.Table, codes: list[str]) -> pa.Table:
    """Return codes and values; codes that are numbers of a dictionary may be others in the next file."""
    import pyarrow as pa

    counts = _counts(table)
    return pa.table({**{name: table[name].cast(pa.string()) for name in codes}, counts: table[counts]})
