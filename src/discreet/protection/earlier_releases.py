"""Joint disclosure by a new release and earlier releases in the same folder.

An attacker can average two releases of the same data with different noise. Two releases of different data with the
same secret and version label reveal, without any noise, which counts have changed.

The variance of a count that is published twice depends on the keys. Independent noise terms are weighted by the
inverse of their variances, which gives 1 / (1/V1 + 1/V2). Noise terms that two distributions draw from the same key
are dependent: X1 = Q1(u) and X2 = Q2(u), where Q is the quantile function and u is uniform. The attacker then knows
the difference X1 - X2. The remaining variance is the mean of the conditional variance of X1 given this difference.
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
"""Tail probability below which noise is ignored; it does not affect the reported digits."""
MOST_REACH = 10_000_000
"""Maximum noise for the exact computation with common keys; wider noise is treated as independent."""


def joint_variance(first: Noise, second: Noise, *, same_keys: bool) -> float:
    """Return the variance of the best estimate of a large count from two noisy counts.

    Args:
        first: the noise distribution of one count.
        second: the noise distribution of the other count.
        same_keys: whether both noise terms were drawn with the same keys.

    >>> from discreet.noise.gaussian import Gaussian
    >>> round(joint_variance(Gaussian(sigma=2), Gaussian(sigma=2), same_keys=False), 2)
    2.04
    """
    if same_keys and max(_reach(law) for law in (first, second)) <= MOST_REACH:
        return _variance_with_common_keys(first, second)
    variances = first.variance, second.variance
    return 0.0 if 0 in variances else 1 / sum(1 / variance for variance in variances)


def _variance_with_common_keys(first: Noise, second: Noise) -> float:
    reach = max(_reach(law) for law in (first, second))
    values = np.arange(-reach, reach + 1)
    # Probability beyond the reach is assigned to the last value.
    below = [np.append(law.cdf(values[:-1]), 1.0) for law in (first, second)]
    edges = np.unique(np.concatenate([[0.0], *below]))
    width, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    noise, other = (values[np.minimum(np.searchsorted(cdf, middle), len(values) - 1)] for cdf in below)
    _, group = np.unique(noise - other, return_inverse=True)
    share, mean, square = (np.bincount(group, width * noise**power) for power in range(3))
    return float(np.sum(square - mean**2 / share))


def _reach(law: Noise) -> int:
    return int(law.bound) if math.isfinite(law.bound) else law.reach(SMALLEST)


MAX_COMPARED = 100
"""Maximum number of releases in the same folder that are compared, the newest first."""
MAX_DETAILED = 2
"""Maximum number of earlier releases with a warning of their own."""
MOST_NAMED = 5
MOST_ROWS = 20_000_000
"""Maximum number of rows of both releases that are compared."""
MOST_BYTES = 1 << 30
"""Maximum size in bytes of the file of a table that is compared."""
MOST_BOUND = 100
"""Maximum bound of a p-table that is solved again for a comparison; a larger bound may take a minute."""
COMPARED_FIELDS = {
    "secret_check": "secret",
    "key_version": "version label",
    "key_bits": "derivation of keys",
    "key_mode": "key mode",
    "mechanism": "mechanism",
    "law": "noise distribution",
    "parameters": "set of noise parameters",
    "ptable_text": "p-table",
    "perturb_zeros": "rule for empty cells",
    "labelled_total": "rule for the noise of the grand total",
}
"""Fields of the record that should be equal in two releases of the same data, and their names in warnings."""
SAME_NOISE = (
    "In cells whose persons have not changed, the noise is the same and the difference is 0.",
    "An attacker who compares the releases knows with certainty that each of these cells changed.",
)
DEPENDENT_NOISE = (
    "The noise distributions differ, but the noise is drawn from the same keys, so it is dependent.",
    "An attacker who compares the releases detects changes better than with different keys.",
)
"""Sentences on two releases of different data with the same keys: equal noise settings, and different ones."""


@dataclass(frozen=True)
class TableDifferences:
    """Differences between the published tables of two releases.

    Attributes:
        cells: the number of cells that are not 0 in at least one of the releases.
        differ: the number of these cells with different values.
        tables: the number of tables that were compared.
        whole: whether all common tables were compared.
        unread: the number of tables of the earlier release that could not be read.
    """

    cells: int
    differ: int
    tables: int
    whole: bool
    unread: int = 0


@dataclass(frozen=True)
class EarlierReleases:
    """The other releases in the folder of a new release.

    Attributes:
        releases: the releases that can be compared with it, the newest first.
        unreadable: the names of folders that look like releases but cannot be read.
    """

    releases: list[Release] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def find_earlier_releases(out: Path) -> EarlierReleases:
    """Return the other releases in the same folder that the current user can read.

    A release at `out` itself is excluded: the new release replaces it. A damaged or malicious folder does not stop the
    run; its name is reported.
    """
    found = EarlierReleases()
    replaced, folder = curator_folder(out.absolute()), out.absolute().parent
    others = (place for place in folder.glob(f"*.curator/{RECORD}") if place.parent != replaced)
    for place in sorted(others, key=_age, reverse=True)[:MAX_COMPARED]:
        public = place.parent.with_name(place.parent.name.removesuffix(".curator"))
        try:
            if curator_folder(public) != place.parent or not (public / RELEASE).exists():
                # A symbolic link, or a release that was moved.
                continue
            _check_quick(place)
            release = Release(public, read_description(public))
            if not release.record.is_exact:
                found.releases.append(release)
        except PermissionError:
            # The release belongs to another user.
            continue
        except Exception as error:  # noqa: BLE001 - a foreign folder may contain anything
            if not isinstance(error.__cause__, PermissionError):
                found.unreadable.append(_printable(public.name))
    return found


def _check_quick(place: Path) -> None:
    """Refuse a record whose p-table takes long to compute."""
    content = read_bounded_json(place)
    if content.get("law", "max-entropy") == "max-entropy" and content["parameters"]["bound"] > MOST_BOUND:
        raise ReleaseError.at(place.parent, "has a p-table with a large bound", "Compare it manually.")


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def joint_disclosure_warnings(
    record: Record, tables: Callable[[str], pa.Table | None], earlier: EarlierReleases, secret: bytes | None = None
) -> Iterator[str]:
    """Yield a warning for every earlier release that discloses more together with the new one.

    The first MAX_DETAILED releases have a warning each. The others are listed in one warning.

    Args:
        record: the record of the new release.
        tables: a function that returns a table of the new release by id, or None if the release does not have it.
        earlier: the other releases in the same folder.
        secret: the secret of the new release, which is needed to recognise the same data.
    """
    if record.is_exact:
        return
    detailed, more, unreadable = 0, [], list(earlier.unreadable)
    for release, same in _by_certainty(record, earlier.releases, secret, unreadable):
        sentence = None
        try:
            if detailed < MAX_DETAILED or same is not False or _same_keys(record, release.record):
                sentence, whole = _warning(record, tables, release, same=same)
                unreadable += [] if whole else [_name(release)]
        except Exception:  # noqa: BLE001 - an unreadable release must not stop a new one
            unreadable.append(_name(release))
        if sentence and detailed < MAX_DETAILED:
            detailed += 1
            yield sentence
        elif sentence:
            more.append(_name(release))
    if more:
        yield (
            f"The same applies to {len(more):,} more in this folder ({_listed(more)}). "
            "All of them together disclose more."
        )
    if unreadable:
        yield (
            f"Not compared, or not completely, with {_listed(unreadable)} in this folder: files there are damaged, too "
            "large or not part of a release. Run discreet verify on them, or move them elsewhere."
        )


def _by_certainty(
    record: Record, releases: list[Release], secret: bytes | None, unreadable: list[str]
) -> list[tuple[Release, bool | None]]:
    """Return the releases and whether each has the same data (None if unknown), the unknown cases last."""
    found: list[tuple[Release, bool | None]] = []
    for release in releases:
        try:
            found.append((release, same_data(record, release.record, secret)))
        except Exception:  # noqa: BLE001 - an unreadable release must not stop a new one
            unreadable.append(_name(release))
    return sorted(found, key=lambda each: each[1] is None)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (" and others" if len(names) > MOST_NAMED else "")


def _warning(
    record: Record, tables: Callable[[str], pa.Table | None], release: Release, *, same: bool | None
) -> tuple[str | None, bool]:
    """Return the warning about an earlier release, or None, and whether all its tables could be read."""
    if same:
        return _same_data_warning(record, release), True
    if same is None and not (_same_keys(record, release.record) and _same_noise_settings(record, release.record)):
        return _possibly_same_data_warning(record, release), True
    if not _same_keys(record, release.record):
        return None, True
    found = compare_tables(release, tables)
    # If no cell differs, these tables give no evidence of different persons.
    return _changed_data_warning(record, release, found) if found.differ else None, not found.unread


def same_data(record: Record, other: Record, secret: bytes | None) -> bool | None:
    """Return whether two releases count the same persons; None if this is unknown.

    Two releases count the same persons if their data files are equal, or the true counts in all common tables. The
    record has digests of these, keyed with the secret. If the digests cannot be compared, because the secrets differ
    or are missing, only different numbers of records or different units show that the data differ.

    Args:
        record: the record of the new release.
        other: the record of an earlier release.
        secret: the secret of the new release.
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
    """Return the keyed digests of an earlier release by table, that of the data under ""; empty if they are unknown."""
    if record.data_fingerprint is None:
        return {}
    found = {**(record.contents or {}), "": record.data_fingerprint}
    if not _unkeyed(record):
        return found
    # Older records contain unkeyed digests.
    return {name: keyed_digest(digest, secret) for name, digest in found.items()} if secret else {}


