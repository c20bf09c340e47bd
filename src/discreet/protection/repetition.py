"""Repeat a release from its record, and verify one.

A run made again from the record of a release: the same programme, the same noise, the same bytes.

Whether a release is as it was published: its files, its description and, given the data, the numbers themselves.

The description is compared entry by entry with the one that the record gives, and by the digest that the record has of
it, so that a forged release.json is found without the data, too.
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
    """Make a release again from its record.

    Args:
        curator: the curator's folder of a release, or its record.json.
        data: where the data are now; where they were if left out. Other data are refused.
        secret: the office's secret, which no record holds.
        out: the folder to make; without it the release is kept in memory.
        keep_exact: whether to keep true counts for the curator; as then if left out.
        replace: whether an existing release may be replaced.
        resume: whether to go on from the tables that a killed run of the same kind left finished.
        lock_timeout: seconds to wait for another run at work in the same folder.
        progress: called with stage, done and total.
        engine: where to count.
    """
    path = Path(curator)
    place = path / RECORD if path.is_dir() else path
    if path.is_dir() and not place.exists():
        # The public folder is meant as well: the record lies beside it.
        place = curator_folder(path) / RECORD
    record = read_record(place)
    run = _run_of(record, place)
    found = data if data is not None else run.get("data")
    if found is None:
        raise RecordFileError.at(
            place, "does not say where the data were: they came from a program.", "Name them: discreet protect DATA."
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
        fingerprint=record.data_fingerprint or "",
        missing=record.missing or "error",
        non_negative=record.non_negative,
        replace=replace,
        resume=resume,
        # It was published once with consent, or before that was asked for.
        allow_disclosure=True,
        lock_timeout=lock_timeout,
        progress=progress,
        engine=engine,
    )


def mechanism_of(record: Record, secret: bytes | None) -> Mechanism:
    """Return the mechanism that a record tells of, or refuse another secret than the one it was made with."""
    if not record.mechanism_class.repeatable:
        spent = " and spend its epsilon again" if record.privacy else ""
        raise ParameterError(
            f"The mechanism {record.mechanism} draws new noise in every run, so that its release cannot be made again: "
            f"a second one would let users weigh the two against each other{spent}. Keep a copy of the first; run "
            "protect anew if a second is meant.",
            parameter="again",
        )
    if record.secret_check is not None:
        if secret is None:
            raise SecretError(
                "The secret is missing: give --secret-file or set DISCREET_SECRET, the one that this release was "
                "made with."
            )
        secret = _matching(secret, record.secret_check)
    return record.mechanism_class.from_record(record, secret)


def _matching(secret: bytes, check: str) -> bytes:
    """Return the secret in the form in which it made a release, or refuse another one.

    Some releases were made with the bytes of a secret's file, the line end among them.
    """
    forms = (secret, SecretAsGiven(secret), SecretAsGiven(bare_secret(secret) + b"\n"))
    found = next((form for form in forms if secret_check(form) == check), None)
    if found is None:
        raise SecretError(
            "This is not the secret that the release was made with. Give that one: another makes other noise."
        )
    return found


def _run_of(record: Record, path: Path) -> dict[str, Any]:
    """Return how the data were read, or refuse a record that does not tell, or tells it wrongly."""
    run = record.run
    if not run:
        raise RecordFileError.at(
            path, "does not tell how its data were read, so that the run cannot be made again.", "Run protect anew."
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
        raise RecordFileError.at(path, f"has a run without a usable {wrong}.", "Take it from a copy.")
    return run


MOST_NAMED = 5
"""Files that a message names."""
LONGEST_SHOWN = 60
"""Signs of the name of an entry that a message shows."""
SENTENCES = frozenset({"absent", "columns", "readme", "noise.totals", "noise.zeros", "noise.negative"})
"""Entries that are sentences: earlier versions have other words for the same."""
TOLD_LATER = frozenset(
    {"noise.mean_noise", "noise.smallest_published", "noise.zeros", "noise.negative", "escaped", "counts", "readme"}
)
"""Entries that earlier versions did not have."""


@dataclass(frozen=True, repr=False)
class Verification(ResultSet):
    """What was looked at and found in order.

    Attributes:
        release: the folder.
        files: files whose digest is the one published.
        described: whether release.json is as the record gives it; None if there is no record.
        repeated: whether the same bytes came out of the data; None if that was not asked for, or cannot be.
        sentence: what that means.
    """

    release: Path
    files: int
    described: bool | None
    repeated: bool | None
    sentence: str
    warnings: ClassVar[tuple[str, ...]] = ()

    @property
    def title(self) -> str:
        """Return the folder and what was found."""
        return f"{self.release}: {self.sentence}"

    @property
    def results(self) -> tuple[Result, ...]:
        """Return how many files are in order."""
        assumed = (
            "the record.json beside it is the one that was written with it"
            if self.described
            else "the release.json itself is the one published: keep its digest elsewhere"
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
        """Return what `--json` prints beside settings, results and warnings."""
        return {"release": str(self.release), "described": self.described, "repeated": self.repeated}


def verify(
    folder: Path | str,
    *,
    data: object = None,
    secret: bytes | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check a release; whatever is not in order is refused, with the files concerned.

    Args:
        folder: the folder of the release.
        data: the data it was made from; then it is made again, from the record beside it, and compared byte by byte.
        secret: the office's secret.
        progress: called with stage, done and total.
    """
    release = open_release(folder)
    record = release.record_beside if release.has_record or data is not None else None
    wrong = [*_wrong_files(release), *(_wrong_entries(release, record) if record else ())]
    if wrong:
        more = f" and {len(wrong) - MOST_NAMED:,} more" if len(wrong) > MOST_NAMED else ""
        what = f"is not as it was published: it has {'; '.join(wrong[:MOST_NAMED])}{more}"
        raise ReleaseError.at(_place(release), what, "Take these files from a copy, or make the release again.")
    files, described = len(release.files), record is not None or None
    found = f"Every file matches {RELEASE} ({files:,} files)"
    if record is None:
        rest = f". Without its record it is not known whether {RELEASE} is the one that was published."
        return Verification(Path(folder), files, described, None, found + rest)
    found += f", and {RELEASE} matches its record"
    older = "" if record.release_digest else f" The record has no digest of {RELEASE}: its sentences were not compared."
    if data is None:
        return Verification(Path(folder), files, described, None, f"{found}.{older}")
    if not record.mechanism_class.repeatable:
        why = f"the mechanism {record.mechanism} draws new noise in every run, as it must"
        return Verification(Path(folder), files, described, None, f"{found}. It cannot be made again: {why}.{older}")
    _check_repeats(release, data, secret, progress)
    sentence = f"{found}, and the data give the same bytes again.{older}"
    return Verification(Path(folder), files, described, repeated=True, sentence=sentence)


