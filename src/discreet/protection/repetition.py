"""Repeat a release from its record, and verify a release.

Repeating a release uses the same programme and the same noise, and produces the same bytes.

Verifying a release checks its files, its description and, given the data, the numbers themselves. The description is
compared entry by entry with the one derived from the record, and with the digest in the record. A forged release.json
is therefore detected without the data.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.engines.spill_folder import SpillFolder
from discreet.errors import ParameterError, RecordFileError, ReleaseError, ReleaseWarning, SecretError
from discreet.limits import MAX_RELEASE_BYTES, read_bounded
from discreet.noise.key_lookup import SecretAsGiven, bare_secret
from discreet.programme.model import VALUE, WEIGHTED, code_columns
from discreet.programme.programme_json import programme_from_json
from discreet.protection.pipeline import protect
from discreet.records.secret import secret_check
from discreet.release.record import Record, read_record
from discreet.release.release import Release, describe, open_release
from discreet.release.release_folder import README, RECORD, RELEASE, TABLES, curator_folder
from discreet.release.run_journal import LOCK_TIMEOUT
from discreet.release.table_files import FORMATS, TableFile, write_table
from discreet.results import Result, ResultSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.progress import Progress
    from discreet.release.record import Record

COLUMNS = ("id", "key", "count", "weight")
FLAGS = ("tabulated", "keep_exact")


def repeat(
    curator: Path | str,
    *,
    data: object = None,
    secret: bytes | None = None,
    out: Path | str | None = None,
    keep_exact: bool | None = None,
    replace: bool = False,
    resume: bool = False,
    lock_timeout: float = LOCK_TIMEOUT,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Release:
    """Repeat a release from its record.

    Args:
        curator: the curator's folder of a release, or its record.json.
        data: the current location of the data; by default the location in the record. Other data are refused.
        secret: the office's secret, which the record does not contain.
        out: the folder to write; without it the release is kept in memory.
        keep_exact: whether to store the true counts for the curator; by default as in the original run.
        replace: whether an existing release may be replaced.
        resume: whether to reuse the finished tables of an interrupted run with the same settings.
        lock_timeout: the time in seconds to wait for another run in the same folder.
        progress: a function that is called with stage, done and total.
        engine: the engine that counts.
    """
    path = Path(curator)
    place = path / RECORD if path.is_dir() else path
    if path.is_dir() and not place.exists():
        # The path may be the public folder: its record is in the curator's folder next to it.
        place = curator_folder(path) / RECORD
    record = read_record(place)
    run = _run_of(record, place)
    found = data if data is not None else run.get("data")
    if found is None:
        raise RecordFileError.at(
            place,
            "does not contain the location of the data, because they were passed in memory.",
            "Specify them: discreet protect DATA.",
        )
    return protect(
        found,
        programme_from_json(run["definition"] or record.definition or {}),
        mechanism_of(record, secret),
        out=out,
        **{name: run[name] for name in (*COLUMNS, "tabulated", "form")},
        encoding=run.get("encoding"),
        weighted_only=run.get("weighted_only", False),
        keep_exact=run["keep_exact"] if keep_exact is None else keep_exact,
        targets=record.targets,
        fingerprint=record.data_fingerprint or "",
        missing=record.missing or "error",
        non_negative=record.non_negative,
        replace=replace,
        resume=resume,
        # The first run allowed disclosure, or predates this check.
        allow_disclosure=True,
        lock_timeout=lock_timeout,
        progress=progress,
        engine=engine,
    )


def mechanism_of(record: Record, secret: bytes | None) -> Mechanism:
    """Return the mechanism of a record, or refuse a secret other than the one of the release."""
    if not record.mechanism_class.repeatable:
        spent = " and spend its epsilon again" if record.privacy else ""
        raise ParameterError(
            f"The mechanism {record.mechanism} draws new noise in every run, so its release cannot be repeated: "
            f"a second release would let an attacker average the two{spent}. Keep a copy of the first. To make a "
            "second release nevertheless, run protect without --again.",
            parameter="again",
        )
    if record.secret_check is not None:
        if secret is None:
            raise SecretError(
                "The secret of this release is missing. Specify it with --secret-file, or set DISCREET_SECRET."
            )
        secret = _matching(secret, record.secret_check)
    return record.mechanism_class.from_record(record, secret)


def _matching(secret: bytes, check: str) -> bytes:
    """Return the secret in the form that was used for a release, or refuse another secret.

    Some releases were made with all bytes of the secret file, including the line end.
    """
    forms = (secret, SecretAsGiven(secret), SecretAsGiven(bare_secret(secret) + b"\n"))
    found = next((form for form in forms if secret_check(form) == check), None)
    if found is None:
        raise SecretError(
            "This is not the secret of the release. Specify the original secret: another secret draws other noise."
        )
    return found


def _run_of(record: Record, path: Path) -> dict[str, Any]:
    """Return the settings for reading the data, or refuse a record without valid settings."""
    run = record.run
    if not run:
        raise RecordFileError.at(
            path,
            "does not contain the settings for reading the data, so the run cannot be repeated.",
            "Make a new release (discreet protect).",
        )
    right = {
        "data": isinstance(run.get("data", ()), list | None),
        "definition": isinstance(run.get("definition", ()), dict | None),
        "form": run.get("form") in FORMATS,
        "encoding": isinstance(run.get("encoding"), str | None),
        "weighted_only": isinstance(run.get("weighted_only", False), bool),
        **{name: isinstance(run.get(name, ()), str | None) for name in COLUMNS},
        **{name: isinstance(run.get(name), bool) for name in FLAGS},
    }
    wrong = next((name for name, holds in right.items() if not holds), None)
    if wrong:
        raise RecordFileError.at(path, f"has a run without a valid {wrong}.", "Restore it from a backup.")
    return run


MOST_NAMED = 5
"""Maximum number of files named in a message."""
LONGEST_SHOWN = 60
"""Maximum number of characters of the name of an entry in a message."""
SENTENCES = frozenset({"absent", "columns", "readme", "noise.totals", "noise.zeros", "noise.negative"})
"""Entries that are sentences: earlier versions of discreet word them differently."""
ADDED_LATER = frozenset(
    {"noise.mean_noise", "noise.smallest_published", "noise.zeros", "noise.negative", "escaped", "counts", "readme"}
)
"""Entries that earlier versions of discreet did not write."""


@dataclass(frozen=True, repr=False)
class Verification(ResultSet):
    """The result of a successful verification.

    Attributes:
        release: the folder of the release.
        files: the number of files that match their published digest.
        described: whether release.json matches the record; None without a record.
        repeated: whether the data produced the same bytes again; None if this was not requested, or is impossible.
        sentence: the result in words.
    """

    release: Path
    files: int
    described: bool | None
    repeated: bool | None
    sentence: str
    warnings: ClassVar[tuple[str, ...]] = ()

    @property
    def title(self) -> str:
        """Return the folder and the result."""
        return f"{self.release}: {self.sentence}"

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the number of verified files."""
        assumed = (
            "record.json in the curator's folder is the original one"
            if self.described
            else "release.json is the published one; to check this, keep its digest elsewhere"
        )
        return (
            Result(
                name="files",
                value=self.files,
                unit="files",
                sentence=self.sentence,
                assumptions=(assumed,),
                equation="files whose SHA-256 is that in release.json",
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the entries that `--json` prints in addition to settings, results and warnings."""
        return {"release": str(self.release), "described": self.described, "repeated": self.repeated}


def verify(
    folder: Path | str,
    *,
    data: object = None,
    secret: bytes | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Verify a release.

    Args:
        folder: the folder of the release.
        data: the data of the release; if given, the release is repeated from its record and compared byte by byte.
        secret: the office's secret.
        progress: a function that is called with stage, done and total.

    Raises:
        ReleaseError: if the release is not as published; the message names the files concerned.
    """
    release = open_release(folder)
    record = release.unchecked_record if release.has_record or data is not None else None
    wrong = [*_wrong_files(release), *(_wrong_entries(release, record) if record else ())]
    if wrong:
        more = f" and {len(wrong) - MOST_NAMED:,} more" if len(wrong) > MOST_NAMED else ""
        what = f"differs from the published release: it has {'; '.join(wrong[:MOST_NAMED])}{more}"
        raise ReleaseError.at(_place(release), what, "Restore these files from a backup, or repeat the release.")
    files, described = len(release.files), record is not None or None
    found = f"Every file matches {RELEASE} ({files:,} files)"
    if record is None:
        rest = f". The record is not available, so it is unknown whether {RELEASE} is the published one."
        return Verification(Path(folder), files, described, None, found + rest)
    found += f", and {RELEASE} matches its record"
    older = (
        "" if record.release_digest else f" The record has no digest of {RELEASE}, so its sentences were not compared."
    )
    if data is None:
        return Verification(Path(folder), files, described, None, f"{found}.{older}")
    if not record.mechanism_class.repeatable:
        why = f"the mechanism {record.mechanism} draws new noise in every run, as intended"
        return Verification(Path(folder), files, described, None, f"{found}. It cannot be repeated: {why}.{older}")
    _check_repeats(release, data, secret, progress)
    sentence = f"{found}, and repeating the release from the data gives the same bytes.{older}"
    return Verification(Path(folder), files, described, repeated=True, sentence=sentence)


def _wrong_files(release: Release) -> Iterator[str]:
    """Yield descriptions of files that are missing, were changed, or are not part of the release."""
    for name, file in release.files.items():
        try:
            table = release.table(name)
        except ReleaseError as error:
            yield error.what.removeprefix("has ")
            continue
        size = (_place(release) / file).stat().st_size
        for found, stated, what in (
            (table.num_rows, release.rows_of(name), "rows"),
            (size, release.size_of(name), "bytes"),
        ):
            if found != stated:
                yield f"a file {file} with another number of {what} than {RELEASE} states"
    if digest := release.description.get("readme"):
        page = _place(release) / README
        if not page.is_file():
            yield f"no file {README}"
        elif hashlib.sha256(read_bounded(page)).hexdigest() != digest:
            yield f"a file {README} that is damaged or was changed"
    yield from (f"a file {file} that is not part of it" for file in _unexpected_files(release))


def _unexpected_files(release: Release) -> list[str]:
    """Return the files in the folder of a release that are not part of it, including hidden files."""
    folder = _place(release)
    known = {RELEASE, *release.files.values(), *([README] if "readme" in release.description else [])}
    found = (
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    )
    return sorted(name for name in found if name not in known)


def _wrong_entries(release: Release, record: Record) -> Iterator[str]:
    """Yield descriptions of the entries of release.json that differ from the record."""
    is_same = None
    if record.release_digest:
        content = read_bounded(_place(release) / RELEASE, MAX_RELEASE_BYTES)
        is_same = hashlib.sha256(content).hexdigest() == record.release_digest
    if is_same and record.made_by != f"discreet {version('discreet')}":
        # Another version may word sentences differently.
        return
    try:
        differ = [
            f"{path} {how}"
            for path, how in _differences(release.description, _expected_description(release, record))
            if not _is_from_earlier_version(path, how, release, record)
        ]
    except (KeyError, TypeError, AttributeError):
        yield f"next to it a {RECORD} without the definition of its programme"
        return
    yield from (f"a {RELEASE} in which {each}" for each in differ)
    if is_same is False and not differ:
        yield f"a {RELEASE} that does not match the digest in its record"


def _expected_description(release: Release, record: Record) -> dict[str, Any]:
    """Return the description derived from a record, with the files as release.json states them."""
    definition, form = record.definition or {}, (record.run or {}).get("form", release.description["format"])
    files = [
        TableFile(name, release.files[name], release.rows_of(name), release.size_of(name), release.digests[name])
        if name in release.files
        else TableFile(name, "", 0, 0, "")
        for name in (table["id"] for table in definition["tables"])
    ]
    made: dict[str, Any] = json.loads(json.dumps(describe(record, files, form, record.published())))
    return made


def _differences(stated: object, made: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path of every entry that differs from the expected one, and the kind of difference."""
    if isinstance(stated, dict) and isinstance(made, dict):
        for name in {**made, **stated}:
            inner = f"{path}.{_shown(name)}" if path else _shown(name)
            if name not in stated:
                yield inner, "is missing"
            elif name not in made:
                yield inner, "was added"
            else:
                yield from _differences(stated[name], made[name], inner)
    elif path == "files" and isinstance(stated, list) and isinstance(made, list):
        first, second = ({entry["id"]: entry for entry in entries} for entries in (stated, made))
        yield from _differences(first, second, path)
        if first.keys() == second.keys() and list(first) != list(second):
            yield path, "are in another order"
    elif isinstance(stated, list) and isinstance(made, list) and len(stated) == len(made):
        for number, (one, other) in enumerate(zip(stated, made, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif type(stated) is not type(made) or stated != made:
        yield path, "was changed"


def _shown(name: str) -> str:
    """Return the name of an untrusted entry for display: escaped and shortened."""
    shown = name if name.isprintable() else ascii(name)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."


def _is_from_earlier_version(path: str, how: str, release: Release, record: Record) -> bool:
    """Return whether an earlier version of discreet may have written this entry from the same record.

    The digest of release.json detects the changes that this check accepts.
    """
    if path == "noise.bound":
        earlier = record.earlier_bound
        return earlier is not None and release.description["noise"].get("bound") == earlier
    if path == "schema":
        return not release.has_levels
    if how == "was changed":
        # Earlier versions described rounding and noise with a mean like any other noise.
        other = {"noise.method", "noise.typical_noise"} if record.is_deterministic or record.mean else set()
        return path in SENTENCES | other
    return how == "is missing" and path in ADDED_LATER


def _check_repeats(release: Release, data: object, secret: bytes | None, progress: Progress | None) -> None:
    place = _place(release)
    # The warnings were issued when the release was made.
    quietly = warnings.catch_warnings(action="ignore", category=ReleaseWarning)
    with SpillFolder() as temporary, quietly:
        out = Path(temporary.name) / TABLES
        is_current = release.is_escaped and release.has_levels
        again = repeat(
            curator_folder(place),
            data=data,
            secret=secret,
            out=out if is_current else None,
            keep_exact=False,
            progress=progress,
        )
        if not is_current:
            again = _as_earlier(again, release, out)
        was, now = release.digests, again.digests
        entries = list(_differences(release.description, json.loads(json.dumps(again.description))))
    differ = sorted(name for name in was if was[name] != now.get(name))
    if differ:
        named = ", ".join(differ[:MOST_NAMED]) + (" and more" if len(differ) > MOST_NAMED else "")
        what = f"differs from its repetition with the data: {len(differ):,} of {len(was):,} tables differ ({named})"
        raise ReleaseError.at(place, what, f"It was made by {release.unchecked_record.made_by}; compare the versions.")
    record = release.unchecked_record
    # The programme was already compared with the record; another version may write the same programme differently.
    left = [
        f"{path} {how}"
        for path, how in entries
        if not path.startswith("programme") and not _is_from_earlier_version(path, how, release, record)
    ]
    if left:
        what = f"has a {RELEASE} in which {left[0]}, compared with its repetition from the data"
        raise ReleaseError.at(place, what, "Restore it from a backup, or repeat the release.")


def _as_earlier(release: Release, earlier: Release, folder: Path) -> Release:
    """Return a release with its tables as earlier versions wrote them: without levels, or without escapes in CSV."""
    folder.mkdir()
    files, form = [], earlier.description["format"]
    for name, file in earlier.files.items():
        table = release.table(name)
        kept = [each for each in table.column_names if each in {*code_columns(table.column_names), VALUE, WEIGHTED}]
        table = table if earlier.has_levels else table.select(kept)
        files.append(write_table(name, table, folder, form, Path(file).stem, escaped=earlier.is_escaped).to_json())
    written: dict[str, Any] = {
        n: earlier.description[n] for n in ("format", "escaped", "readme") if n in earlier.description
    }
    return Release(folder.parent, {**release.description, **written, "files": files})


def _place(release: Release) -> Path:
    assert release.path is not None  # noqa: S101 - the release was opened from a folder
    return release.path