def _unkeyed(record: Record) -> bool:
    return not (record.data_fingerprint or KEYED).startswith(KEYED)


def _same_secret(record: Record, other: Record) -> bool:
    return record.secret_check is not None and record.secret_check == other.secret_check


def _may_be_same(record: Record, other: Record) -> bool:
    """Return whether two releases may count the same persons: neither the numbers of records nor the units differ."""
    if None not in (record.records, other.records) and record.records != other.records:
        return False
    ours, theirs = ({table["unit"] for table in (each.definition or {}).get("tables", [])} for each in (record, other))
    return not (ours and theirs) or not ours.isdisjoint(theirs)


def _same_keys(record: Record, other: Record) -> bool:
    """Return whether the same participants have the same keys in both releases, according to the records."""
    compared_by = ("mechanism", "secret_check", "key_version", "key_bits")
    alike = all(getattr(record, name) == getattr(other, name) for name in compared_by)
    alike &= _has_ready_made_keys(record) == _has_ready_made_keys(other)
    return alike and _is_repeatable(record) and not (_predates_secret_check(record) or _predates_secret_check(other))


def _is_repeatable(record: Record) -> bool:
    """Return whether the mechanism draws the same noise again for the same data."""
    return record.mechanism_class.repeatable and not record.is_exact


