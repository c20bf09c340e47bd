"""A release: its public description, its tables and, for its curator, the record next to it.

Opening a release checks its description; errors name the entry that is missing or wrong.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from discreet.errors import ProgrammeError, RecordFileError, ReleaseError, UnknownNameError, UnreadableFileError
from discreet.limits import MAX_JSON_BYTES, MAX_RELEASE_BYTES, read_bounded, read_bounded_json
from discreet.programme.model import VALUE, WEIGHTED
from discreet.programme.programme_json import programme_from_json
from discreet.release.disclosed_noise import typical_change
from discreet.release.noise_record import FIXED_CHANGE, ROUNDING
from discreet.release.readme import readme
from discreet.release.record import Record, record_from_json
from discreet.release.release_folder import EXACT, RECORD, RELEASE, TABLES, curator_folder, recover
from discreet.release.table_files import TableFile, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from discreet.programme.model import Programme

    Kind = type | tuple[type, ...]

KIND = "release"
SCHEMAS = ("discreet/1", "discreet/2")
"""Versions of the form of a release; since the second tables have columns of levels, and a README.md explains them."""
ENTRIES: dict[str, type] = {"name": str, "noise": dict, "format": str, "files": list, "programme": dict}
FILE_ENTRIES: dict[str, type] = {"id": str, "file": str, "rows": int, "bytes": int, "sha256": str}
NOISE_ENTRIES: dict[str, Kind] = {
    "method": str,
    "typical_noise": (int, float),
    "mean_noise": (int, float),
    "bound": str,
    "smallest_published": int,
    "privacy": dict,
}
"""What may be told of the noise, and is read again."""
PRIVACY_ENTRIES: dict[str, Kind] = {"epsilon": (int, float), "delta": (int, float), "condition": str}
WORDS = {str: "text", dict: "an object", list: "a list", int: "a whole number", (int, float): "a number"}
AGAIN = "Make the release again."


def read_description(folder: Path, most: int = MAX_JSON_BYTES) -> dict[str, Any]:
    """Return the content of the release.json of a folder; refuse one with more bytes than `most`."""
    try:
        content = read_bounded_json(folder / RELEASE, most)
    except (FileNotFoundError, NotADirectoryError) as error:
        todo = f"Give the folder of a release ({TABLES}/, {RELEASE})."
        raise ReleaseError.at(folder, f"holds no {RELEASE}", todo) from error
    except OSError as error:
        what = f"has a {RELEASE} that cannot be read ({error.strerror})"
        raise ReleaseError.at(folder, what, "Check the path and its permissions.") from error
    except UnreadableFileError as error:
        raise ReleaseError.at(folder, f"has a {RELEASE} that {error.what}", AGAIN) from error
    if not isinstance(content, dict) or content.get("schema") not in SCHEMAS or content.get("kind") != KIND:
        raise ReleaseError.at(folder, f"has a {RELEASE} of another kind than {' or '.join(SCHEMAS)}", AGAIN)
    _check_entries(folder, content, ENTRIES, "")
    if content["schema"] != SCHEMAS[0] and content.get("counts") not in ([VALUE], [WEIGHTED], [VALUE, WEIGHTED]):
        raise _wrong(folder, f"counts is not a list of {VALUE} and {WEIGHTED}")
    if not isinstance(content.get("readme", ""), str):
        raise _wrong(folder, f"readme is not {WORDS[str]}")
    _check_noise(folder, content["noise"])
    _check_files(folder, content["files"])
    return content


def _check_noise(folder: Path, told: dict[str, Any]) -> None:
    _check_entries(folder, told, {name: kind for name, kind in NOISE_ENTRIES.items() if name in told}, "noise.")
    if "privacy" in told:
        _check_entries(folder, told["privacy"], PRIVACY_ENTRIES, "noise.privacy.")
    for name, least in (("typical_noise", 0), ("smallest_published", 1)):
        if not least <= told.get(name, least) < math.inf:
            raise _wrong(folder, f"noise.{name} is less than {least} or endless")
    if not math.isfinite(told.get("mean_noise", 0)):
        raise _wrong(folder, "noise.mean_noise is not finite")


def _check_files(folder: Path, entries: list[Any]) -> None:
    seen = set()
    for number, entry in enumerate(entries):
        _check_file(folder, entry, f"files[{number}]")
        if entry["id"] in seen:
            raise _wrong(folder, f"files[{number}].id is there twice")
        seen.add(entry["id"])


def _check_file(folder: Path, entry: object, where: str) -> None:
    if not isinstance(entry, dict):
        raise _wrong(folder, f"{where} is not {WORDS[dict]}")
    _check_entries(folder, entry, FILE_ENTRIES, f"{where}.")
    # A description may come from elsewhere; it must not lead out of its folder.
    path = PurePosixPath(entry["file"])
    if path.is_absolute() or ".." in path.parts:
        raise _wrong(folder, f"{where}.file is not in the release")


def _check_entries(folder: Path, content: dict[str, Any], wanted: Mapping[str, Kind], where: str) -> None:
    for name, kind in wanted.items():
        if name not in content:
            raise _wrong(folder, f"{where}{name} is missing")
        # In Python true and false are whole numbers too.
        if not isinstance(content[name], kind) or isinstance(content[name], bool):
            raise _wrong(folder, f"{where}{name} is not {WORDS[kind]}")


def _wrong(folder: Path, what: str) -> ReleaseError:
    return ReleaseError.at(folder, f"has a {RELEASE} in which {what}", AGAIN)


CURATOR_ALONE = "Only the curator who made a release can assess it."
COLUMNS = (
    "One per variable with the code of a category, _T for the total, and after it NAME_level where it has several "
    "levels; then value, and weighted where there are weights; or weighted alone."
)
ABSENT = "A cell of the programme that has no row is a published 0."


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """What a run read and made, for whoever ran it; the number of records is the curator's to know.

    Attributes:
        records: records counted.
        dropped: records left out because a value is missing.
        margins: rows of tabulated data that were left out because they are sums of others.
        topics: topics used.
        statistics: different statistics, each computed once.
        cells: the cells of these statistics, empty ones too.
        seconds: time per stage; counting, noise and writing run side by side.
        resumed: tables that an earlier run, which was killed, had finished.
        warnings: what whoever ran it should know before it is published.
    """

    records: int
    dropped: int
    topics: int
    statistics: int
    cells: int
    seconds: dict[str, float]
    resumed: int = 0
    margins: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Release:
    """Published tables, in a folder or in memory.

    Attributes:
        path: the folder, None in memory.
        description: what its release.json says.
        summary: of the run that made it, where that is this one.
        held: the tables of a release in memory.
        held_exact: their true counts, where they were kept.
        own_record: the record of a release in memory, or of one that this run made.
    """

    path: Path | None
    description: dict[str, Any]
    summary: RunSummary | None = None
    held: Mapping[str, pa.Table] | None = field(default=None, repr=False)
    held_exact: Mapping[str, pa.Table] | None = field(default=None, repr=False)
    own_record: Record | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Release({self.description.get('name')!r}, {len(self.files)} tables, path={str(self.path)!r})"

    @cached_property
    def programme(self) -> Programme:
        """Return the programme as it was published."""
        try:
            return programme_from_json(self.description["programme"])
        except ProgrammeError as error:
            what = f"has a {RELEASE} whose programme is wrong: {str(error).removesuffix('.')}"
            raise ReleaseError.at(self.place, what, AGAIN) from error

    @property
    def files(self) -> dict[str, str]:
        """Return the file of every table, by id."""
        return {name: entry["file"] for name, entry in self._entries.items()}

    @property
    def digests(self) -> dict[str, str]:
        """Return the digest of the file of every table, by id."""
        return {name: entry["sha256"] for name, entry in self._entries.items()}

    def size_of(self, name: str) -> int:
        """Return how many bytes the file of a table is said to have."""
        return int(self._entries[name]["bytes"])

    def rows_of(self, name: str) -> int:
        """Return how many rows the file of a table is said to have."""
        return int(self._entries[name]["rows"])

    @property
    def _entries(self) -> dict[str, dict[str, Any]]:
        return {entry["id"]: entry for entry in self.description["files"]}

    @property
    def has_levels(self) -> bool:
        """Say whether tables have columns of levels, and a README.md explains them."""
        return bool(self.description["schema"] != SCHEMAS[0])

    @property
    def is_escaped(self) -> bool:
        """Say whether an apostrophe precedes formulas in CSV; in releases of earlier versions none does."""
        return self.description["format"] != "csv" or self.description.get("escaped") is True

    @property
    def place(self) -> Path:
        """Return the folder, or words for a release in memory."""
        return self.path or Path("This release in memory")

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the tables."""
        return tuple(self.files) if self.held is None else tuple(self.held)

    def table(self, name: str, *, most_rows: int | None = None) -> pa.Table:
        """Return one table: a column per breakdown, and `value`; refuse a file that is not the one published.

        Args:
            name: its id.
            most_rows: a table with more rows is refused too; any if left out.
        """
        self._check_known(name)
        if self.path is None:
            return (self.held or {})[name]
        entry = self._entries[name]
        return self._read(self.path / entry["file"], entry["file"], entry["sha256"], entry["bytes"], most_rows)

    def exact(self, name: str) -> pa.Table:
        """Return the true counts of one table, where they were kept; they are the curator's alone."""
        self._check_known(name)
        if name in (self.held_exact or {}):
            return (self.held_exact or {})[name]
        path = curator_folder(self.path) / EXACT / Path(self.files[name]).name if self.path else None
        if path is None or not os.path.lexists(path):
            what = f"has no true counts of table {name} beside it"
            raise ReleaseError.at(self.place, what, "Make it with --keep-exact to have them.")
        return self._read(path, f"{path.parent.parent.name}/{EXACT}/{path.name}", None)

    def _check_known(self, name: str) -> None:
        if name not in self.ids:
            raise UnknownNameError.among("table of the release", name, self.ids)

    def _read(
        self, path: Path, called: str, sha256: str | None, size: int | None = None, most_rows: int | None = None
    ) -> pa.Table:
        try:
            return read_table(path, sha256, size=size, most_rows=most_rows, escaped=self.is_escaped)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ReleaseError.at(self.place, f"has no file {called}", AGAIN) from error
        except OSError as error:
            what = f"has a file {called} that cannot be read ({error.strerror})"
            raise ReleaseError.at(self.place, what, "Check its permissions.") from error
        except (ValueError, UnreadableFileError) as error:
            what = f"has a file {called} that is damaged or was changed"
            raise ReleaseError.at(self.place, what, "Take it from a copy, or make the release again.") from error

    @property
    def has_record(self) -> bool:
        """Say whether the curator's record is at hand."""
        return self.own_record is not None or (
            self.path is not None and os.path.lexists(curator_folder(self.path) / RECORD)
        )

    @property
    def record(self) -> Record:
        """Return the curator's record of how the noise was made; refuse that of another release."""
        found = self.record_beside
        if self.path is not None and not self._record_fits:
            what = f"and the {curator_folder(self.path).name}/{RECORD} beside it belong to different releases"
            raise ReleaseError.at(self.path, what, "Put the folder of its own curator beside it.")
        return found

    @cached_property
    def _record_fits(self) -> bool:
        return self._fits(self.record_beside)

    @cached_property
    def record_beside(self) -> Record:
        """Return the record that lies beside the release, whether or not it is of this one."""
        if self.own_record or self.path is None:
            return cast("Record", self.own_record)
        path = curator_folder(self.path) / RECORD
        called = f"{path.parent.name}/{RECORD}"
        try:
            return record_from_json(read_bounded(path, MAX_RELEASE_BYTES), path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ReleaseError.at(self.path, f"has no {called} beside it", CURATOR_ALONE) from error
        except OSError as error:
            what = f"has beside it a {called} that cannot be read ({error.strerror})"
            raise ReleaseError.at(self.path, what, CURATOR_ALONE) from error
        except UnreadableFileError as error:
            raise RecordFileError.at(path, f"{error.what}.", "Give a record.json.") from error

    def _fits(self, record: Record) -> bool:
        """Say whether a record is of this release: its programme is the one published, its noise as large as told."""
        try:
            if record.definition is not None and _public(record.definition) != self.description["programme"]:
                return False
        except (KeyError, TypeError, AttributeError):
            # A definition that is none.
            return False
        told, noise = self.description["noise"].get("typical_noise"), record.public()
        made = noise.get("typical_noise")
        if told is None or made is None:
            return bool(told == made)
        # Both are rounded to one decimal. Earlier descriptions told the mean and the spread as one number.
        together = math.hypot(made, noise.get("mean_noise", 0.0))
        return any(math.isclose(told, each, abs_tol=0.11) for each in (made, together))

    def __str__(self) -> str:
        noise = self.description["noise"]
        how = {ROUNDING: "are rounded", FIXED_CHANGE: "are changed in a fixed way"}.get(
            str(noise.get("method")), "carry random noise"
        )
        typical = f"; counts {how}, typically ±{typical_change(noise):.1f}" if "typical_noise" in noise else ""
        name = self.path.name if self.path else "in memory"
        return f"{name}: {len(self.ids)} tables of {self.description['name']}{typical}."


def describe(record: Record, files: Sequence[TableFile], form: str, published: Programme) -> dict[str, Any]:
    """Return what a data user needs: the noise as far as it is disclosed, the meaning of absent rows, and the files.

    Args:
        record: how the noise was made.
        files: the tables.
        form: their format.
        published: the programme.
    """
    programme, run = record.definition or {}, record.run or {}
    weighted = [WEIGHTED] if run.get("weight") else []
    found: dict[str, Any] = {
        "schema": SCHEMAS[-1],
        "kind": KIND,
        "name": programme["name"],
        "noise": record.public(),
        "absent": ABSENT,
        "format": form,
        **({"escaped": True} if form == "csv" else {}),
        "columns": COLUMNS,
        "counts": weighted if run.get("weighted_only") else [VALUE, *weighted],
        "files": [file.to_json() for file in files],
    }
    if files:
        found["readme"] = hashlib.sha256(readme(found, published).encode()).hexdigest()
    return {**found, "programme": _public(programme)}


def _public(programme: dict[str, Any]) -> dict[str, Any]:
    """Return a programme without the names of columns: how the office calls them is nobody else's business."""
    return {**programme, "topics": [_without(topic, "column") for topic in programme["topics"]]}


def _without(entry: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != name}


def open_release(path: Path | str) -> Release:
    """Return the release in a folder, or refuse what is none."""
    path = Path(path)
    recover(path)
    return Release(path, read_description(path, MAX_RELEASE_BYTES))