def _wrong_files(release: Release) -> Iterator[str]:
    """Give the files that are missing, were changed, or do not belong to the release."""
    for name, file in release.files.items():
        try:
            table = release.table(name)
        except ReleaseError as error:
            yield error.what.removeprefix("has ")
            continue
        size = (_place(release) / file).stat().st_size
        for found, said, what in (
            (table.num_rows, release.rows_of(name), "rows"),
            (size, release.size_of(name), "bytes"),
        ):
            if found != said:
                yield f"a file {file} with another number of {what} than {RELEASE} says"
    if digest := release.description.get("readme"):
        page = _place(release) / README
        if not page.is_file():
            yield f"no file {README}"
        elif hashlib.sha256(read_bounded(page)).hexdigest() != digest:
            yield f"a file {README} that is damaged or was changed"
    yield from (f"a file {file} that is not part of it" for file in _strangers(release))


def _strangers(release: Release) -> list[str]:
    """Return all that lies in the folder of a release and is not part of it, hidden files too."""
    folder = _place(release)
    known = {RELEASE, *release.files.values(), *([README] if "readme" in release.description else [])}
    found = (
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    )
    return sorted(name for name in found if name not in known)


def _wrong_entries(release: Release, record: Record) -> Iterator[str]:
    """Give what release.json says otherwise than its record."""
    is_same = None
    if record.release_digest:
        content = read_bounded(_place(release) / RELEASE, MAX_RELEASE_BYTES)
        is_same = hashlib.sha256(content).hexdigest() == record.release_digest
    if is_same and record.made_by != f"discreet {version('discreet')}":
        # Another version has other words for the same.
        return
    try:
        differ = [
            f"{path} {how}"
            for path, how in _differences(release.description, _rebuilt(release, record))
            if not _is_older(path, how, release, record)
        ]
    except (KeyError, TypeError, AttributeError):
        yield f"beside it a {RECORD} without the definition of its programme"
        return
    yield from (f"a {RELEASE} in which {each}" for each in differ)
    if is_same is False and not differ:
        yield f"a {RELEASE} that is not the one its record was written with"