def _has_ready_made_keys(record: Record) -> bool:
    """Return whether the record keys were a column of the data."""
    return bool((record.run or {}).get("key"))


def _predates_secret_check(record: Record) -> bool:
    """Return whether a record predates secret checks; a newer record without a check was made without a secret."""
    return record.secret_check is None and record.run is None


def _differs(record: Record, other: Record, name: str) -> bool:
    if name == "secret_check" and (_predates_secret_check(record) or _predates_secret_check(other)):
        return False
    return bool(getattr(record, name) != getattr(other, name))


def _same_data_warning(record: Record, release: Release) -> str | None:
    other = release.record
    # Another mechanism may have no keys: then the other fields are irrelevant.
    compared_by = (
        COMPARED_FIELDS if record.mechanism == other.mechanism else {"mechanism": COMPARED_FIELDS["mechanism"]}
    )
    differs = [words for name, words in compared_by.items() if _differs(record, other, name)]
    if not differs and _is_repeatable(record):
        return None
    if differs == [COMPARED_FIELDS["perturb_zeros"]]:
        return (
            f"{_name(release)} was made from the same data with another rule for empty cells. Their difference reveals "
            "which cells are empty. Publish only one of them."
        )
    if differs == [COMPARED_FIELDS["labelled_total"]]:
        return (
            f"{_name(release)} was made from the same data by a version of discreet in which the noise of the grand "
            "total did not depend on the version label. An attacker who has both can average two noise terms of the "
            "grand total. Publish only one of them, or repeat the earlier one (--again)."
        )
    how = (
        f"another {', another '.join(differs)}"
        if differs
        else f"the mechanism {record.mechanism}, which draws new noise in every run"
    )
    same_keys = _same_keys(record, other) and record.key_mode == other.key_mode
    joint = joint_variance(record.noise.large, other.noise.large, same_keys=same_keys)
    least = min(record.variance, other.variance)
    return (
        f"{_name(release)} was made from the same data with {how}. An attacker who has both can average the two "
        f"noise terms of a count: variance {joint:.2f} instead of {least:.2f}.{_joint_budget(record, other)} Publish "
        f"only one of them{', or repeat the earlier one (--again)' if _is_repeatable(other) else ''}."
    )


def _joint_budget(record: Record, other: Record) -> str:
    """Return a sentence with the sum of two privacy budgets; empty if a release has none."""
    if not (record.privacy and other.privacy):
        return ""
    return f" Together they spend epsilon {record.privacy['epsilon'] + other.privacy['epsilon']:g}."


def _possibly_same_data_warning(record: Record, release: Release) -> str:
    other = release.record
    if None not in (record.secret_check, other.secret_check):
        how = "with another secret"
    else:
        how = "without a secret" if other.secret_check is None else "with a secret, unlike this release"
    same_keys = _same_keys(record, other) and record.key_mode == other.key_mode
    joint = joint_variance(record.noise.large, other.noise.large, same_keys=same_keys)
    records = "Its number of records is unknown" if other.records is None else "It has the same number of records"
    return (
        f"{_name(release)} was made {how}, so it is unknown whether it counts the same persons. {records}. If "
        "it does, an attacker who has both can average the two noise terms of a count: variance "
        f"{joint:.2f} instead of {min(record.variance, other.variance):.2f}.{_joint_budget(record, other)} In that "
        "case, publish only one of them."
    )


def _same_noise_settings(record: Record, other: Record) -> bool:
    """Return whether two releases have the same noise for the same keys."""
    return all(getattr(record, name) == getattr(other, name) for name in (*COMPARED_FIELDS, "non_negative"))


def _changed_data_warning(record: Record, release: Release, found: TableDifferences) -> str:
    share = found.differ / found.cells if found.cells else 0.0
    part = "" if found.whole else f" in the first {found.tables:,} tables"
    keys = "ready-made keys" if _has_ready_made_keys(record) else "secret and version label"
    todo = "new record keys" if _has_ready_made_keys(record) else "another --version-label"
    why, so = SAME_NOISE if _same_noise_settings(record, release.record) else DEPENDENT_NOISE
    return (
        f"{_name(release)} was made from other data with the same {keys}. {why} "
        f"Of {found.cells:,} published cells{part}, {found.differ:,} ({share:.2%}) differ. {so} "
        f"Use {todo} for the new data, unless these changes may be disclosed."
    )


def _name(release: Release) -> str:
    return _printable(release.path.name) if release.path else "A release in memory"


def _printable(name: str) -> str:
    """Return the name of a folder with control characters escaped."""
    return name if name.isprintable() else ascii(name)


def compare_tables(release: Release, tables: Callable[[str], pa.Table | None]) -> TableDifferences:
    """Compare the published tables of two releases, and return the number of different cells."""
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
        except Exception:  # noqa: BLE001 - the table may be damaged or malicious
            unread += 1
            continue
        cells, differ, done = cells + both, differ + changed, done + 1
    return TableDifferences(cells, differ, done, whole=True, unread=unread)


def _read(release: Release, name: str) -> pa.Table:
    """Return a table of an earlier release, unless it is too large."""
    if release.size_of(name) > MOST_BYTES:
        raise ReleaseError.at(release.path or Path(), f"has a large table {name}", "Compare it manually.")
    return release.table(name, most_rows=MOST_ROWS)


def _table_compared(old: pa.Table, new: pa.Table) -> tuple[int, int]:
    """Return the number of cells that are in at least one of the tables, and the number of these that differ."""
    import pyarrow.compute as pc

    codes, counts = _columns(old)
    first, second = (_as_text(table, codes) for table in (old, new))
    joined = first.join(second, keys=codes, join_type="full outer", right_suffix=" new", use_threads=False)
    values = [pc.fill_null(joined.column(name), 0) for name in (counts, f"{counts} new")]
    return joined.num_rows, int(pc.sum(pc.not_equal(*values)).as_py() or 0)


def _columns(table: pa.Table) -> tuple[list[str], str]:
    return code_columns(table.column_names), _counts(table)


def _counts(table: pa.Table) -> str:
    """Return the name of the column of counts: the weighted counts if there are no others."""
    return VALUE if VALUE in table.column_names else WEIGHTED


def _as_text(table: pa.Table, codes: list[str]) -> pa.Table:
    """Return codes as text, and values; dictionary indices of codes may differ between files."""
    import pyarrow as pa

    counts = _counts(table)
    return pa.table({**{name: table[name].cast(pa.string()) for name in codes}, counts: table[counts]})