def _rebuilt(release: Release, record: Record) -> dict[str, Any]:
    """Return the description that a record gives, with the files that were compared already."""
    definition, form = record.definition or {}, (record.run or {}).get("form", release.description["format"])
    files = [
        TableFile(name, release.files[name], release.rows_of(name), release.size_of(name), release.digests[name])
        if name in release.files
        else TableFile(name, "", 0, 0, "")
        for name in (table["id"] for table in definition["tables"])
    ]
    made: dict[str, Any] = json.loads(json.dumps(describe(record, files, form, record.published())))
    return made


def _differences(told: object, made: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Give the path of every entry that is not as it should be, and how it differs."""
    if isinstance(told, dict) and isinstance(made, dict):
        for name in {**made, **told}:
            inner = f"{path}.{_shown(name)}" if path else _shown(name)
            if name not in told:
                yield inner, "is missing"
            elif name not in made:
                yield inner, "was added"
            else:
                yield from _differences(told[name], made[name], inner)
    elif path == "files" and isinstance(told, list) and isinstance(made, list):
        first, second = ({entry["id"]: entry for entry in entries} for entries in (told, made))
        yield from _differences(first, second, path)
        if first.keys() == second.keys() and list(first) != list(second):
            yield path, "are in another order"
    elif isinstance(told, list) and isinstance(made, list) and len(told) == len(made):
        for number, (one, other) in enumerate(zip(told, made, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif type(told) is not type(made) or told != made:
        yield path, "was changed"


def _shown(name: str) -> str:
    """Return the name of an entry, which anybody may have written."""
    shown = name if name.isprintable() else ascii(name)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."


def _is_older(path: str, how: str, release: Release, record: Record) -> bool:
    """Say whether an earlier version may have written an entry so from the same record; a digest finds the rest."""
    if path == "noise.bound":
        earlier = record.earlier_bound
        return earlier is not None and release.description["noise"].get("bound") == earlier
    if path == "schema":
        return not release.has_levels
    if how == "was changed":
        # Rounding and noise that is not centred were once told as any other.
        other = {"noise.method", "noise.typical_noise"} if record.is_deterministic or record.mean else set()
        return path in SENTENCES | other
    return how == "is missing" and path in TOLD_LATER


def _check_repeats(release: Release, data: object, secret: bytes | None, progress: Progress | None) -> None:
    place = _place(release)
    # Whatever there was to warn of was said when the release was made.
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
        what = f"is not what the data give today: {len(differ):,} of {len(was):,} tables differ ({named})"
        raise ReleaseError.at(place, what, f"It was made by {release.record_beside.made_by}; compare the versions.")
    record = release.record_beside
    # The programme was compared with that of the record; another version may write the same one otherwise.
    left = [
        f"{path} {how}"
        for path, how in entries
        if not path.startswith("programme") and not _is_older(path, how, release, record)
    ]
    if left:
        what = f"has a {RELEASE} in which {left[0]}: the data give another"
        raise ReleaseError.at(place, what, "Take it from a copy, or make the release again.")


def _as_earlier(release: Release, earlier: Release, folder: Path) -> Release:
    """Return a release in memory as earlier versions wrote its tables: without levels, or with formulas in CSV."""
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
    assert release.path is not None  # noqa: S101 - it was opened from a folder
    return release.path
